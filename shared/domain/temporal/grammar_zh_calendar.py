"""Chinese calendar names: years, months, days, seasons, festivals, clock times, lunar days."""

from __future__ import annotations

import re

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import selection, shifting
from shared.domain.temporal import vocabulary_zh as zh
from shared.domain.temporal.festivals import CHINESE as FESTIVALS
from shared.domain.temporal.festivals import HOLIDAYS, new_year_day
from shared.domain.temporal.numeric_dates import IMPOSSIBLE, day_atom, refused
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule
from shared.domain.temporal.selection import ByYear
from shared.domain.temporal.values import Basis, Interval


def _yearless(m: re.Match[str], ctx: Context, by_year: ByYear, grain: Grain) -> Atom:
    """Return something that recurs every year, where the clause looks."""
    interval = selection.bare(by_year, ctx.today, ctx.tense_at(m.start(), m.end()))
    return Atom(
        m.start(),
        m.end(),
        interval,
        grain=grain,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.YEAR, lambda whole: by_year(selection.first_day(whole).year)),),
    )


def _year(m: re.Match[str], _ctx: Context) -> Atom | None:
    year = zh.year_number(m["y"])
    if not 1000 <= year <= 2999:
        return None
    return Atom(m.start(), m.end(), cal.year(year), grain=Grain.YEAR, basis=Basis.EXPLICIT)


def _month_day(m: re.Match[str], ctx: Context) -> Atom:
    month, day = zh.integer(m["m"]), zh.integer(m["d"])
    if m["y"]:
        return day_atom(m, zh.year_number(m["y"]), month, day)
    if not 1 <= month <= 12 or cal.day_of(2024, month, day) is None:
        return refused(m, IMPOSSIBLE)
    return _yearless(m, ctx, lambda y: cal.day_of(y, month, day), Grain.DAY)


def _days(m: re.Match[str], ctx: Context) -> Atom:
    """Read 3月5日到8日: both days share the month."""
    month, first, last = zh.integer(m["m"]), zh.integer(m["d"]), zh.integer(m["d2"])

    def in_year(year: int) -> Interval | None:
        begin, end = cal.day_of(year, month, first), cal.day_of(year, month, last)
        if begin is None or end is None:
            return None
        if last < first:
            return Interval(begin.start, None, begin.precision)
        return cal.span(selection.first_day(begin), selection.last_day(end))

    if not 1 <= month <= 12 or in_year(2024) is None:
        return refused(m, IMPOSSIBLE)
    note = "inverted_range" if last < first else ""
    if m["y"]:
        interval = in_year(zh.year_number(m["y"]))
        return Atom(m.start(), m.end(), interval, basis=Basis.EXPLICIT, note=note)
    atom = _yearless(m, ctx, in_year, Grain.OTHER)
    return Atom(
        atom.start, atom.end, atom.interval, basis=atom.basis, within=atom.within, note=note
    )


def _month(m: re.Match[str], ctx: Context) -> Atom | None:
    number = zh.integer(m["m"])
    if not 1 <= number <= 12:
        return None
    part = zh.EDGES[m["edge"]] if m["edge"] else ""

    def in_year(year: int) -> Interval:
        whole = cal.month(year, number)
        return cal.part_of(whole, part) if part else whole

    return _yearless(m, ctx, in_year, Grain.OTHER if part else Grain.MONTH)


def _day_of_month(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read 15号: in the month said just before, else the last or next one by tense."""
    day = zh.integer(m["d"])
    if not 1 <= day <= 31:
        return None
    tense = ctx.tense_at(m.start(), m.end())
    interval = selection.day_of_month(ctx.today, day, tense)
    return Atom(
        m.start(),
        m.end(),
        interval,
        grain=Grain.DAY,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.MONTH, lambda month: selection.day_within(month, day)),),
    )


def _season(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read a season in the year said just before; alone only in 这个夏天."""
    name = zh.SEASONS[m["season"]]
    within = ((Grain.YEAR, lambda y: cal.season(selection.first_day(y).year, name)),)
    if m["this"] is None:
        return Atom(m.start(), m.end(), kind=Kind.PENDING, within=within)
    way = zh.RELATIONS[m["this"].removesuffix("个").replace("今", "这")]
    if way == 0:
        found: Interval | None = cal.season(ctx.today.year, name)
    elif way < 0:
        found = selection.latest_before(lambda y: cal.season(y, name), ctx.today)
    else:
        found = selection.first_after(lambda y: cal.season(y, name), ctx.today)
    return Atom(m.start(), m.end(), found, grain=Grain.SEASON)


def _festival(m: re.Match[str], ctx: Context) -> Atom:
    by_year = FESTIVALS[m["name"]]
    if m["while"]:
        by_year = HOLIDAYS.get(m["name"], by_year)
    if m["beside"]:
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN, note="open_bound")
    return _yearless(m, ctx, by_year, Grain.DAY)


