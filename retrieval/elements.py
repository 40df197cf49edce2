"""Elements: the older face of the same graph, facts by mode and edges as relations (D18).

There is no second store: an element is a node, its ref is `element:<nod>`, and a use of it
reinforces the events that its node rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.batches import new_batch_id, record_batch
from retrieval.graph_cards import (
    MAX_STATE,
    TimelineEntry,
    shown_beside_key,
    shown_bound,
    timeline,
    zone_of,
)
from retrieval.graph_match import MAX_EVIDENCE
from retrieval.graph_search import FoundNode, found_nodes
from retrieval.outgoing import shown_text
from retrieval.progress import Pending, empty_reason, next_step, pending
from retrieval.reader import Reader
from retrieval.schemas import ElementSearch, NodeExpansion
from retrieval.times import read_instant
from shared.domain.graph_elements import ElementCard as Element
from shared.domain.graph_elements import ElementFact, element_cards
from shared.domain.tokens import fuzzy_match
from shared.errors import NotFound
from shared.store.batches import BatchItem
from shared.store.database import ReadTx, WriteTx
from shared.store.events import StoredEvent, events_by_id
from shared.store.graph_reads import has_nodes, neighbourhood, nodes_of_version

_SHOWN_FACTS = 12


@dataclass(frozen=True, slots=True)
class ElementFactCard:
    """One fact. Of a relation made of an edge, `fact_id` is the edge's and `value` a name."""

    fact_id: str
    key: str
    mode: str
    value: str | list[str]
    status: str
    is_current: bool
    valid_from: str | None
    valid_until: str | None
    source_event_ids: list[str]


Events = Mapping[str, StoredEvent]
FactsByKey = dict[str, list[ElementFactCard]]


@dataclass(frozen=True, slots=True)
class ElementCard:
    """One element in brief: the facts that matched, or what holds now when its name did."""

    element_id: str
    evidence_ref: str
    name: str
    type: str
    aliases: list[str]
    current_state: str
    states: FactsByKey
    sets: FactsByKey
    relations: FactsByKey
    history: list[ElementFactCard]
    rank_score: float
    matched_fields: list[str]
    match_reason: str


@dataclass(frozen=True, slots=True)
class ElementDetail:
    """One element whole, with the events behind it."""

    element_id: str
    evidence_ref: str
    name: str
    type: str
    aliases: list[str]
    tags: list[str]
    current_state: str
    states: FactsByKey
    sets: FactsByKey
    relations: FactsByKey
    history: list[ElementFactCard]
    timeline: list[TimelineEntry]


@dataclass(frozen=True, slots=True)
class ElementReply:
    """What an element search answers; `at` is the instant it stands for, null for now."""

    batch_id: str
    items: list[ElementCard]
    at: str | None
    empty_reason: str | None
    pending: Pending
    next_step: str | None


@dataclass(frozen=True, slots=True)
class ElementExpansionReply:
    """One element whole; `at` is the instant it stands for, null for now."""

    batch_id: str
    element: ElementDetail
    evidence_ref: str
    at: str | None


def element_ref(node_id: str) -> str:
    """Return the evidence ref of a node read as an element (D33)."""
    return f"element:{node_id}"


def search_elements(tx: WriteTx, reader: Reader, asked: ElementSearch) -> ElementReply:
    """Return the elements that answer a query, best first, and record them as a batch.

    Filters are hard (D20). Without a query, the name asked for is the query.
    """
    at = _instant(asked.at, asked.timezone)
    query = asked.query if asked.query.strip() else asked.name or ""
    _, found = found_nodes(tx, reader, query, at=at)
    wanted = [one for one in found if _passes(one, asked)]
    shown = wanted[: asked.limit]
    items = _cards(tx, shown, at=at)
    waiting = pending(tx, reader, for_graph=True)
    version = reader.namespace.graph_version_id
    reason = empty_reason(
        reader,
        waiting,
        is_empty=not items,
        is_filtered=bool(found) and not wanted,
        has_any=version is not None and has_nodes(tx, version),
    )
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_search_elements",
        query=query,
        request=asked.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        items=[
            BatchItem(element_ref(one.view.id), one.match.event_ids, round(one.score, 6))
            for one in shown
        ],
    )
    return ElementReply(batch_id, items, _shown_at(at), reason, waiting, next_step(reason))


