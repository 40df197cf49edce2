"""What a projection is shown of the graph: nodes that its events name, and recently changed ones.

At most 32 nodes with their last 12 facts, and the last 60 edges among them (§12). The view
that readers have is shown, so what rests on forgotten events is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from shared.domain.graph import SourceEvent, name_key
from shared.domain.graph_view import FactView, NodeView, node_views
from shared.domain.search_terms import query_terms
from shared.store.database import ReadTx
from shared.store.graph import (
    events_behind,
    load_state,
    recent_nodes,
    source_events,
)
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from workers.models.inputs import KnownEdge, KnownFact, KnownNode, ProjectEvent

MAX_NODES: Final = 32
MAX_EDGES: Final = 60
_RECENT: Final = 24
_SEARCHED: Final = 64
_FACTS: Final = 12
_LABELS: Final = 12
_STATE: Final = 600


@dataclass(frozen=True, slots=True)
class KnownGraph:
    """The part of a graph that some events may touch, and the standing of events behind it."""

    nodes: tuple[KnownNode, ...]
    edges: tuple[KnownEdge, ...]
    sources: Mapping[str, SourceEvent]


def known_graph(
    tx: ReadTx,
    namespace: str,
    events: Sequence[ProjectEvent],
    *,
    version: str | None,
    derivation: int | None = None,
) -> KnownGraph:
    """Return what the events may touch of a graph version; None: there is no graph yet.

    Its `sources` hold these events as well.
    """
    own = {event.event_id for event in events}
    if version is None:
        return KnownGraph((), (), source_events(tx, own, version=derivation))
    text = "\n".join(chain.from_iterable(_words(event) for event in events))
    hits = bm25_search(
        tx, namespace, DocumentKind.NODE, query_terms(text), limit=_SEARCHED, version=version
    )
    recent = recent_nodes(tx, version, limit=_RECENT)
    state = load_state(tx, list(dict.fromkeys([*(hit.document_id for hit in hits), *recent])))
    sources = source_events(tx, events_behind(state) | own, version=derivation)
    views = {view.id: view for view in node_views(state, sources)}
    named = [hit.document_id for hit in hits if _occurs(views.get(hit.document_id), text)]
    ids = [one for one in dict.fromkeys([*named, *recent]) if one in views and views[one].name]
    chosen = {one: views[one] for one in ids[:MAX_NODES]}
    return KnownGraph(tuple(map(_node, chosen.values())), _edges(chosen), sources)


def _words(event: ProjectEvent) -> tuple[str, ...]:
    return (event.title, event.summary, *event.participants, *event.tags, *event.quotes)


def _occurs(view: NodeView | None, text: str) -> bool:
    """Tell whether a node's name or an alias stands in the text, by the key of identity."""
    if view is None:
        return False
    folded = name_key(text)
    return any(name_key(name) in folded for name in (view.name, *view.aliases) if name)


def _node(view: NodeView) -> KnownNode:
    current = [_fact(fact, is_current=True) for fact in view.current_facts]
    past = [_fact(fact, is_current=False) for fact in view.historical_facts]
    return KnownNode(
        node_id=view.id,
        name=view.name,
        type=view.type.value,
        aliases=view.aliases[:_LABELS],
        tags=view.tags[:_LABELS],
        facts=tuple((*past, *current)[-_FACTS:]),
    )


def _fact(fact: FactView, *, is_current: bool) -> KnownFact:
    value = fact.value[:_STATE] if isinstance(fact.value, str) else fact.value
    return KnownFact(key=fact.key, value=value, is_current=is_current)


def _edges(views: Mapping[str, NodeView]) -> tuple[KnownEdge, ...]:
    edges: dict[str, KnownEdge] = {}
    for view in views.values():
        for is_current, shown in ((False, view.historical_edges), (True, view.current_edges)):
            for edge in shown:
                if edge.from_node_id in views and edge.to_node_id in views:
                    edges[edge.id] = KnownEdge(
                        edge.from_node_id, edge.relation, edge.to_node_id, is_current
                    )
    ordered = sorted(edges.items())
    return tuple(edge for _, edge in ordered[-MAX_EDGES:])
