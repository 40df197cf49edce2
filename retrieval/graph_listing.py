"""The graph for drawing: nodes and the edges between them, now or as it stood at an instant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from retrieval.graph_cards import EdgeCard, edge_card
from retrieval.graph_views import LoadedViews, load_views
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from shared.domain.graph_view import NodeView
from shared.store.database import ReadTx
from shared.store.events import events_by_id
from shared.store.graph_reads import count_nodes, page_of_nodes


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """One node to draw."""

    node_id: str
    name: str
    type: str
    status: str
    aliases: list[str]
    tags: list[str]
    current_state: str
    fact_count: int
    source_event_ids: list[str]


@dataclass(frozen=True, slots=True)
class DrawnGraph:
    """Nodes, newest first, with every edge at them; the far end may be on another page."""

    nodes: list[DrawnNode]
    edges: list[EdgeCard]
    at: str | None
    graph_version_id: str | None
    node_count: int
    next_cursor: str | None


def draw_graph(
    tx: ReadTx,
    reader: Reader,
    *,
    at: datetime | None,
    before: str | None,
    limit: int,
) -> DrawnGraph:
    """Return one page of the live graph; `next_cursor` is the last node's id when more follow."""
    version = reader.namespace.graph_version_id
    shown_at = None if at is None else at.isoformat()
    if version is None:
        return DrawnGraph([], [], shown_at, None, 0, None)
    ids = page_of_nodes(tx, version, before=before, limit=limit + 1)
    page = ids[:limit]
    loaded = load_views(tx, page, at=at)
    return DrawnGraph(
        nodes=[_drawn(view) for view in sorted(loaded.asked, key=lambda v: v.id, reverse=True)],
        edges=_edges(tx, loaded),
        at=shown_at,
        graph_version_id=version,
        node_count=count_nodes(tx, version),
        next_cursor=page[-1] if len(ids) > limit else None,
    )


def _edges(tx: ReadTx, loaded: LoadedViews) -> list[EdgeCard]:
    """Return each edge once, though both its ends may be on the page."""
    names = loaded.names
    shown = {
        edge.id: (edge, view)
        for view in loaded.asked
        for edge in (*view.current_edges, *view.historical_edges)
    }
    events = events_by_id(
        tx, {name for edge, _ in shown.values() for name in edge.source_event_ids}
    )
    return [edge_card(edge, view, names, events) for edge, view in shown.values()]


def _drawn(view: NodeView) -> DrawnNode:
    return DrawnNode(
        node_id=view.id,
        name=view.name,
        type=view.type.value,
        status=view.status.value,
        aliases=list(view.aliases),
        tags=list(view.tags),
        current_state=shown_text(view.state_text),
        fact_count=len(view.current_facts) + len(view.historical_facts),
        source_event_ids=list(view.source_event_ids),
    )
