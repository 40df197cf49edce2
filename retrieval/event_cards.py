"""Cards of events: the compact one of a search, and the full one with its sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.message_cards import MessageCard
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from retrieval.times import shown_happening, shown_in_zone
from shared.domain.events import EventStatus
from shared.domain.spacing import collapse, trim
from shared.domain.weights import event_weight
from shared.store.event_search import EventStanding
from shared.store.events import EventLink, StoredEvent

MAX_TITLE = 240
MAX_SUMMARY = 800


@dataclass(frozen=True, slots=True)
class TemporalCard:
    """When it was said and when it happened, each in the event's own zone."""

    mentioned_at: str | None
    happened_start: str | None
    happened_end: str | None
    precision: str
    basis: str
    status: str
    original_text: str | None
    zone: str


@dataclass(frozen=True, slots=True)
class EventCard:
    """One event in brief. `rank_score` orders one reply and is never a confidence; in a search
    `signals` is what each part gave to it."""

    event_id: str
    evidence_ref: str
    title: str
    summary: str
    status: str
    is_current: bool
    superseded_by: str | None
    event_type: str
    scope: str
    criticality: str
    participants: list[str]
    source_time: str
    temporal: TemporalCard
    block_id: str
    thread_id: str
    weight: float
    supersedes_event_ids: list[str] = field(default_factory=list)
    conflicts_with_event_ids: list[str] = field(default_factory=list)
    rank_score: float | None = None
    matched_fields: list[str] = field(default_factory=list)
    match_reason: str | None = None
    signals: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuoteCard:
    """Words taken verbatim from one message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class EventDetail:
    """One event whole: its text, its standing, and the messages it rests on."""

    event_id: str
    evidence_ref: str
    title: str
    summary: str
    narrative: str | None
    tags: list[str]
    quotes: list[QuoteCard]
    participants: list[str]
    event_type: str
    scope: str
    criticality: str
    category: str | None
    status: str
    is_current: bool
    superseded_by: str | None
    pinned: bool
    weight: float
    mention_count: int
    formed_turn: int
    last_adopted_turn: int
    source_time: str
    temporal: TemporalCard
    block_id: str
    thread_id: str
    created_at: str
    links: dict[str, list[str]]
    source_messages: list[MessageCard]


def weight_now(reader: Reader, event: StoredEvent | EventStanding) -> float:
    """Return an event's weight at the namespace's present turn."""
    return event_weight(
        reader.namespace.turn_count - event.last_adopted_turn,
        event.mention_count,
        criticality=event.criticality,
        status=event.status,
        pinned=event.pinned,
    )


def event_ref(event_id: str) -> str:
    """Return the evidence ref of an event (D33)."""
    return f"event:{event_id}"


def event_card(
    reader: Reader,
    event: StoredEvent,
    *,
    links: Iterable[EventLink] = (),
    rank_score: float | None = None,
    matched_fields: Sequence[str] = (),
    match_reason: str | None = None,
    signals: Mapping[str, float] | None = None,
) -> EventCard:
    """Return an event in brief."""
    linked = outgoing(event.event_id, links)
    return EventCard(
        event_id=event.event_id,
        evidence_ref=event_ref(event.event_id),
        title=_bounded(event.title, MAX_TITLE),
        summary=_bounded(event.summary, MAX_SUMMARY),
        status=event.status.value,
        is_current=event.status is EventStatus.ACTIVE,
        superseded_by=event.superseded_by,
        event_type=event.event_type.value,
        scope=event.scope.value,
        criticality=event.criticality.value,
        participants=list(event.participants),
        source_time=source_time(event),
        temporal=temporal_card(event),
        block_id=event.block_id,
        thread_id=event.thread_id,
        weight=round(weight_now(reader, event), 6),
        supersedes_event_ids=linked.get("supersedes", []),
        conflicts_with_event_ids=linked.get("conflicts_with", []),
        rank_score=rank_score,
        matched_fields=list(matched_fields),
        match_reason=match_reason,
        signals=dict(signals or {}),
    )


def event_detail(
    reader: Reader,
    event: StoredEvent,
    *,
    links: Iterable[EventLink],
    sources: Sequence[MessageCard],
) -> EventDetail:
    """Return an event whole."""
    return EventDetail(
        event_id=event.event_id,
        evidence_ref=event_ref(event.event_id),
        title=shown_text(event.title),
        summary=shown_text(event.summary),
        narrative=None if event.narrative is None else shown_text(event.narrative),
        tags=[shown_text(tag) for tag in event.tags],
        quotes=quote_cards(event),
        participants=list(event.participants),
        event_type=event.event_type.value,
        scope=event.scope.value,
        criticality=event.criticality.value,
        category=event.category,
        status=event.status.value,
        is_current=event.status is EventStatus.ACTIVE,
        superseded_by=event.superseded_by,
        pinned=event.pinned,
        weight=round(weight_now(reader, event), 6),
        mention_count=event.mention_count,
        formed_turn=event.formed_turn,
        last_adopted_turn=event.last_adopted_turn,
        source_time=source_time(event),
        temporal=temporal_card(event),
        block_id=event.block_id,
        thread_id=event.thread_id,
        created_at=shown_in_zone(event.created_at, "UTC"),
        links=outgoing(event.event_id, links),
        source_messages=list(sources),
    )


def quote_cards(event: StoredEvent) -> list[QuoteCard]:
    """Return an event's quotes."""
    return [QuoteCard(quote.message_id, shown_text(quote.text)) for quote in event.quotes]


def temporal_card(event: StoredEvent) -> TemporalCard:
    """Return an event's times as they are read."""
    said = event.mentioned_at
    return TemporalCard(
        mentioned_at=None if said is None else shown_in_zone(said, event.zone),
        happened_start=shown_happening(event.happened_start, event.precision, event.zone),
        happened_end=shown_happening(event.happened_end, event.precision, event.zone),
        precision=event.precision,
        basis=event.basis,
        status=event.time_status,
        original_text=event.original_text,
        zone=event.zone,
    )


def source_time(event: StoredEvent) -> str:
    """Return what places an event in time: happened, else said, else stored."""
    times = temporal_card(event)
    stored = shown_in_zone(event.created_at, event.zone)
    return times.happened_start or times.mentioned_at or stored


def outgoing(event_id: str, links: Iterable[EventLink]) -> dict[str, list[str]]:
    """Return the ids an event links to, by kind of link."""
    grouped: dict[str, list[str]] = {}
    for link in links:
        if link.event_id == event_id:
            grouped.setdefault(link.kind, []).append(link.other_event_id)
    return grouped


def in_conflict(event_id: str, links: Iterable[EventLink], alive: Mapping[str, object]) -> bool:
    """Tell whether an event contradicts another one of `alive`."""
    others = outgoing(event_id, links).get("conflicts_with", [])
    return any(other in alive for other in others)


def _bounded(text: str, limit: int) -> str:
    return trim(collapse(shown_text(text)))[:limit]
