"""Read a stored event's time back into the domain's words."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from typing import Final

from shared.domain.events import EventTime
from shared.domain.temporal.zones import zone_of
from shared.errors import InvalidInput
from shared.store.events import StoredEvent

_DATE_LENGTH: Final = len("2026-01-01")


def event_time(event: StoredEvent) -> EventTime:
    """Return a stored event's time as the domain knows it."""
    return EventTime(
        mentioned_at=event.mentioned_at,
        zone=event.zone,
        happened_start=_moment(event.happened_start),
        happened_end=_moment(event.happened_end),
        precision=event.precision,
        basis=event.basis,
        status=event.time_status,
        original_text=event.original_text,
    )


def known_zone(name: str) -> tzinfo:
    """Return the zone of a stored name, UTC where the name says nothing."""
    try:
        return zone_of(name)
    except InvalidInput:
        return UTC


def _moment(shown: str | None) -> date | datetime | None:
    if shown is None:
        return None
    if len(shown) == _DATE_LENGTH:
        return date.fromisoformat(shown)
    return datetime.fromisoformat(shown)
