"""Structured filters and orders over events (section 15); hard ones, nothing widens them (D20).

Whoever composes a search decides what an empty outcome means; here an event passes or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum

from shared.domain.events import EventStatus, EventTime, EventType
from shared.domain.ordering import collation_key
from shared.domain.temporal.zones import zone_of
from shared.domain.tokens import fuzzy_match

VISIBLE_STATUSES = frozenset({EventStatus.ACTIVE, EventStatus.SUPERSEDED})
"""What a search returns unless it asks otherwise; forgotten and archived ones never show."""


class TemporalIntent(StrEnum):
    """Which end of a story a question asks for."""

    FIRST = "first"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Window:
    """A span of aware instants, both ends inclusive; an absent end is open."""

    start: datetime | None = None
    end: datetime | None = None

    def overlaps(self, first: datetime, last: datetime) -> bool:
        """Tell whether [first, last] and the window share an instant."""
        begins = self.end is None or first <= self.end
        return begins and (self.start is None or last >= self.start)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """What a search asks of events; an empty field asks nothing.

    Any of `event_types` will do; all `participants` must be named, each at least in part.
    """

    event_types: frozenset[EventType] = frozenset()
    participants: tuple[str, ...] = ()
    occurred: Window | None = None
    mentioned: Window | None = None
    statuses: frozenset[EventStatus] = VISIBLE_STATUSES

    @property
    def narrows(self) -> bool:
        """Tell whether any field can exclude an event that is visible by default."""
        asks = bool(self.event_types or self.participants or self.occurred or self.mentioned)
        return asks or not self.statuses >= VISIBLE_STATUSES


@dataclass(frozen=True, slots=True)
class FilterableEvent:
    """What of an event the filters and orders look at; `weight` is its weight now, 0 to 1."""

    id: str
    status: EventStatus
    event_type: EventType
    participants: tuple[str, ...]
    time: EventTime
    weight: float
    created_at: datetime
    updated_at: datetime


def passes(event: FilterableEvent, wanted: EventFilter) -> bool:
    """Tell whether an event meets every field of a filter."""
    return (
        event.status in wanted.statuses & VISIBLE_STATUSES
        and (not wanted.event_types or event.event_type in wanted.event_types)
        and names_all(event.participants, wanted.participants)
        and (wanted.occurred is None or occurred_within(event.time, wanted.occurred))
        and (wanted.mentioned is None or mentioned_within(event.time, wanted.mentioned))
    )


def names_all(participants: Iterable[str], requested: Iterable[str]) -> bool:
    """Tell whether every requested name matches some participant (either contains the other)."""
    known = tuple(participants)
    return all(any(fuzzy_match(name, wanted) for name in known) for wanted in requested)


def occurred_within(event_time: EventTime, window: Window) -> bool:
    """Tell whether what happened overlaps a window; an unknown time never does."""
    span = happened_span(event_time)
    return span is not None and window.overlaps(*span)


def mentioned_within(event_time: EventTime, window: Window) -> bool:
    """Tell whether it was said within a window; an unknown mention never was."""
    said_at = event_time.mentioned_at
    return said_at is not None and window.overlaps(said_at, said_at)


def happened_span(event_time: EventTime) -> tuple[datetime, datetime] | None:
    """Return the first and last instant of what happened, None where that is unknown.

    A day lasts from its midnight to its last microsecond in the event's own zone. One known
    end stands for both.
    """
    start, end = event_time.happened_start, event_time.happened_end
    first, last = (start, end) if start and end else (start or end, start or end)
    if first is None or last is None:
        return None
    return _first_instant(first, event_time.zone), _last_instant(last, event_time.zone)


def structured_order(
    events: Iterable[FilterableEvent], *, intent: TemporalIntent | None = None
) -> list[FilterableEvent]:
    """Order events without a text query: by source time for an intent, else by weight.

    Source time is when it happened, else when it was said, else when it was stored. Equal
    weights go by the last change, newest first; then by id.
    """
    by_id = sorted(events, key=lambda e: collation_key(e.id))
    if intent is None:
        return sorted(by_id, key=lambda e: (e.weight, e.updated_at), reverse=True)
    return sorted(by_id, key=source_instant, reverse=intent is TemporalIntent.LATEST)


def source_instant(event: FilterableEvent) -> datetime:
    """Return the instant that places an event in time."""
    known = event.time.happened_start or event.time.happened_end
    if known is not None:
        return _first_instant(known, event.time.zone)
    return event.time.mentioned_at or event.created_at


def current_first(ranked: Sequence[str], successors: Mapping[str, str]) -> list[str]:
    """Put each superseded event right below the last of its successors that was found (D44).

    `successors` maps an event to the one that superseded it. An event whose successors are
    not in the list, or already stand above it, keeps its place.
    """
    places = {name: place for place, name in enumerate(ranked)}
    keys = {name: _place_below(name, successors, places) for name in ranked}
    return sorted(ranked, key=keys.__getitem__)


def _place_below(
    name: str, successors: Mapping[str, str], places: Mapping[str, int]
) -> tuple[int, int, int]:
    """Return (place to stand at, steps below it, own place), so that a chain reads newest first."""
    seen, target, steps = {name}, places[name], 0
    current = name
    while (current := successors.get(current, "")) and current not in seen:
        seen.add(current)
        if places.get(current, -1) > target:
            target, steps = places[current], len(seen) - 1
    return target, steps, places[name]


def _first_instant(day_or_instant: date | datetime, zone: str) -> datetime:
    if isinstance(day_or_instant, datetime):
        return day_or_instant
    return datetime.combine(day_or_instant, time.min, tzinfo=zone_of(zone))


def _last_instant(day_or_instant: date | datetime, zone: str) -> datetime:
    if isinstance(day_or_instant, datetime):
        return day_or_instant
    # Not midnight of the next day less a microsecond: 9999-12-31 has no next day.
    return datetime.combine(day_or_instant, time.max, tzinfo=zone_of(zone))
