"""Choosing between the same day, month or festival of several weeks or years.

"last X" is the most recent X wholly before the day of the mention, "next X" the first one
after it; a bare X goes where its clause looks.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal.rules import Tense
from shared.domain.temporal.values import Interval

ByYear = Callable[[int], Interval | None]

_FAR = 240
"""Days beyond which the current year's date is less likely than its neighbour's."""


def as_date(value: date) -> date:
    """Return the calendar day of a date or, as its own clock shows it, of a datetime."""
    return date(value.year, value.month, value.day)


def first_day(interval: Interval) -> date:
    """Return the first calendar day of an interval."""
    return as_date(interval.start)


def last_day(interval: Interval) -> date:
    """Return the last calendar day of an interval; its first, when the end was lost."""
    return as_date(interval.end if interval.end is not None else interval.start)


def latest_before(by_year: ByYear, today: date) -> Interval | None:
    """Return the most recent occurrence that ended before today."""
    for year in range(today.year, today.year - 3, -1):
        found = by_year(year)
        if found is not None and last_day(found) < today:
            return found
    return None


def first_after(by_year: ByYear, today: date) -> Interval | None:
    """Return the first occurrence that begins after today."""
    for year in range(today.year, today.year + 3):
        found = by_year(year)
        if found is not None and first_day(found) > today:
            return found
    return None


def bare(by_year: ByYear, today: date, tense: Tense) -> Interval | None:
    """Return the occurrence that a clause of that tense speaks of.

    A past clause may mean a stretch that is still running, a future one likewise. Without
    a tense it is this year's, unless that is over eight months away and another is near.
    """
    if tense is Tense.PAST:
        return latest_before(by_year, _began(by_year, today))
    if tense is Tense.FUTURE:
        return first_after(by_year, _ends(by_year, today))
    this_year = by_year(today.year)
    if this_year is None:
        return None
    distance = (first_day(this_year) - today).days
    if distance > _FAR:
        return by_year(today.year - 1) or this_year
    if distance < -_FAR:
        return by_year(today.year + 1) or this_year
    return this_year


def day_of_month(today: date, number: int, tense: Tense) -> Interval | None:
    """Return the last or next such day of a month, today included; None without a tense."""
    if tense is Tense.OPEN:
        return None
    step = -1 if tense is Tense.PAST else 1
    for months in range(4):
        moved = cal.shift_months(today, step * months)
        found = cal.day_of(moved.year, moved.month, number)
        if found and (first_day(found) - today) * step >= timedelta(0):
            return found
    return None


def day_within(month: Interval, number: int) -> Interval | None:
    """Return a day of a month by its number, None where the month is shorter."""
    begin = first_day(month)
    return cal.day_of(begin.year, begin.month, number)


def weekday_before(today: date, weekday: int) -> date:
    """Return the most recent such weekday (Monday 0) strictly before today."""
    return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


def weekday_after(today: date, weekday: int) -> date:
    """Return the first such weekday strictly after today."""
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def weekday_of_week(of: date, weekday: int) -> date:
    """Return that weekday of the ISO week that holds a day."""
    return of + timedelta(days=weekday - of.weekday())


def _began(by_year: ByYear, today: date) -> date:
    now = by_year(today.year)
    if now is not None and first_day(now) <= today <= last_day(now):
        return last_day(now) + timedelta(days=1)
    return today


def _ends(by_year: ByYear, today: date) -> date:
    now = by_year(today.year)
    if now is not None and first_day(now) <= today <= last_day(now):
        return first_day(now) - timedelta(days=1)
    return today
