"""The graph as ECharts draws it: nodes coloured by type, relations as arrows, on a canvas.

Keys that begin with a colon are JavaScript and hold constants of this file alone; what was said
is only ever a value. The tip is drawn on the canvas too, so that no name is ever read as markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from retrieval.console.graph.explored import SMOOTH_NODES, UNSEEN, Edge, Explored, Node

TYPES: tuple[str, ...] = ("person", "project", "organization", "tool", "place")
_LONGEST_NAME = 28
_LONGEST_TIP = 160


@dataclass(frozen=True, slots=True)
class _Density:
    """How nodes are drawn where there are at most `most`: small and close where there are many."""

    most: int
    repulsion: int
    edge: tuple[int, int]
    size: float
    line: float
    zoom: float
    named: int


_DENSITIES = (
    _Density(40, 420, (80, 150), 1.0, 1.4, 0.9, 40),
    _Density(150, 170, (50, 90), 0.75, 1.1, 0.85, 80),
    _Density(SMOOTH_NODES, 70, (25, 60), 0.5, 0.7, 0.5, 40),
    _Density(1_000_000, 40, (15, 40), 0.35, 0.5, 0.45, 0),
)
_STILL = "!matchMedia('(prefers-reduced-motion: reduce)').matches"
_SAID = "one => one.data.said || one.name"


def picture(explored: Explored, *, chosen: str | None, past: bool) -> dict[str, Any]:
    """Return the chart's options; `past` draws relations that no longer hold as well."""
    edges = [edge for edge in explored.edges.values() if past or edge["is_current"]]
    degrees: dict[str, int] = {}
    for edge in edges:
        for end in (edge["from_node_id"], edge["to_node_id"]):
            degrees[end] = degrees.get(end, 0) + 1
    nodes = [
        node for name, node in explored.nodes.items() if node["type"] != UNSEEN or name in degrees
    ]
    density = next(one for one in _DENSITIES if len(nodes) <= one.most)
    return {
        "animationDurationUpdate": 400,
        "tooltip": {
            "renderMode": "richText",
            ":formatter": _SAID,
            "confine": True,
            "borderWidth": 1,
            ":backgroundColor": token("surface"),
            ":borderColor": token("line-strong"),
            "textStyle": {":color": token("ink"), "fontSize": 12.5, "width": 280},
        },
        "legend": {
            "data": [kind for kind in (*TYPES, UNSEEN) if _has(nodes, kind)],
            "bottom": 4,
            "icon": "circle",
            "itemWidth": 10,
            "itemGap": 18,
            "textStyle": {":color": token("ink-soft"), "fontSize": 12},
            ":inactiveColor": token("line-strong"),
        },
        "series": [_series(nodes, edges, degrees, chosen=chosen, density=density)],
    }


def token(name: str) -> str:
    """Return JavaScript that reads a colour of the page's present theme."""
    return f"getComputedStyle(document.body).getPropertyValue('--sg-{name}').trim()"


def _series(
    nodes: list[Node],
    edges: list[Edge],
    degrees: dict[str, int],
    *,
    chosen: str | None,
    density: _Density,
) -> dict[str, Any]:
    # Where not all names have room, those of the best connected stand.
    named = set(sorted(degrees, key=lambda name: -degrees[name])[: density.named])
    names_all = len(nodes) <= density.named
    return {
        "type": "graph",
        "layout": "force",
        "roam": True,
        "draggable": True,
        "zoom": density.zoom,
        "scaleLimit": {"min": 0.1, "max": 6},
        "top": 20,
        "bottom": 48,
        "force": {
            "repulsion": density.repulsion,
            "edgeLength": list(density.edge),
            "gravity": 0.13,
            "friction": 0.3,
            ":layoutAnimation": _STILL,
        },
        "categories": [_category(kind) for kind in (*TYPES, UNSEEN)],
        "data": [
            _node(
                node,
                degrees,
                chosen=chosen,
                scale=density.size,
                is_named=names_all or node["node_id"] in named,
            )
            for node in nodes
        ],
        "links": [_link(edge) for edge in edges],
        "edgeSymbol": ["none", "arrow"],
        "edgeSymbolSize": 7 * density.size,
        "label": {
            "show": True,
            "position": "bottom",
            "distance": 5,
            "fontSize": 12,
            ":color": token("ink"),
            ":formatter": "one => one.data.short",
        },
        "labelLayout": {"hideOverlap": not names_all},
        "lineStyle": {":color": token("line-strong"), "width": density.line, "opacity": 0.95},
        "edgeLabel": {
            "show": names_all,
            ":formatter": "one => one.data.relation",
            "fontSize": 10.5,
            ":color": token("ink-soft"),
        },
        "emphasis": {
            "focus": "adjacency",
            "label": {"show": True},
            "lineStyle": {"width": 2.4, ":color": token("accent")},
        },
    }


def _category(kind: str) -> dict[str, Any]:
    return {"name": kind, "itemStyle": {":color": token(f"node-{kind}")}}


def _node(
    node: Node, degrees: dict[str, int], *, chosen: str | None, scale: float, is_named: bool
) -> dict[str, Any]:
    node_id, name, kind = str(node["node_id"]), str(node["name"]), str(node["type"])
    is_chosen = node_id == chosen
    state = " · ".join(str(node["current_state"]).splitlines())
    style: dict[str, Any] = {":borderColor": token("surface"), "borderWidth": 1.5}
    if is_chosen:
        style = {":borderColor": token("ink"), "borderWidth": 2.5}
    elif kind == UNSEEN:
        style = {":borderColor": token("ink-soft"), "borderWidth": 1.2, "borderType": "dashed"}
    return {
        "id": node_id,
        "name": name,
        "short": _cut(name, _LONGEST_NAME),
        "said": _cut(f"{name} ({kind})" + (f"\n{state}" if state else ""), _LONGEST_TIP),
        "category": (*TYPES, UNSEEN).index(kind) if kind in TYPES else len(TYPES),
        "symbolSize": scale * min(46, 18 + 4 * degrees.get(node_id, 0)) + (4 if is_chosen else 0),
        "itemStyle": style,
        "label": {"show": is_named or is_chosen},
    }


def _link(edge: Edge) -> dict[str, Any]:
    relation = str(edge["relation"]).replace("_", " ")
    style: dict[str, Any] = {"curveness": 0.08}
    if edge["is_planned"]:
        style["type"] = "dotted"
    if not edge["is_current"]:
        style |= {"type": "dashed", "opacity": 0.55}
    when = " (planned)" if edge["is_planned"] else "" if edge["is_current"] else " (no longer)"
    said = f"{edge['from_name']} – {relation} – {edge['to_name']}{when}"
    return {
        "source": edge["from_node_id"],
        "target": edge["to_node_id"],
        "relation": _cut(relation, _LONGEST_NAME),
        "said": _cut(said, _LONGEST_TIP),
        "lineStyle": style,
    }


def _has(nodes: list[Node], kind: str) -> bool:
    return any(node["type"] == kind for node in nodes)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
