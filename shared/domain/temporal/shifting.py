"""Moving by counted units: "N weeks ago" is that ISO week, "a few days" five to two."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal.rules import Grain
from shared.domain.temporal.selection import first_day, last_day, latest_before
from shared.domain.temporal.values import Interval, Precision

GRAINS = {
    "day": Grain.DAY, "week": Grain.WEEK, "fortnight": Grain.WEEK, "weekend": Grain.WEEKEND,
    "month": Grain.MONTH, "quarter": Grain.OTHER, "year": Grain.YEAR, "decade": Grain.OTHER,
}  # fmt: skip
SEASONS = frozenset(cal.SEASON_START)
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def by_units(today: date, unit: str, count: float) -> Interval:
    """Return the day, week, month ... that lies `count` units from today (negative: back).

    Half years are counted in months and half months in days, as a half has no calendar unit.
    """
    if unit in SEASONS:
        return _season(today, unit, count)
    if count != int(count):
        return _halves(today, unit, count)
    whole = int(count)
    if unit == "day":
        return cal.day(today + timedelta(days=whole))
    if unit in ("week", "fortnight"):
        return cal.week_of(today + timedelta(weeks=whole * (2 if unit == "fortnight" else 1)))
    if unit == "weekend":
        return weekend(today, whole)
    if unit == "month":
        return cal.month_of(cal.shift_months(today, whole))
    if unit == "quarter":
        moved = cal.shift_months(today, 3 * whole)
        return cal.quarter(moved.year, (moved.month + 2) // 3)
    if unit == "year":
        return cal.year(today.year + whole)
    if unit == "decade":
        return cal.year(today.year + 10 * whole)
    raise ValueError(f"no calendar unit: {unit}")


def few(today: date, unit: str, *, ahead: bool) -> Interval:
    """Return five to two units before today, or two to five after it."""
    near, far = (2, 5) if ahead else (-5, -2)
    return cal.span(first_day(by_units(today, unit, near)), last_day(by_units(today, unit, far)))


def instant(at: datetime, unit: str, count: float) -> Interval:
    """Return the moment some minutes or hours from `at`, counted on the UTC clock."""
    step = timedelta(minutes=1) if unit == "minute" else timedelta(hours=1)
    # Across a change of offset only the UTC clock counts true minutes.
    moved = (at.astimezone(UTC) + step * count).astimezone(at.tzinfo)
    return Interval(moved, moved, Precision.INSTANT)


def weekend(today: date, count: int) -> Interval:
    """Return the weekend `count` from now: -1 the last one wholly before today, 1 the next."""
    if count == 0:
        return cal.weekend_of(today)
    if count < 0:
        return cal.weekend_of(today + timedelta(weeks=count))
    # A weekday's "next weekend" is the first one after the day; on a weekend, the one after.
    first = cal.weekend_of(today)
    skipped = 0 if first_day(first) > today else 1
    return cal.weekend_of(today + timedelta(weeks=count - 1 + skipped))


def around_month(today: date, months: int) -> Interval:
    """Return the month `months` away with its two neighbours ("about a year ago")."""
    middle = cal.shift_months(today, months)
    return cal.span(
        first_day(cal.month_of(cal.shift_months(middle, -1))),
        last_day(cal.month_of(cal.shift_months(middle, 1))),
    )


def rolling(today: date, unit: str, count: int) -> Interval:
    """Return the stretch of `count` units up to today (negative) or from tomorrow on."""
    if unit in _DAYS:
        other = today + timedelta(days=count * _DAYS[unit])
    else:
        other = cal.shift_months(today, count * _MONTHS[unit])
    return cal.span(other, today) if count < 0 else cal.span(today + timedelta(days=1), other)


def _season(today: date, name: str, count: float) -> Interval:
    last = latest_before(lambda y: cal.season(y, name), today)
    if last is None or count >= 0:
        raise ValueError("seasons are counted back only")
    return cal.season(first_day(last).year + 1 + int(count), name)


def _halves(today: date, unit: str, count: float) -> Interval:
    if unit == "year":
        return cal.month_of(cal.shift_months(today, round(12 * count)))
    if unit == "decade":
        return cal.year(today.year + round(10 * count))
    if unit == "month":
        return cal.week_of(today + timedelta(days=round(30 * count)))
    if unit == "week":
        return cal.week_of(today + timedelta(days=round(7 * count)))
    raise ValueError(f"no half of a {unit}")
