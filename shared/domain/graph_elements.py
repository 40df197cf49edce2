"""Element cards: the older view of the same graph, facts by mode, edges as relations (D18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.graph import (
    FactMode,
    GraphState,
    NodeType,
    RecordStatus,
    SourceEvent,
)
from shared.domain.graph_view import EdgeView, FactView, NodeView, node_views


@dataclass(frozen=True, slots=True)
class ElementFact:
    """One fact of a card. For a relation made of an edge `id` is the edge's, `key` the
    relation's name and `value` the other node's name.
    """

    id: str
    key: str
    mode: FactMode
    value: str | tuple[str, ...]
    status: RecordStatus
    valid_from: datetime | None
    valid_until: datetime | None
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ElementCard:
    """A node as an element. The maps hold current facts by key; `history` the former ones."""

    id: str
    type: NodeType
    name: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    current_state: str
    states: Mapping[str, tuple[ElementFact, ...]]
    sets: Mapping[str, tuple[ElementFact, ...]]
    relations: Mapping[str, tuple[ElementFact, ...]]
    history: tuple[ElementFact, ...]
    source_event_ids: tuple[str, ...]


def element_cards(
    state: GraphState,
    events_by_id: Mapping[str, SourceEvent],
    *,
    at: datetime | None = None,
) -> tuple[ElementCard, ...]:
    """Return every visible node of a state as an element card, now or as of an instant.

    What `state` and `events_by_id` must hold is said at `graph_view.node_view`. A relation
    to a node whose name no visible event carries is left out.
    """
    views = node_views(state, events_by_id, at=at)
    names = {view.id: view.name for view in views}
    return tuple(_card(view, names) for view in views)


def _card(view: NodeView, names: Mapping[str, str]) -> ElementCard:
    current = [_of_fact(f) for f in view.current_facts]
    current += _of_edges(view.current_edges, view.id, names)
    history = [_of_fact(f) for f in view.historical_facts]
    history += _of_edges(view.historical_edges, view.id, names)
    return ElementCard(
        id=view.id,
        type=view.type,
        name=view.name,
        aliases=view.aliases,
        tags=view.tags,
        current_state=view.state_text,
        states=_by_key(current, FactMode.STATE),
        sets=_by_key(current, FactMode.SET),
        relations=_by_key(current, FactMode.RELATION),
        history=tuple(history),
        source_event_ids=view.source_event_ids,
    )


def _of_fact(fact: FactView) -> ElementFact:
    return ElementFact(
        id=fact.id,
        key=fact.key,
        mode=fact.mode,
        value=fact.value,
        status=fact.status,
        valid_from=fact.valid_from,
        valid_until=fact.valid_until,
        source_event_ids=fact.source_event_ids,
    )


def _of_edges(
    edges: Iterable[EdgeView], node_id: str, names: Mapping[str, str]
) -> list[ElementFact]:
    return [
        ElementFact(
            id=edge.id,
            key=edge.relation,
            mode=FactMode.RELATION,
            value=names[edge.to_node_id],
            status=edge.status,
            valid_from=edge.valid_from,
            valid_until=edge.valid_until,
            source_event_ids=edge.source_event_ids,
        )
        for edge in edges
        if edge.from_node_id == node_id and names.get(edge.to_node_id)
    ]


def _by_key(facts: Iterable[ElementFact], mode: FactMode) -> dict[str, tuple[ElementFact, ...]]:
    found: dict[str, tuple[ElementFact, ...]] = {}
    for fact in facts:
        if fact.mode is mode:
            found[fact.key] = (*found.get(fact.key, ()), fact)
    return found
