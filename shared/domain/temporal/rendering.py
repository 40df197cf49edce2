"""Showing stored times in the zone they were said in, and turning them into UTC bounds.

A day is a day of its own zone: it is never shifted into a reader's zone (D3).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from shared.domain.temporal.resolver import resolve
from shared.domain.temporal.selection import as_date
from shared.domain.temporal.values import Precision, TimeExpression
from shared.domain.temporal.zones import local, zone_of

_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open stretch of UTC time [start, until) and the words that gave it."""

    start: datetime
    until: datetime
    expression: TimeExpression


def show_instant(at: datetime, zone: str) -> str:
    """Return an aware instant as RFC 3339 with the offset of the zone it was given in."""
    return local(at, zone).isoformat()


def show_day(value: date | datetime, zone: str) -> str:
    """Return the ISO day of a stored value in its source zone; plain dates stay as they are."""
    if isinstance(value, datetime):
        return local(value, zone).date().isoformat()
    return value.isoformat()


def show_time(
    start: date | datetime | None,
    end: date | datetime | None,
    *,
    precision: Precision,
    zone: str,
) -> str:
    """Return a happened time as ISO text of its own precision, or "unknown".

    `2026-03-09`, `2026-03`, `2026`, `2026-03-09/2026-03-12`, or an instant with its offset.
    `zone` is the zone of the mention, never the reader's.
    """
    if start is None or precision is Precision.UNKNOWN:
        return "unknown"
    if precision is Precision.INSTANT and isinstance(start, datetime):
        return show_instant(start, zone)
    first = show_day(start, zone)
    if precision is Precision.MONTH:
        return first[:7]
    if precision is Precision.YEAR:
        return first[:4]
    last = first if end is None else show_day(end, zone)
    return first if precision is Precision.DAY or last == first else f"{first}/{last}"


def utc_bounds(
    start: date | datetime, end: date | datetime | None, zone: str
) -> tuple[datetime, datetime]:
    """Return the UTC instants [from, until) that inclusive days or instants cover in a zone.

    An instant covers one microsecond, so that a filter at exactly that instant finds it.
    """
    last = start if end is None else end
    return _opening(start, zone), _closing(last, zone)


def expression_bounds(expression: TimeExpression, zone: str) -> tuple[datetime, datetime] | None:
    """Return the UTC bounds of a resolved expression, None when it gives no date."""
    if expression.start is None:
        return None
    return utc_bounds(expression.start, expression.end, zone)


def query_window(query: str, query_time: datetime, zone: str) -> Window | None:
    """Return the window that a question's time words name, None when they name none.

    "Yesterday" is a day of the asker's zone at the time of asking. The first dated
    expression counts.
    """
    for expression in resolve(query, query_time, zone):
        bounds = expression_bounds(expression, zone)
        if bounds is not None:
            return Window(bounds[0], bounds[1], expression)
    return None


def _opening(value: date | datetime, zone: str) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return _midnight(value, zone)


def _closing(value: date | datetime, zone: str) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC) + timedelta(microseconds=1)
    if value == date.max:
        return _LAST
    return _midnight(as_date(value) + timedelta(days=1), zone)


def _midnight(day: date, zone: str) -> datetime:
    try:
        return datetime.combine(day, time(), zone_of(zone)).astimezone(UTC)
    except OverflowError:
        # The first and last day of the calendar have no UTC midnight east or west of it.
        return _FIRST if day.year == 1 else _LAST
