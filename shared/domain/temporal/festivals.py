"""Named days: fixed and computed holidays, and the lunar festivals of 2010-2040.

The lunar table was computed once with two independent libraries, which agreed on every
day; outside its years a lunar festival has no date.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal.values import Interval

Festival = Callable[[int], Interval | None]

# Per year: lunar new year, Dragon Boat, Qixi, Mid-Autumn, Double Ninth, Qingming.
_LUNAR: dict[int, tuple[tuple[int, int], ...]] = {
    2010: ((2, 14), (6, 16), (8, 16), (9, 22), (10, 16), (4, 5)),
    2011: ((2, 3), (6, 6), (8, 6), (9, 12), (10, 5), (4, 5)),
    2012: ((1, 23), (6, 23), (8, 23), (9, 30), (10, 23), (4, 4)),
    2013: ((2, 10), (6, 12), (8, 13), (9, 19), (10, 13), (4, 4)),
    2014: ((1, 31), (6, 2), (8, 2), (9, 8), (10, 2), (4, 5)),
    2015: ((2, 19), (6, 20), (8, 20), (9, 27), (10, 21), (4, 5)),
    2016: ((2, 8), (6, 9), (8, 9), (9, 15), (10, 9), (4, 4)),
    2017: ((1, 28), (5, 30), (8, 28), (10, 4), (10, 28), (4, 4)),
    2018: ((2, 16), (6, 18), (8, 17), (9, 24), (10, 17), (4, 5)),
    2019: ((2, 5), (6, 7), (8, 7), (9, 13), (10, 7), (4, 5)),
    2020: ((1, 25), (6, 25), (8, 25), (10, 1), (10, 25), (4, 4)),
    2021: ((2, 12), (6, 14), (8, 14), (9, 21), (10, 14), (4, 4)),
    2022: ((2, 1), (6, 3), (8, 4), (9, 10), (10, 4), (4, 5)),
    2023: ((1, 22), (6, 22), (8, 22), (9, 29), (10, 23), (4, 5)),
    2024: ((2, 10), (6, 10), (8, 10), (9, 17), (10, 11), (4, 4)),
    2025: ((1, 29), (5, 31), (8, 29), (10, 6), (10, 29), (4, 4)),
    2026: ((2, 17), (6, 19), (8, 19), (9, 25), (10, 18), (4, 5)),
    2027: ((2, 6), (6, 9), (8, 8), (9, 15), (10, 8), (4, 5)),
    2028: ((1, 26), (5, 28), (8, 26), (10, 3), (10, 26), (4, 4)),
    2029: ((2, 13), (6, 16), (8, 16), (9, 22), (10, 16), (4, 4)),
    2030: ((2, 3), (6, 5), (8, 5), (9, 12), (10, 5), (4, 5)),
    2031: ((1, 23), (6, 24), (8, 24), (10, 1), (10, 24), (4, 5)),
    2032: ((2, 11), (6, 12), (8, 12), (9, 19), (10, 12), (4, 4)),
    2033: ((1, 31), (6, 1), (8, 1), (9, 8), (10, 1), (4, 4)),
    2034: ((2, 19), (6, 20), (8, 20), (9, 27), (10, 20), (4, 5)),
    2035: ((2, 8), (6, 10), (8, 10), (9, 16), (10, 9), (4, 5)),
    2036: ((1, 28), (5, 30), (8, 28), (10, 4), (10, 27), (4, 4)),
    2037: ((2, 15), (6, 18), (8, 17), (9, 24), (10, 17), (4, 4)),
    2038: ((2, 4), (6, 7), (8, 7), (9, 13), (10, 7), (4, 5)),
    2039: ((1, 24), (5, 27), (8, 26), (10, 2), (10, 26), (4, 5)),
    2040: ((2, 12), (6, 14), (8, 14), (9, 20), (10, 14), (4, 4)),
}


def fixed(month: int, day: int) -> Festival:
    """Return a holiday on the same day every year."""
    return lambda year: cal.day(date(year, month, day))


def days(month: int, first: int, last: int) -> Festival:
    """Return a holiday over some days of a month."""
    return lambda year: cal.span(date(year, month, first), date(year, month, last))


def nth_weekday(month: int, weekday: int, nth: int) -> Festival:
    """Return the nth (1-5; -1 is the last) weekday (Monday 0) of a month."""

    def in_year(year: int) -> Interval:
        bounds = cal.month(year, month)
        first, last = date(year, month, 1), bounds.end
        if nth > 0 or last is None:
            shift = (weekday - first.weekday()) % 7 + 7 * (nth - 1)
            return cal.day(first + timedelta(days=shift))
        return cal.day(last - timedelta(days=(last.weekday() - weekday) % 7))

    return in_year


def easter(shift: int = 0) -> Festival:
    """Return Western Easter Sunday plus some days (the anonymous Gregorian computus)."""

    def in_year(year: int) -> Interval:
        golden, century, rest = year % 19, year // 100, year % 100
        leap, skipped = century // 4, (century - (century + 8) // 25 + 1) // 3
        epact = (19 * golden + century - leap - skipped + 15) % 30
        weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
        late = (golden + 11 * epact + 22 * weekday) // 451
        month, day = divmod(epact + weekday - 7 * late + 114, 31)
        return cal.day(date(year, month, day + 1) + timedelta(days=shift))

    return in_year


def lunar(column: int, first: int = 0, last: int | None = None) -> Festival:
    """Return days first to last, counted from a column of the lunar table."""

    def in_year(year: int) -> Interval | None:
        row = _LUNAR.get(year)
        if row is None:
            return None
        base = date(year, *row[column])
        begin = base + timedelta(days=first)
        if last is None:
            return cal.day(begin)
        return cal.span(begin, base + timedelta(days=last))

    return in_year


def new_year_day(nth: int) -> Festival:
    """Return the nth day of the first lunar month's first ten days (大年初三)."""
    return lunar(0, nth - 1)