def _new_year_day(m: re.Match[str], ctx: Context) -> Atom:
    return _yearless(m, ctx, new_year_day(zh.integer(m["d"])), Grain.DAY)


def _decade(m: re.Match[str], _ctx: Context) -> Atom | None:
    tens = zh.integer(m["d"])
    if tens % 10:
        return None
    century = {"上世纪": 1900, "20世纪": 1900, "二十世纪": 1900, "本世纪": 2000, "21世纪": 2000}
    first = century.get(m["century"] or "", 1900 if tens >= 50 else -1)
    if first < 0:
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    return Atom(m.start(), m.end(), cal.decade(first + tens), basis=Basis.EXPLICIT)


def _quarter(m: re.Match[str], ctx: Context) -> Atom | None:
    number = zh.integer(m["q"] or m["half"].replace("上", "1").replace("下", "2"))
    if m["q"] and not 1 <= number <= 4:
        return None
    split = cal.quarter if m["q"] else cal.half_year
    return Atom(
        m.start(),
        m.end(),
        split(ctx.today.year, number),
        within=((Grain.YEAR, lambda y: split(selection.first_day(y).year, number)),),
    )


def _related_quarter(m: re.Match[str], ctx: Context) -> Atom:
    moved = shifting.by_units(ctx.today, "quarter", zh.RELATIONS[m["rel"]])
    return Atom(m.start(), m.end(), moved)


def _clock(m: re.Match[str], _ctx: Context) -> Atom | None:
    """Read 下午三点半 and 15:30; a bare 三点 counts only beside a day."""
    hour = zh.integer(m["h"])
    minutes = m["min"] or ""
    minute = {"半": 30, "一刻": 15, "三刻": 45, "整": 0, "": 0}.get(minutes, -1)
    if minute < 0:
        minute = zh.integer(minutes.removesuffix("分"))
    if hour > 24 or minute > 59:
        return None
    part = zh.PARTS.get(m["part"] or "", "")
    known = hour > 12 or m["part"] in ("凌晨", "清晨", "上午", "早上", "早晨", "中午")
    if m["part"] in ("下午", "傍晚", "晚上", "晚间", "午后") and hour < 12:
        hour, known = hour + 12, True
    return Atom(
        m.start(), m.end(), kind=Kind.CLOCK, clock=(hour % 24, minute), half_known=known, part=part
    )


def _lunar(m: re.Match[str], _ctx: Context) -> Atom:
    return Atom(m.start(), m.end(), basis=Basis.UNKNOWN, note="lunar_calendar")


_Y = r"(?P<y>(?<!\d)[12]\d{3}|[一二][〇零○一二三四五六七八九]{3})\s*年"
_M = r"(?P<m>1[0-2]|0?[1-9]|十[一二]|[一二三四五六七八九十])\s*月"
_D = r"(?P<d>[0-3]?\d|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_NO_NUMBER = r"(?<![\d.第一二三四五六七八九十百零〇])"
_NOT_A_LABEL = r"(?![楼线院店位桌机门车房球字码文公电仓馆厅柜座航引服主选员]|码|技师|种子)"
_ONES = "一二三四五六七八九"
# 五一路, 七月路口: named after a day, not on it.
_A_STREET = r"路[口站店号下上东西南北中]|广场|大道|大街|湖"
_LUNAR_DAY = rf"(?:初[{_ONES}十]|廿[{_ONES}]|十[{_ONES}]|二十[{_ONES}]?|三十)"

