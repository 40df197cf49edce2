"""English periods beside the mention: last week, this year, the past month, earlier this week."""

from __future__ import annotations

import re
from datetime import timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.rules import Atom, Context, Grain, Rule
from shared.domain.temporal.selection import (
    first_after,
    first_day,
    last_day,
    latest_before,
)
from shared.domain.temporal.values import Basis, Interval

_I = re.IGNORECASE


_ROLLING_UNITS = frozenset({"day", "week", "fortnight", "month", "year", "decade"})


def _related(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read last/this/next with a unit, and its early or late part."""
    unit = en.unit(m["unit"])
    edge = m["edge"]
    if unit == "day" or not (m["rel"] or (edge and " of" in en.fold(edge))):
        return None
    whole = _unit_at(unit, en.way(m["rel"] or "this"), ctx)
    return None if whole is None else _with_edge(m, whole, unit)


def _doubled(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "the week before last" and "the week after next"."""
    unit = en.unit(m["unit"])
    whole = _unit_at(unit, -2 if m["way"] else 2, ctx)
    return None if whole is None or unit == "day" else _with_edge(m, whole, unit)


def _with_edge(m: re.Match[str], whole: Interval, unit: str) -> Atom:
    grain = shifting.GRAINS.get(unit, Grain.SEASON)
    if not m["edge"]:
        return Atom(*m.span("x"), whole, grain=grain)
    if grain not in (Grain.MONTH, Grain.YEAR):
        return Atom(*m.span("x"), basis=Basis.UNKNOWN)
    return Atom(*m.span("x"), cal.part_of(whole, en.edge(m["edge"])))


def _unit_at(unit: str, way: int, ctx: Context) -> Interval | None:
    if unit not in cal.SEASON_START:
        return shifting.by_units(ctx.today, unit, way)
    if way > 0:
        return first_after(lambda y: cal.season(y, unit), ctx.today)
    if way == 0:
        running = cal.season(ctx.today.year - 1, unit)
        return running if last_day(running) >= ctx.today else cal.season(ctx.today.year, unit)
    found = latest_before(lambda y: cal.season(y, unit), ctx.today)
    return None if found is None else cal.season(first_day(found).year + 1 + way, unit)


def _within(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "earlier this year" and "later this week": the part up to today, or after it."""
    whole = _unit_at(en.unit(m["unit"]), 0, ctx)
    if whole is None:
        return None
    if m["side"].lower() == "earlier":
        return Atom(*m.span(), cal.span(first_day(whole), ctx.today))
    tomorrow = ctx.today + timedelta(days=1)
    if last_day(whole) < tomorrow:
        return Atom(*m.span(), basis=Basis.UNKNOWN)
    return Atom(*m.span(), cal.span(tomorrow, last_day(whole)))


def _rolling(m: re.Match[str], ctx: Context) -> Atom:
    """Read "the past three weeks" and "the next two days"; a few of either is too vague."""
    count, unit = en.number(m["n"] or "one"), en.unit(m["unit"])
    if unit == "weekend" and not m["n"] and (m["rel"] or "past").lower() in en.BACKWARD:
        return Atom(*m.span(), shifting.weekend(ctx.today, -1), grain=Grain.WEEKEND)
    many = not m["n"] and m["unit"].lower().endswith("s")
    if count is None or many or unit not in _ROLLING_UNITS:
        return Atom(*m.span(), basis=Basis.UNKNOWN)
    way = en.way(m["rel"] or "past")
    if m["for"] and way < 0:
        # "for the past three years" says what "for three years" does.
        return Atom(*m.span(), shifting.by_units(ctx.today, unit, -count), ongoing=True)
    return Atom(*m.span(), shifting.rolling(ctx.today, unit, way * round(count)), ongoing=way < 0)


_NOT_FOOD = (
    r"(?!\s+(?:rolls?|onions?|cleaning|break|water|chickens?|guys?|off|in\s+love|asleep|apart)\b)"
)


RULES = (
    Rule(
        re.compile(
            rf"{en.NOT_EVERY}\b(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?"
            rf"(?:(?P<rel>{en.BACK}|{en.AHEAD}|this)\s+)?(?P<unit>{en.DATE_UNIT}))\b{_NOT_FOOD}",
            _I,
        ),
        frozenset(
            [
                "last",
                "previous",
                "past",
                "next",
                "coming",
                "upcoming",
                "this",
                "end",
                "beginning",
                "start",
                "middle",
            ]
        ),
        _related,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?:the\s+)?(?P<unit>{en.DATE_UNIT})\s+"
            r"(?:(?P<way>before)\s+last|after\s+next))\b",
            _I,
        ),
        frozenset({"before", "after"}),
        _doubled,
    ),
    Rule(
        re.compile(rf"\b(?P<side>earlier|later)\s+(?:in\s+)?this\s+(?P<unit>{en.DATE_UNIT})\b", _I),
        frozenset({"earlier", "later"}),
        _within,
    ),
    Rule(
        re.compile(
            r"\b(?:(?:over|in|(?P<for>for)|during|within|throughout)\s+)?"
            r"(?:(?:the|these)\s+)?(?P<rel>last|past|next|coming|upcoming)\s+"
            rf"(?P<n>\d{{1,3}}|{en.one_of(en.NUMBERS)}|few|several)\s+(?P<unit>{en.DATE_UNIT})\b",
            _I,
        ),
        frozenset({"last", "past", "next", "coming", "upcoming"}),
        _rolling,
    ),
    Rule(
        re.compile(
            r"\b(?:(?:over|in|for|during|within|throughout)\s+the\s+(?P<rel>last|past|next|coming)\s+|"
            rf"the\s+past\s+)(?P<n>)(?P<for>)(?P<unit>{en.DATE_UNIT})\b(?!\s+of\b)",
            _I,
        ),
        frozenset({"last", "past", "next", "coming"}),
        _rolling,
    ),
)
