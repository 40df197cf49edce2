"""The activated section: other conversations' events and nodes that bear on this one (D31)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from retrieval.event_cards import event_ref, source_time, temporal_card, weight_now
from retrieval.event_ranking import EventQuery, ranked_events
from retrieval.graph_cards import node_ref, shown_value
from retrieval.graph_search import FoundNode, found_nodes
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from retrieval.reply_budget import reply_tokens
from retrieval.vector_lane import meaning_lane
from shared.domain.activation import (
    EVENT_HITS,
    NODE_HITS,
    ActivatedSection,
    ActivationCandidate,
    EventLine,
    NodeLine,
    activation_order,
    chosen_events,
    chosen_nodes,
    render_activated,
)
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.search_terms import query_terms
from shared.store.database import ReadTx
from shared.store.events import StoredEvent, events_by_id, lasting_events
from shared.store.vectors import VectorKind

_MAX_FACTS = 12
_CANDIDATES, _NODE_CANDIDATES = 60, 24
"""How many events and nodes are looked at for the few that are taken."""


@dataclass(frozen=True, slots=True)
class ActivatedEvent:
    """An event of the section, in brief; its words are in the text."""

    event_id: str
    evidence_ref: str
    title: str
    status: str
    source_time: str
    thread_id: str
    weight: float


@dataclass(frozen=True, slots=True)
class ActivatedNode:
    """A node of the section, in brief; its facts are in the text."""

    node_id: str
    evidence_ref: str
    name: str
    type: str
    status: str


@dataclass(frozen=True, slots=True)
class Activated:
    """Background from other conversations. `text` is the section as a host may insert it,
    `tokens` its size."""

    events: list[ActivatedEvent]
    nodes: list[ActivatedNode]
    text: str
    tokens: int


def activated_section(
    tx: ReadTx,
    reader: Reader,
    *,
    query: str,
    thread_id: str,
    own_block_ids: Collection[str],
    max_tokens: int,
    max_events: int,
    max_nodes: int,
) -> Activated:
    """Choose and render what other conversations know that bears on `query`.

    `own_block_ids` are the blocks of the thread that asks.
    The JSON of the whole answer, text and lists, stays within `max_tokens`; an empty section
    is never less than its frame.
    """
    terms = query_terms(query)
    events = _events(
        tx,
        reader,
        query,
        terms,
        thread_id=thread_id,
        own_block_ids=own_block_ids,
        max_events=max_events,
    )
    nodes = _nodes(tx, reader, query, terms, thread_id=thread_id)
    lines = _node_lines(tx, nodes)
    chosen = chosen_nodes(
        [lines[one.view.id] for one in nodes], event_ids=set(events), max_nodes=max_nodes
    )
    event_lines = [_event_line(event) for event in events.values()]
    views = {one.view.id: one.view for one in nodes}
    budget = max_tokens
    while True:
        section = render_activated(event_lines, chosen, max_tokens=budget)
        answer = _answer(reader, section, events=events, views=views)
        excess = reply_tokens(answer) - max_tokens
        if excess <= 0 or not section.text:
            return answer
        budget = min(budget, section.tokens) - min(excess, section.tokens)


def _answer(
    reader: Reader,
    section: ActivatedSection,
    *,
    events: Mapping[str, StoredEvent],
    views: Mapping[str, NodeView],
) -> Activated:
    return Activated(
        events=[_event(reader, events[name]) for name in section.event_ids],
        nodes=[_node(views[name]) for name in section.node_ids],
        text=section.text,
        tokens=section.tokens,
    )


def _event(reader: Reader, event: StoredEvent) -> ActivatedEvent:
    return ActivatedEvent(
        event_id=event.event_id,
        evidence_ref=event_ref(event.event_id),
        title=shown_text(event.title),
        status=event.status.value,
        source_time=source_time(event),
        thread_id=event.thread_id,
        weight=round(weight_now(reader, event), 6),
    )


def _node(view: NodeView) -> ActivatedNode:
    return ActivatedNode(
        node_id=view.id,
        evidence_ref=node_ref(view.id),
        name=view.name,
        type=view.type.value,
        status=view.status.value,
    )


def _events(
    tx: ReadTx,
    reader: Reader,
    query: str,
    terms: Mapping[str, float],
    *,
    thread_id: str,
    own_block_ids: Collection[str],
    max_events: int,
) -> dict[str, StoredEvent]:
    """Return the chosen events, by rank and weight together, none of the thread's own."""
    hits: list[StoredEvent] = []
    if query.strip():
        asked = EventQuery(
            text=query, except_thread=thread_id, candidates=_CANDIDATES, text_terms=terms
        )
        # Something is always nearest; only what shares a word is worth a line of the context.
        lane = replace(meaning_lane(tx, reader, VectorKind.EVENT), finds=False)
        hits = [one.event for one in ranked_events(tx, reader, asked, lane, limit=EVENT_HITS)]
    lasting = [
        event
        for event in lasting_events(tx, reader.name, version=reader.version)
        if event.thread_id != thread_id
    ]
    known = {event.event_id: event for event in (*hits, *lasting)}
    candidates = [
        ActivationCandidate(
            id=event.event_id,
            source_block_id=event.block_id,
            weight=weight_now(reader, event),
            updated_at=event.updated_at,
        )
        for event in known.values()
    ]
    ordered = activation_order([event.event_id for event in hits], candidates)
    chosen = chosen_events(ordered, own_block_ids=set(own_block_ids), max_events=max_events)
    return {one.id: known[one.id] for one in chosen}


def _nodes(
    tx: ReadTx, reader: Reader, query: str, terms: Mapping[str, float], *, thread_id: str
) -> list[FoundNode]:
    """Return nodes as other conversations alone make them known, best first."""
    if not query.strip():
        return []
    _, found = found_nodes(
        tx,
        reader,
        query,
        except_thread=thread_id,
        candidates=_NODE_CANDIDATES,
        terms=terms,
    )
    return found[:NODE_HITS]


def _event_line(event: StoredEvent) -> EventLine:
    times = temporal_card(event)
    return EventLine(
        id=event.event_id,
        title=shown_text(event.title),
        summary=shown_text(event.summary),
        happened_start=times.happened_start,
        happened_end=times.happened_end,
        status=times.status,
    )


def _node_lines(tx: ReadTx, nodes: list[FoundNode]) -> dict[str, NodeLine]:
    events = events_by_id(tx, {name for one in nodes for name in one.match.event_ids})
    return {one.view.id: _node_line(one, events) for one in nodes}


def _node_line(one: FoundNode, events: Mapping[str, StoredEvent]) -> NodeLine:
    view = one.view
    behind = [events[name] for name in one.match.event_ids if name in events]
    return NodeLine(
        id=view.id,
        name=view.name,
        type=view.type.value,
        aliases=view.aliases,
        tags=view.tags,
        status=view.status.value,
        state=shown_text(view.state_text),
        facts=tuple(_fact(fact) for fact in one.match.facts[:_MAX_FACTS]),
        relations=tuple(_relation(edge) for edge in view.current_edges[:_MAX_FACTS]),
        timeline=tuple(
            {"id": event.event_id, "title": shown_text(event.title), "status": event.status.value}
            for event in behind
        ),
        source_event_ids=frozenset(one.match.event_ids),
    )


def _fact(fact: FactView) -> dict[str, object]:
    return {"key": fact.key, "value": shown_value(fact), "status": fact.status.value}


def _relation(edge: EdgeView) -> dict[str, object]:
    return {"relation": edge.relation, "from": edge.from_node_id, "to": edge.to_node_id}