ENGLISH: dict[str, Festival] = {
    "new year's eve": fixed(12, 31),
    "new years eve": fixed(12, 31),
    "new year's day": fixed(1, 1),
    "new years day": fixed(1, 1),
    "valentine's day": fixed(2, 14),
    "valentines day": fixed(2, 14),
    "st patrick's day": fixed(3, 17),
    "st. patrick's day": fixed(3, 17),
    "april fools' day": fixed(4, 1),
    "april fool's day": fixed(4, 1),
    "independence day": fixed(7, 4),
    "halloween": fixed(10, 31),
    "veterans day": fixed(11, 11),
    "thanksgiving day": nth_weekday(11, 3, 4),
    "thanksgiving": nth_weekday(11, 3, 4),
    "christmas eve": fixed(12, 24),
    "christmas day": fixed(12, 25),
    "christmas": fixed(12, 25),
    "boxing day": fixed(12, 26),
    "good friday": easter(-2),
    "easter sunday": easter(),
    "easter monday": easter(1),
    "easter": easter(),
    "memorial day": nth_weekday(5, 0, -1),
    "labor day": nth_weekday(9, 0, 1),
    "mother's day": nth_weekday(5, 6, 2),
    "mothers day": nth_weekday(5, 6, 2),
    "father's day": nth_weekday(6, 6, 3),
    "fathers day": nth_weekday(6, 6, 3),
    "chinese new year": lunar(0),
    "lunar new year": lunar(0),
    "mid-autumn festival": lunar(3),
    "dragon boat festival": lunar(1),
}

CHINESE: dict[str, Festival] = {
    "春节": lunar(0, -1, 6),
    "除夕": lunar(0, -1),
    "年三十": lunar(0, -1),
    "元宵": lunar(0, 14),
    "清明": lunar(5),
    "端午": lunar(1),
    "七夕": lunar(2),
    "中秋": lunar(3),
    "重阳": lunar(4),
    "元旦": fixed(1, 1),
    "情人节": fixed(2, 14),
    "妇女节": fixed(3, 8),
    "三八节": fixed(3, 8),
    "愚人节": fixed(4, 1),
    "劳动节": fixed(5, 1),
    "五一": fixed(5, 1),
    "青年节": fixed(5, 4),
    "母亲节": nth_weekday(5, 6, 2),
    "儿童节": fixed(6, 1),
    "父亲节": nth_weekday(6, 6, 3),
    "教师节": fixed(9, 10),
    "国庆": fixed(10, 1),
    "十一假期": days(10, 1, 7),
    "十一长假": days(10, 1, 7),
    "十一黄金周": days(10, 1, 7),
    "十一期间": days(10, 1, 7),
    "万圣节": fixed(10, 31),
    "双十一": fixed(11, 11),
    "双11": fixed(11, 11),
    "感恩节": nth_weekday(11, 3, 4),
    "双十二": fixed(12, 12),
    "平安夜": fixed(12, 24),
    "圣诞": fixed(12, 25),
}

# What "during" a festival covers, where that is longer than the day itself.
HOLIDAYS: dict[str, Festival] = {
    "国庆": days(10, 1, 7),
    "五一": days(5, 1, 5),
    "劳动节": days(5, 1, 5),
}