RULES = (
    Rule(
        re.compile(rf"(?:{_Y})?(?<![\d.])(?:0{{1,2}}|1[3-9]|[2-9]\d)\s*月(?:\s*\d{{1,2}}[日号])?"),
        frozenset("月"),
        lambda m, _ctx: refused(m, IMPOSSIBLE),
    ),
    Rule(re.compile(rf"{_Y}(?![代级薪龄前后内多来])"), frozenset("年"), _year),
    Rule(
        re.compile(rf"(?:{_Y})?\s*{_NO_NUMBER}{_M}\s*{_D}\s*[日号](?!线|楼)"),
        frozenset("月"),
        _month_day,
    ),
    Rule(
        re.compile(
            rf"(?:{_Y})?\s*{_NO_NUMBER}{_M}\s*{_D}\s*[日号]?\s*(?:到|至|-|–|—|~|～)\s*"
            r"(?P<d2>[0-3]?\d|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*[日号]"
        ),
        frozenset("月"),
        _days,
    ),
    Rule(
        re.compile(
            rf"{_NO_NUMBER}{_M}份?(?P<edge>{zh.EDGE})?(?![一两]?[次回遍]|[饼亮球光季经天河兔龄]|{_A_STREET}|三(?![天个次号日亚十月])|\s*\d+\s*[日号]|内|之内)"
        ),
        frozenset("月"),
        _month,
    ),
    Rule(
        re.compile(rf"(?<![\d.第一二三四五六七八九十型编]){_D}[号日]{_NOT_A_LABEL}(?![语本元])"),
        frozenset("号日"),
        _day_of_month,
    ),
    Rule(
        re.compile(
            r"(?P<this>上个?|这个?|本|今个?|下个?)?(?P<season>[春夏秋冬])(?:天|季|(?<=年.))(?![气])"
        ),
        frozenset("春夏秋冬"),
        _season,
    ),
    Rule(
        re.compile(
            rf"(?P<name>{zh.FESTIVAL})节?(?:(?P<while>期间|假期|长假|放假|小长假|黄金周)|当天|那天)?(?P<beside>[前后](?!天))?"
            rf"(?!快乐|礼物|贺|联欢|联|蛋糕|树|老人|晚会|粽|糕|月饼|帽|{_A_STREET})"
        ),
        frozenset("春除年元清端七中重情妇三愚劳五青母儿父教国十万双感平圣"),
        _festival,
    ),
    Rule(re.compile(r"大?年初(?P<d>[一二三四五六七八九十])"), frozenset("初"), _new_year_day),
    Rule(
        re.compile(
            rf"(?:农历|阴历|旧历)(?:[正腊冬一二三四五六七八九十]{{1,2}}月)?(?:{_LUNAR_DAY})?|"
            rf"(?:[正腊冬]月|[二三四五六七八九十]月(?=初[一二三四五六七八九十]|廿))(?:{_LUNAR_DAY})?"
        ),
        frozenset("历正腊冬初廿"),
        _lunar,
    ),
    Rule(
        re.compile(
            r"(?P<century>上世纪|本世纪|二十世纪|2[01]世纪)?(?<!\d)(?P<d>[二三四五六七八九]十|[2-9]0)年代"
        ),
        frozenset("代"),
        _decade,
    ),
    Rule(re.compile(r"(?P<rel>上|这|本|下)个?季度"), frozenset("季"), _related_quarter),
    Rule(
        re.compile(r"第?(?P<q>[一二三四1-4])季度|(?P<half>[上下])半年"), frozenset("季半"), _quarter
    ),
    Rule(
        re.compile(
            rf"(?:(?<![昨今明前后当每])(?P<part>{zh.PART}))?\s*(?<![\d.:第])(?:(?P<h>\d{{1,2}}|[二]?十[一二三四五六七八九]?|[一二两三四五六七八九])(?:点钟?|时(?![间候代刻常期光]))"
            r"(?P<min>半|一刻|三刻|整|(?:[0-5]?\d|[二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九])分?)?)(?![个些儿建原要意左\d]|[一二三四五六七八九]点)"
        ),
        frozenset("点时"),
        _clock,
    ),
    Rule(
        re.compile(
            rf"(?:(?<![昨今明前后当每])(?P<part>{zh.PART}))?\s*(?<![\d.:])(?P<h>[01]?\d|2[0-3])[:：](?P<min>[0-5]\d)(?![\d:])"
        ),
        frozenset(),
        _clock,
    ),
)
