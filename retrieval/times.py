"""Times as they are asked for and shown: in the zone they were given in, never silently UTC."""

from __future__ import annotations

import re
from datetime import date, datetime, time, tzinfo

from shared.domain.event_filters import Window
from shared.domain.temporal.resolver import resolve
from shared.domain.temporal.values import Precision
from shared.domain.temporal.zones import zone_of
from shared.errors import InvalidInput

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}.*")
_CLOCK_PRECISIONS = frozenset({"instant"})


def shown_in_zone(instant: datetime, zone: str) -> str:
    """Return an instant as RFC 3339 with the offset of its own zone."""
    return instant.astimezone(zone_of(zone)).isoformat()


def shown_happening(text: str | None, precision: str, zone: str) -> str | None:
    """Return a happened time as it is read: a day stays the day of its own zone.

    Only an `instant` is shown with a clock time; what is known to the day, month, year or as a
    range is shown as dates, so that no reader's zone can shift it.
    """
    if text is None or _DATE.fullmatch(text):
        return text
    moment = datetime.fromisoformat(text)
    local = moment.astimezone(zone_of(zone)) if moment.tzinfo else moment
    return local.isoformat() if precision in _CLOCK_PRECISIONS else local.date().isoformat()


def read_instant(text: str, *, timezone: str | None, pointer: str) -> datetime:
    """Return an aware instant; a date means its midnight in `timezone`.

    Raises InvalidInput for what is no time, or for one without offset or zone (`naive_time`).
    """
    moment = _moment(text, pointer)
    if isinstance(moment, datetime):
        return moment if moment.tzinfo else moment.replace(tzinfo=_zone(timezone, pointer))
    return datetime.combine(moment, time.min, tzinfo=_zone(timezone, pointer))


def read_window(
    start: str | None, end: str | None, *, timezone: str | None, pointer: str
) -> Window | None:
    """Return a window with both ends inclusive; a date as its end lasts to the end of that day.

    Raises InvalidInput as `read_instant` does, and for an end before its start.
    """
    if start is None and end is None:
        return None
    first = None if start is None else read_instant(start, timezone=timezone, pointer=pointer)
    last = None if end is None else _last_instant(end, timezone, pointer)
    if first is not None and last is not None and last < first:
        raise InvalidInput.at(pointer, "'to' must not be before 'from'", "inverted_window")
    return Window(first, last)


def asked_at(query_time: str | None, timezone: str | None, now: datetime) -> datetime | None:
    """Return when and where a question is asked, in its own zone, or None if it does not say.

    Without a zone of its own a question has no "yesterday", so nothing is assumed.
    """
    if query_time is not None:
        moment = read_instant(query_time, timezone=timezone, pointer="/query_time")
        if not date.min.year < moment.year < date.max.year:
            # Another zone could show it beyond the calendar, where nobody asks a question.
            raise _no_time("/query_time")
        return moment.astimezone(zone_of(timezone)) if timezone else moment
    return now.astimezone(zone_of(timezone)) if timezone else None


def time_words(query: str, asked: datetime | None) -> list[tuple[str, Window]]:
    """Return the time expressions of a query with the windows they mean, days counted whole."""
    if asked is None:
        return []
    zone = asked.tzinfo or zone_of("UTC")
    found = resolve(query, asked, asked.strftime("%z") or "UTC")
    return [
        (expression.original_text, _window_of(expression.start, expression.end, zone))
        for expression in found
        if expression.start is not None and expression.precision is not Precision.UNKNOWN
    ]


def _window_of(start: date | datetime | None, end: date | datetime | None, zone: tzinfo) -> Window:
    return Window(_begin(start, zone), _finish(end if end is not None else start, zone))


def _begin(moment: date | datetime | None, zone: tzinfo) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return datetime.combine(moment, time.min, tzinfo=zone)


def _finish(moment: date | datetime | None, zone: tzinfo) -> datetime | None:
    if moment is None or isinstance(moment, datetime):
        return moment
    return datetime.combine(moment, time.max, tzinfo=zone)


def _last_instant(text: str, timezone: str | None, pointer: str) -> datetime:
    moment = _moment(text, pointer)
    if isinstance(moment, datetime):
        return read_instant(text, timezone=timezone, pointer=pointer)
    return datetime.combine(moment, time.max, tzinfo=_zone(timezone, pointer))


def _moment(text: str, pointer: str) -> date | datetime:
    wanted = text.strip()
    try:
        if _DATE.fullmatch(wanted):
            return date.fromisoformat(wanted)
        if _TIME.fullmatch(wanted):
            return datetime.fromisoformat(wanted.upper())
    except ValueError as error:
        raise _no_time(pointer) from error
    raise _no_time(pointer)


def _no_time(pointer: str) -> InvalidInput:
    return InvalidInput.at(
        pointer, "give an RFC 3339 time with an offset, or a date (YYYY-MM-DD)", "invalid_time"
    )


def _zone(timezone: str | None, pointer: str) -> tzinfo:
    if timezone is None:
        raise InvalidInput.at(
            pointer, "a time without an offset needs `timezone` beside it", "naive_time"
        )
    return zone_of(timezone)
