"""Calendar arithmetic on days: ISO weeks, weekends, months, quarters, seasons, decades.

Seasons are northern; the winter of a year runs from its December to the next February.
Months split in thirds (1-10, 11-20, 21-end); a year begins in Q1, ends in Q4.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from shared.domain.temporal.values import Interval, Precision

SEASON_START = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
EARLY, MID, LATE = "early", "mid", "late"


def day(of: date) -> Interval:
    """Return one day."""
    return Interval(of, of, Precision.DAY)


def day_of(year_number: int, month_number: int, day_number: int) -> Interval | None:
    """Return a day by its numbers, None where the calendar lacks it (30 February)."""
    try:
        return day(date(year_number, month_number, day_number))
    except ValueError:
        return None


def span(first: date, last: date) -> Interval:
    """Return the days from first to last, inclusive."""
    return Interval(first, last, Precision.RANGE)


def week_of(of: date) -> Interval:
    """Return the ISO week (Monday to Sunday) that holds a day."""
    monday = of - timedelta(days=of.weekday())
    return span(monday, monday + timedelta(days=6))


def weekend_of(of: date) -> Interval:
    """Return Saturday and Sunday of the ISO week that holds a day."""
    saturday = of + timedelta(days=5 - of.weekday())
    return span(saturday, saturday + timedelta(days=1))


def month(year_number: int, month_number: int) -> Interval:
    """Return a calendar month."""
    last = monthrange(year_number, month_number)[1]
    return Interval(
        date(year_number, month_number, 1),
        date(year_number, month_number, last),
        Precision.MONTH,
    )


def month_of(of: date) -> Interval:
    """Return the calendar month that holds a day."""
    return month(of.year, of.month)


def year(number: int) -> Interval:
    """Return a calendar year."""
    return Interval(date(number, 1, 1), date(number, 12, 31), Precision.YEAR)


def decade(first_year: int) -> Interval:
    """Return ten calendar years."""
    return span(date(first_year, 1, 1), date(first_year + 9, 12, 31))


def quarter(year_number: int, number: int) -> Interval:
    """Return quarter 1-4 of a year."""
    first = month(year_number, 3 * number - 2)
    last = month(year_number, 3 * number)
    return span(_date(first.start), _date(last.end))


def half_year(year_number: int, number: int) -> Interval:
    """Return half 1-2 of a year."""
    return span(date(year_number, 6 * number - 5, 1), _date(month(year_number, 6 * number).end))


def season(year_number: int, name: str) -> Interval:
    """Return a northern season; the year is that of its first month."""
    first = SEASON_START[name]
    begin = date(year_number, first, 1)
    return span(begin, _date(month_of(shift_months(begin, 2)).end))


def part_of(whole: Interval, part: str) -> Interval:
    """Return the early, mid or late part of a month or a year; other spans stay whole.

    Months split as the labelled data has it: days 1-10, 11-20, 21 to the end. Years:
    January-March, May-August, October-December.
    """
    begin = _date(whole.start)
    if whole.precision is Precision.MONTH:
        first, last = {EARLY: (1, 10), MID: (11, 20), LATE: (21, 31)}[part]
        last = min(last, monthrange(begin.year, begin.month)[1])
        return span(begin.replace(day=first), begin.replace(day=last))
    if whole.precision is Precision.YEAR:
        first, last = {EARLY: (1, 3), MID: (5, 8), LATE: (10, 12)}[part]
        return span(date(begin.year, first, 1), _date(month(begin.year, last).end))
    return whole


def shift_months(of: date, months: int) -> date:
    """Move a day by whole months, staying within the month reached."""
    index = of.year * 12 + of.month - 1 + months
    year_number, month_number = index // 12, index % 12 + 1
    last = monthrange(year_number, month_number)[1]
    return of.replace(year=year_number, month=month_number, day=min(of.day, last))


def _date(value: date | None) -> date:
    if value is None:
        raise ValueError("a calendar interval always has an end")
    return value
