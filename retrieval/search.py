"""Step 7 of the walk: search events. Hard filters, inspectable ranking, an honest empty reply.

Makes a batch (step 8); writes nothing to any event and calls no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from retrieval.batches import new_batch_id, record_batch
from retrieval.event_cards import EventCard, event_card, event_ref
from retrieval.event_ranking import (
    EventQuery,
    RankedEvent,
    matches_without_filters,
    ranked_events,
)
from retrieval.event_reasons import match_reason, matched_fields
from retrieval.progress import Pending, empty_reason, next_step, pending
from retrieval.reader import Reader
from retrieval.reply_budget import fitting_items
from retrieval.schemas import EventSearch, Span
from retrieval.times import asked_at, read_window, time_words
from retrieval.vector_lane import DegradedLane, MeaningLane, meaning_lane
from shared.domain.event_filters import VISIBLE_STATUSES, EventFilter, Window
from shared.domain.events import EventStatus
from shared.domain.ranking.scoring import shares_of
from shared.domain.ranking.weights import EVENTS
from shared.store.batches import BatchItem
from shared.store.database import ReadTx, WriteTx
from shared.store.event_search import has_visible_events
from shared.store.events import EventLink, links_of
from shared.store.vectors import VectorKind

_TICK = timedelta(microseconds=1)
_LAST_MICROSECOND = 999_999
_TRUNCATED = "More events match: raise max_tokens, or expand one by its evidence_ref."


@dataclass(frozen=True, slots=True)
class QueryWindow:
    """A time word of the query and the span it was read as; `until` is not part of it."""

    text: str
    start: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class EventReply:
    """What an event search answers."""

    batch_id: str
    items: list[EventCard]
    empty_reason: str | None
    pending: Pending
    truncated: bool
    next_step: str | None
    query_windows: list[QueryWindow]
    degraded_lanes: list[DegradedLane]


def search_events(tx: WriteTx, reader: Reader, asked: EventSearch) -> EventReply:
    """Return the events that answer a query, best first, and record them as a batch."""
    query = event_query(reader, asked)
    lane = meaning_lane(tx, reader, VectorKind.EVENT)
    ranked = ranked_events(tx, reader, query, lane, limit=asked.limit)
    links = links_of(tx, [one.event.event_id for one in ranked])
    cards = [_card(reader, query, one, links) for one in ranked]
    reply = _reply(tx, reader, query, cards=cards, max_tokens=asked.max_tokens, lane=lane)
    record_batch(
        tx,
        reader,
        batch_id=reply.batch_id,
        tool="memory_search_events",
        query=asked.query,
        request=asked.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        items=[
            BatchItem(event_ref(card.event_id), (card.event_id,), card.rank_score)
            for card in reply.items
        ],
    )
    return reply


def event_query(reader: Reader, asked: EventSearch) -> EventQuery:
    """Read a request: its filter, and the windows its own time words mean (D20, D22)."""
    zone = asked.timezone
    moment = asked_at(asked.query_time, zone, reader.now)
    if zone is None and asked.query_time is not None and moment is not None:
        zone = moment.strftime("%z") or None
    statuses = frozenset(EventStatus(status) for status in asked.statuses)
    wanted = EventFilter(
        event_types=frozenset(asked.event_types),
        participants=tuple(name for name in asked.participants if name.strip()),
        occurred=_window(asked.occurred, zone, "/occurred"),
        mentioned=_window(asked.mentioned, zone, "/mentioned"),
        statuses=statuses or VISIBLE_STATUSES,
    )
    return EventQuery(
        text=asked.query,
        wanted=wanted,
        intent=asked.temporal_intent,
        windows=tuple(time_words(asked.query, moment)),
    )


def _window(span: Span | None, zone: str | None, pointer: str) -> Window | None:
    if span is None:
        return None
    return read_window(span.start, span.end, timezone=zone, pointer=pointer)


def _card(
    reader: Reader, query: EventQuery, one: RankedEvent, links: Sequence[EventLink]
) -> EventCard:
    fields = matched_fields(one)
    return event_card(
        reader,
        one.event,
        links=links,
        rank_score=one.score,
        signals=shares_of(one.signals, EVENTS),
        matched_fields=fields,
        match_reason=match_reason(query, one, fields),
    )


def _reply(
    tx: ReadTx,
    reader: Reader,
    query: EventQuery,
    *,
    cards: list[EventCard],
    max_tokens: int | None,
    lane: MeaningLane,
) -> EventReply:
    waiting = pending(tx, reader)
    reason = empty_reason(
        reader,
        waiting,
        is_empty=not cards,
        is_filtered=not cards and matches_without_filters(tx, reader, query),
        has_any=not cards and has_visible_events(tx, reader.scope),
    )
    batch_id = new_batch_id()
    windows = [_shown(words, window) for words, window in query.windows]

    def with_items(items: list[EventCard], truncated: bool) -> EventReply:
        step = _TRUNCATED if truncated else next_step(reason)
        degraded = list(lane.degraded)
        return EventReply(batch_id, items, reason, waiting, truncated, step, windows, degraded)

    return with_items(*fitting_items(cards, with_items, max_tokens))


def _shown(words: str, window: Window) -> QueryWindow:
    start = None if window.start is None else window.start.isoformat()
    return QueryWindow(words, start, until=_until(window))


def _until(window: Window) -> str | None:
    """Return where a window ends, exclusive: the last microsecond of a day reads as midnight."""
    end = window.end
    if end is None:
        return None
    ends_a_day = end.microsecond == _LAST_MICROSECOND and end.date() < date.max
    return (end + _TICK if ends_a_day else end).isoformat()
