"""What a time expression says once resolved: first and last day, precision, basis, status."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class Precision(StrEnum):
    """How finely a time is known; weeks, weekends, seasons and spans are `range`."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    RANGE = "range"
    UNKNOWN = "unknown"


class Basis(StrEnum):
    """Whether the words hold the whole date, or need the time at which they were said."""

    EXPLICIT = "explicit"
    RELATIVE = "relative"
    UNKNOWN = "unknown"


class TemporalStatus(StrEnum):
    """Where the event stands as seen from the time it was mentioned.

    `resolve` never gives `cancelled`: a time expression is not called off, an event is.
    """

    OCCURRED = "occurred"
    PLANNED = "planned"
    ONGOING = "ongoing"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time: inclusive dates, or aware datetimes where a time of day is known.

    `end` is None only for a range that was said backwards and therefore lost its end.
    """

    start: date | datetime
    end: date | datetime | None
    precision: Precision


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """One time expression of a text.

    `start` and `end` are inclusive local dates of the mention's zone, aware datetimes when
    the precision is `instant`, None when the words give no date. `original_text` is
    `text[span[0]:span[1]]`. `note` names why a date was refused or cut, else it is empty.
    """

    start: date | datetime | None
    end: date | datetime | None
    precision: Precision
    basis: Basis
    status: TemporalStatus
    original_text: str
    span: tuple[int, int]
    note: str = ""