def expand_element(
    tx: WriteTx, reader: Reader, node_id: str, *, asked: NodeExpansion
) -> ElementExpansionReply:
    """Return an element whole, now or at an instant, and record it as a batch.

    NotFound when the live graph shows no node of that id.
    """
    at = _instant(asked.at, asked.timezone)
    version = reader.namespace.graph_version_id
    if version is None or not nodes_of_version(tx, version, [node_id]):
        raise NotFound("no such element")
    element = _elements(tx, [node_id], at=at).get(node_id)
    if element is None:
        raise NotFound("no such element")
    events = events_by_id(tx, element.source_event_ids)
    batch_id = new_batch_id()
    behind = element.source_event_ids[:MAX_EVIDENCE]
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_expand_element",
        request={"element_id": node_id, "at": asked.at},
        items=[BatchItem(element_ref(node_id), behind)],
    )
    detail = _detail(element, events)
    return ElementExpansionReply(batch_id, detail, detail.evidence_ref, _shown_at(at))


def _passes(one: FoundNode, asked: ElementSearch) -> bool:
    if asked.types and one.view.type not in asked.types:
        return False
    names = (one.view.name, *one.view.aliases)
    return not asked.name or any(fuzzy_match(name, asked.name) for name in names)


def _cards(tx: ReadTx, shown: Sequence[FoundNode], *, at: datetime | None) -> list[ElementCard]:
    elements = _elements(tx, [one.view.id for one in shown], at=at)
    behind = {name for element in elements.values() for name in element.source_event_ids}
    events = events_by_id(tx, behind)
    return [_card(one, elements[one.view.id], events) for one in shown if one.view.id in elements]


def _elements(tx: ReadTx, node_ids: Collection[str], *, at: datetime | None) -> dict[str, Element]:
    loaded = neighbourhood(tx, node_ids)
    cards = element_cards(loaded.state, loaded.events, at=at)
    return {card.id: card for card in cards if card.id in node_ids}


def _card(one: FoundNode, element: Element, events: Events) -> ElementCard:
    matched = {fact.id for fact in one.match.facts} | {edge.id for edge in one.match.edges}
    current = [fact.id for fact in _current(element)]
    only = matched.intersection(current) or frozenset(current[:_SHOWN_FACTS])
    return ElementCard(
        element_id=element.id,
        evidence_ref=element_ref(element.id),
        name=element.name,
        type=element.type.value,
        aliases=list(element.aliases),
        current_state=shown_text(element.current_state)[:MAX_STATE],
        states=_by_key(element.states, events, only),
        sets=_by_key(element.sets, events, only),
        relations=_by_key(element.relations, events, only),
        history=_history(element, events, matched),
        rank_score=round(one.score, 6),
        matched_fields=list(one.match.fields),
        match_reason=one.match.reason,
    )


def _detail(element: Element, events: Events) -> ElementDetail:
    return ElementDetail(
        element_id=element.id,
        evidence_ref=element_ref(element.id),
        name=element.name,
        type=element.type.value,
        aliases=list(element.aliases),
        tags=list(element.tags),
        current_state=shown_text(element.current_state),
        states=_by_key(element.states, events),
        sets=_by_key(element.sets, events),
        relations=_by_key(element.relations, events),
        history=_history(element, events),
        timeline=timeline(element.source_event_ids, events),
    )


def _current(element: Element) -> list[ElementFact]:
    groups = (element.states, element.sets, element.relations)
    return [fact for group in groups for facts in group.values() for fact in facts]


def _by_key(
    group: Mapping[str, Sequence[ElementFact]], events: Events, only: Collection[str] | None = None
) -> FactsByKey:
    shown = {
        key: [
            _fact(fact, events, is_current=True)
            for fact in facts
            if only is None or fact.id in only
        ]
        for key, facts in group.items()
    }
    return {key: facts for key, facts in shown.items() if facts}


def _history(
    element: Element, events: Events, only: Collection[str] | None = None
) -> list[ElementFactCard]:
    return [
        _fact(fact, events, is_current=False)
        for fact in element.history
        if only is None or fact.id in only
    ]


def _fact(fact: ElementFact, events: Events, *, is_current: bool) -> ElementFactCard:
    zone = zone_of(fact.source_event_ids, events)
    return ElementFactCard(
        fact_id=fact.id,
        key=fact.key,
        mode=fact.mode.value,
        value=_value(fact),
        status=fact.status.value,
        is_current=is_current,
        valid_from=shown_bound(fact.valid_from, zone),
        valid_until=shown_bound(fact.valid_until, zone),
        source_event_ids=list(fact.source_event_ids),
    )


def _value(fact: ElementFact) -> str | list[str]:
    if isinstance(fact.value, str):
        return shown_beside_key(fact.key, fact.value)
    return [shown_beside_key(fact.key, item) for item in fact.value]


def _instant(at: str | None, timezone: str | None) -> datetime | None:
    return None if at is None else read_instant(at, timezone=timezone, pointer="/at")


def _shown_at(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
