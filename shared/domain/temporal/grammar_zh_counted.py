"""Chinese counted time: three days ago, in two weeks, the past three years, for a year."""

from __future__ import annotations

import re

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_zh as zh
from shared.domain.temporal.rules import Atom, Context, Grain, Rule
from shared.domain.temporal.selection import (
    first_day,
    last_day,
)
from shared.domain.temporal.values import Basis


def _counted(m: re.Match[str], ctx: Context) -> Atom | None:
    way = -1 if m["way"] else 1
    count, unit = zh.number(m["n"]), zh.UNITS[m["unit"]]
    if m["over"] or m["over2"]:
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    clock = unit in ("minute", "hour")
    if clock and zh.pair(m["n"]):
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    if count is None:
        if clock or m["n"] not in ("几", "好几", "数", "若干"):
            return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
        return Atom(m.start(), m.end(), shifting.few(ctx.today, unit, ahead=way > 0))
    between = zh.pair(m["n"])
    if between:
        near, far = sorted(way * n for n in between)
        return _stretch(m, ctx, unit, near, far)
    total = way * (count + 0.5 if m["half"] or m["half2"] else count)
    if clock:
        return Atom(m.start(), m.end(), shifting.instant(ctx.at, unit, total))
    if m["about"] and unit == "year" and total in (1, -1):
        return Atom(m.start(), m.end(), shifting.around_month(ctx.today, 12 * way))
    grain = shifting.GRAINS[unit] if total == int(total) else Grain.OTHER
    return Atom(m.start(), m.end(), shifting.by_units(ctx.today, unit, total), grain=grain)


def _few_days(m: re.Match[str], ctx: Context) -> Atom:
    """Read 前几天 as "a few days ago" and 过几天 as "in a few days"."""
    unit = zh.UNITS[m["unit"].removeprefix("个")]
    if m["two"]:
        return _stretch(m, ctx, unit, -2, -1)
    return Atom(m.start(), m.end(), shifting.few(ctx.today, unit, ahead=bool(m["ahead"])))


def _stretch(m: re.Match[str], ctx: Context, unit: str, first: int, last: int) -> Atom:
    """Return the days from one count of units to another (negative: back)."""
    begin = first_day(shifting.by_units(ctx.today, unit, first))
    return Atom(
        m.start(),
        m.end(),
        cal.span(begin, last_day(shifting.by_units(ctx.today, unit, last))),
    )


def _passing(m: re.Match[str], ctx: Context) -> Atom:
    """Read 再过三天 as three days on; 过两天 is too loose for a date."""
    count, unit = zh.number(m["n"]), zh.UNITS[m["unit"]]
    loose = m["n"] == "两" and unit == "day" and not m["again"]
    if count is None or loose or unit in ("minute", "hour") or zh.pair(m["n"]):
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    ahead = shifting.by_units(ctx.today, unit, count)
    return Atom(m.start(), m.end(), ahead, grain=shifting.GRAINS[unit])


def _tomorrow_or_after(m: re.Match[str], ctx: Context) -> Atom:
    return _stretch(m, ctx, "day", 1, 2)


def _rolling(m: re.Match[str], ctx: Context) -> Atom:
    """Read 过去三年 and 未来两周: the stretch up to today, or from tomorrow on."""
    count, unit = zh.number(m["n"]), zh.UNITS[m["unit"]]
    if count is None or count < 1 or unit in ("minute", "hour", "weekend"):
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    way = 1 if m["ahead"] else -1
    interval = shifting.rolling(ctx.today, unit, way * round(count))
    return Atom(m.start(), m.end(), interval, ongoing=way < 0)


def _lasting(m: re.Match[str], ctx: Context) -> Atom:
    """Read 学了三年了 and 三年来 as the calendar unit in which it began."""
    count, unit = zh.number(m["n"]), zh.UNITS[m["unit"]]
    if count is None or unit in ("minute", "hour", "weekend"):
        return Atom(*m.span("x"), basis=Basis.UNKNOWN, ongoing=True)
    began = shifting.by_units(ctx.today, unit, -(count + 0.5 if m["half"] else count))
    return Atom(*m.span("x"), began, ongoing=True)


_UNIT = r"(?P<unit>分钟|小时|钟头|季度|星期|礼拜|周末|年|月|周|天|日|分)"


_NOT_PAST = r"(?![端锋途沿缀夕锋例提辈妻夫景])"


_NOT_LATER = r"(?![端台勤悔盾院宫卫代辈裔缀])"


_COUNTED_UNITS = (
    rf"(?P<about>大约|大概|差不多|将近|快|约)?(?<![第\d.零〇一二三四五六七八九十百])(?P<n>{zh.COUNT})(?P<over>多|来)?个?(?P<half>半)?"
    rf"{_UNIT}(?P<half2>半)?(?P<over2>多)?(?:左右)?"
)


RULES = (
    Rule(
        re.compile(
            rf"{_COUNTED_UNITS}(?:(?:之|以)?(?P<way>前){_NOT_PAST}(?!后)|(?:之|以|过)?后{_NOT_LATER})"
        ),
        frozenset("前后"),
        _counted,
    ),
    Rule(
        re.compile(
            r"(?:前(?:几|些|(?P<two>两))个?|(?P<ahead>过几个?|再过几个?))(?P<unit>天|日|周|星期|个?月|年)(?![后以之前])"
        ),
        frozenset("前过"),
        _few_days,
    ),
    Rule(
        re.compile(rf"(?<![经度通超不])(?P<again>再)?过(?P<n>{zh.NUMERAL})个?{_UNIT}(?![半前])后?"),
        frozenset("过"),
        _passing,
    ),
    Rule(re.compile(r"明后两?天"), frozenset("明"), _tomorrow_or_after),
    Rule(
        re.compile(
            rf"(?:(?P<ahead>未来|接下来|今后)|过去|最近|近)(?:的)?(?P<n>{zh.COUNT})个?{_UNIT}(?:[里内间来])?"
        ),
        frozenset("未接今过最近"),
        _rolling,
    ),
    Rule(
        re.compile(
            rf"(?P<x>(?<![第\d.零〇一二三四五六七八九十百])(?P<n>{zh.COUNT})个?(?P<half>半)?{_UNIT}(?:多)?)(?:了(?=[，。！？,.!?；\s]|$)|(?:以)?来(?![自了到]))"
        ),
        frozenset("了来"),
        _lasting,
    ),
)
