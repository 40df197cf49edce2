"""Read a stored event's time back into the domain's words."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from shared.domain.events import EventTime
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


def _moment(shown: str | None) -> date | datetime | None:
    if shown is None:
        return None
    if len(shown) == _DATE_LENGTH:
        return date.fromisoformat(shown)
    return datetime.fromisoformat(shown)
