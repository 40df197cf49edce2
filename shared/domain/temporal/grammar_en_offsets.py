"""English offsets from a named date: the week before, two days after, the last Friday of."""

from __future__ import annotations

import re
from datetime import date, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import selection, shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Nest, Rule
from shared.domain.temporal.values import Interval, Precision

_I = re.IGNORECASE


def _offset(m: re.Match[str], _ctx: Context) -> Atom | None:
    """Read "the week before", "two days after", "the weekend of": to be applied to a date."""
    side, word = m["side"].lower(), m["unit"].lower()
    way = 1 if side in ("after", "following", "from") else -1
    if word in en.WEEKDAYS:
        return _offset_atom(
            m, _weekday_beside(en.WEEKDAYS[word], 0 if side == "of" else way), Grain.DAY
        )
    unit = en.unit(word)
    count = en.number(m["n"] or "one")
    if unit in ("minute", "hour") or unit in cal.SEASON_START or count is None:
        return None
    grain = shifting.GRAINS[unit]
    if side == "of":
        if m["n"] or unit not in ("week", "weekend"):
            return None
        return _offset_atom(m, lambda i: shifting.by_units(selection.first_day(i), unit, 0), grain)
    return _offset_atom(m, _units_beside(unit, way * count, exact=side == "from"), grain)


def _offset_atom(m: re.Match[str], apply: Nest, grain: Grain) -> Atom:
    return Atom(*m.span("x"), kind=Kind.OFFSET, apply=apply, grain=grain)


def _units_beside(unit: str, count: float, *, exact: bool) -> Nest:
    def apply(anchor: Interval) -> Interval:
        if exact and unit == "week" and anchor.precision is Precision.DAY:
            return cal.day(selection.first_day(anchor) + timedelta(weeks=int(count)))
        if unit == "day" and count > 0:
            return shifting.by_units(selection.last_day(anchor), unit, count)
        return shifting.by_units(selection.first_day(anchor), unit, count)

    return apply


def _weekday_beside(weekday: int, way: int) -> Nest:
    def apply(anchor: Interval) -> Interval:
        if way < 0:
            return cal.day(selection.weekday_before(selection.first_day(anchor), weekday))
        if way > 0:
            return cal.day(selection.weekday_after(selection.last_day(anchor), weekday))
        return cal.day(selection.weekday_of_week(selection.first_day(anchor), weekday))

    return apply


def _ordinal_of(m: re.Match[str], _ctx: Context) -> Atom | None:
    """Read "the first week of", "the last Friday in": a part of the month or year named next."""
    nth, word = en.ORDINALS[en.fold(m["nth"])], m["unit"].lower()
    if word not in en.WEEKDAYS and en.unit(word) not in ("day", "week", "weekend", "month"):
        return None
    grain = Grain.DAY if word in en.WEEKDAYS or word == "day" else Grain.OTHER
    return _offset_atom(m, _nth_in(word, nth), grain)


def _nth_in(word: str, nth: int) -> Nest:
    def apply(outer: Interval) -> Interval | None:
        first, last = selection.first_day(outer), selection.last_day(outer)
        if outer.precision not in (Precision.MONTH, Precision.YEAR):
            return None
        if word == "month":
            if outer.precision is not Precision.YEAR or nth > 12:
                return None
            return cal.month(first.year, nth if nth > 0 else 12)
        found = _nth_day(word, nth, first, last)
        if found is None or not first <= found <= last:
            return None
        if word == "weekend":
            return cal.weekend_of(found)
        if word == "week":
            begin = found if nth > 0 else last - timedelta(days=6)
            return cal.span(begin, min(begin + timedelta(days=6), last))
        return cal.day(found)

    return apply


def _nth_day(word: str, nth: int, first: date, last: date) -> date | None:
    """Return the nth day, weekday or Saturday of a stretch; weeks begin on days 1, 8, 15 ..."""
    step = 1 if word == "day" else 7
    wanted = en.WEEKDAYS.get(word, 5 if word == "weekend" else -1)
    if nth < 0:
        return last - timedelta(days=(last.weekday() - wanted) % 7 if wanted >= 0 else 0)
    shift = (wanted - first.weekday()) % 7 if wanted >= 0 else 0
    return first + timedelta(days=shift + step * (nth - 1))


_UNIT_OR_DAY = rf"{en.DATE_UNIT}|{en.WEEKDAY}"


RULES = (
    Rule(
        re.compile(
            rf"\b(?P<x>(?:(?:the|that)\s+|(?P<n>{en.NUMBER})\s+|(?=week(?:end)?\s+of))(?P<unit>{_UNIT_OR_DAY})\s+"
            r"(?P<side>before|after|prior\s+to|following|from|of))\b",
            _I,
        ),
        frozenset({"before", "after", "prior", "following", "from", "of"}),
        _offset,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?:the\s+)?(?P<nth>{en.ORDINAL})\s+(?P<unit>day|week|weekend|month|{en.WEEKDAY})\s+(?:of|in))\b",
            _I,
        ),
        frozenset({"of", "in"}),
        _ordinal_of,
    ),
)
