"""Chinese expressions beside the mention: days, weeks, weekdays, months, years."""

from __future__ import annotations

import re
from datetime import timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_zh as zh
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Nest, Rule, Tense
from shared.domain.temporal.selection import (
    first_day,
    weekday_after,
    weekday_before,
    weekday_of_week,
)
from shared.domain.temporal.values import Basis


def _day_word(m: re.Match[str], ctx: Context) -> Atom:
    shift = zh.DAY_WORDS[m["word"]]
    part = zh.PARTS.get(m["part"] or m["short"] or "", "")
    day = ctx.today + timedelta(days=shift)
    within: tuple[tuple[Grain, Nest], ...] = ()
    if m["word"] == "今" and not part:
        within = ((Grain.YEAR, lambda y: cal.day(day.replace(year=first_day(y).year))),)
    return Atom(m.start(), m.end(), cal.day(day), grain=Grain.DAY, part=part, within=within)


def _week(m: re.Match[str], ctx: Context) -> Atom:
    """Read 上周, 下周三, 这个周末: by ISO weeks, as Chinese counts them."""
    week = shifting.by_units(ctx.today, "week", zh.RELATIONS[m["rel"]])
    monday = first_day(week)
    if m["end"]:
        return Atom(m.start(), m.end(), cal.weekend_of(monday), grain=Grain.WEEKEND)
    if m["day"] and _is_weekday(m, ctx.text):
        day = cal.day(weekday_of_week(monday, zh.WEEKDAYS[m["day"]]))
        part = zh.PARTS.get(m["part"] or "", "")
        return Atom(m.start(), m.end(), day, grain=Grain.DAY, part=part)
    end = m.start("day") if m["day"] else m.end()
    return Atom(m.start(), end, week, grain=Grain.WEEK)


_COUNTED = re.compile(r"个|次|位|名|件|家|些|张|条|本(?!周|月)|款|场|篇|组|台|份|遍")


_ADVERB = re.compile(r"直|起|定|般|样|共|边|切|同|下(?!午)|旦|再")


def _is_weekday(m: re.Match[str], text: str) -> bool:
    """Tell 上周三 (a weekday) from 上周三个人 (last week, three people) and 上周一直."""
    after = m.end("day")
    day = m["day"]
    if m["part"]:
        return True
    if day in "日天":
        return text[after : after + 1] not in ("本", "语", "常", "子", "气", "文", "元")
    if day.isdigit() and text[after : after + 1].isdigit():
        return False
    if _COUNTED.match(text, after):
        return False
    return not (day == "一" and _ADVERB.match(text, after))


def _bare_weekday(m: re.Match[str], ctx: Context) -> Atom | None:
    if m["day"] and not _is_weekday(m, ctx.text):
        return None
    tense = ctx.tense_at(m.start(), m.end())
    interval = None
    if m["day"] is None:
        return _bare_weekend(m, ctx, tense)
    weekday = zh.WEEKDAYS[m["day"]]
    if tense is Tense.PAST:
        interval = cal.day(weekday_before(ctx.today, weekday))
    elif tense is Tense.FUTURE:
        interval = cal.day(weekday_after(ctx.today, weekday))
    return Atom(
        m.start(),
        m.end(),
        interval,
        grain=Grain.DAY,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.WEEK, lambda week: cal.day(weekday_of_week(first_day(week), weekday))),),
        part=zh.PARTS.get(m["part"] or "", ""),
    )


def _bare_weekend(m: re.Match[str], ctx: Context, tense: Tense) -> Atom:
    """Read 周末 alone: the last one in a past clause, else the one of this week."""
    within = ((Grain.WEEK, lambda week: cal.weekend_of(first_day(week))),)
    if tense is Tense.OPEN:
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN, within=within)
    weekend = shifting.weekend(ctx.today, -1 if tense is Tense.PAST else 0)
    return Atom(m.start(), m.end(), weekend, grain=Grain.WEEKEND, within=within)


def _month(m: re.Match[str], ctx: Context) -> Atom:
    whole = shifting.by_units(ctx.today, "month", zh.RELATIONS[m["rel"]])
    if m["edge"]:
        return Atom(m.start(), m.end(), cal.part_of(whole, zh.EDGES[m["edge"]]))
    return Atom(m.start(), m.end(), whole, grain=Grain.MONTH)


def _month_edge(m: re.Match[str], ctx: Context) -> Atom:
    """Read 月初, 月中, 月底 alone as parts of the current month."""
    return Atom(m.start(), m.end(), cal.part_of(cal.month_of(ctx.today), zh.EDGES[m["edge"]]))


def _year(m: re.Match[str], ctx: Context) -> Atom:
    whole = cal.year(ctx.today.year + zh.YEAR_WORDS[m["word"]])
    return Atom(m.start(), m.end(), whole, grain=Grain.YEAR)


def _year_edge(m: re.Match[str], ctx: Context) -> Atom:
    """Read 年初 and 年底: of the year said just before, else of the current one."""
    part = zh.EDGES[m["edge"]]
    return Atom(
        m.start(),
        m.end(),
        cal.part_of(cal.year(ctx.today.year), part),
        within=((Grain.YEAR, lambda whole: cal.part_of(whole, part)),),
    )


def _unknown(m: re.Match[str], _ctx: Context) -> Atom:
    return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)


def veto(m: re.Match[str], _ctx: Context) -> Atom:
    """Claim words that only look like a time, so that nothing shorter is read in them."""
    return Atom(m.start(), m.end(), kind=Kind.VETO)


_REL = r"(?P<rel>上上上|大[上下]|上上|下下|上一|下一|这一|上|这|本|下)"


_WEEK = r"(?:周|星期|礼拜)"
# Names that begin with 周 and cannot be a week with what follows it.
_NAMED_ZHOU = "杰伦|星驰|润发|恩来|树人|冬雨"


# A part of day before a clock time belongs to that clock: 下周一 + 下午三点.
_NO_CLOCK = r"(?!\s*[\d一二两三四五六七八九十]{1,3}[点时:：])"


# Atomic, or 晚上八点 would lose its 晚 to the day.
_PART = rf"(?:的?(?P<part>(?>{zh.PART})){_NO_CLOCK})?"
# 从前天开始 is since two days ago; 从前 with 天真 or 天天 is long ago.
_FROM_THE_DAY = r"(?=前天(?:开始|起(?!来)|[晚早夜]|[上下]午|到|就))"
_BEFORE_CLOCK = r"(?:上(?=\s*[\d一二两三四五六七八九十]{1,3}[点时:：]))?"


RULES = (
    Rule(
        re.compile(
            rf"(?<![以之目面提当先最往随背雨然])(?:(?<!从)|(?!前)|{_FROM_THE_DAY})(?P<word>大前|大后|前|昨|今|明|后)"
            rf"(?:[天日儿](?!津(?!津)|性|堂|使|文|涯|空|敌|窗|天|才[华能子]){_PART}|(?P<short>[早晚晨夜])(?![年辈期点报餐饭安]){_BEFORE_CLOCK})"
            r"(?<![前后]日)(?!气(?!温))"
        ),
        frozenset("前昨今明后"),
        _day_word,
    ),
    Rule(
        re.compile(
            rf"(?<!以)(?<!喜欢)(?<![爱迷恋]){_REL}个?{_WEEK}(?!{_NAMED_ZHOU})(?:(?P<end>末)(?!代)|(?P<day>[一二三四五六日天1-7]){_PART})?(?![边期长刊年])"
        ),
        frozenset("周期拜"),
        _week,
    ),
    Rule(
        re.compile(
            rf"(?<![上下这本每一二两三四五六七八九十几数各整半个单双隔多\d])(?:{_WEEK}(?P<day>[一二三四五六日]|(?<=[期拜])天)|周末(?![愉快版]))"
            rf"{_PART}"
        ),
        frozenset("周期拜"),
        _bare_weekday,
    ),
    Rule(
        re.compile(rf"{_REL}个?月(?P<edge>{zh.EDGE})?(?![饼亮球光季经台])"),
        frozenset("月"),
        _month,
    ),
    Rule(
        re.compile(
            r"(?<![\d一二三四五六七八九十个上下这本每正腊岁满])月(?P<edge>初|中旬|上旬|下旬|底|末|中)(?![一二三四五六七八九十国华])"
        ),
        frozenset("月"),
        _month_edge,
    ),
    Rule(
        re.compile(
            rf"(?<![以之目面提最往然战业婚饭\d])(?P<word>{zh.YEAR_WORD})(?![代薪轻龄纪级会货夜糕味画])"
        ),
        frozenset("年"),
        _year,
    ),
    Rule(
        re.compile(r"年(?P<edge>初|中|底|末|尾)(?![一二三四五六七八九十级国])"),
        frozenset("年"),
        _year_edge,
    ),
    Rule(
        re.compile(r"刚刚|刚才|方才"),
        frozenset("刚方"),
        _unknown,
    ),
    Rule(
        re.compile(
            r"以前|从(?!前天(?:开始|起(?!来)|[晚早夜]|[上下]午|到|就))前|最近|近来|近期|前阵子|前段时间|前一阵子?|前些日子|前些时候|这几[天年]|这两[天年]|这段时间|不久前|不久之前|很久以前|"
            r"好久以前|多年前|很多年前|以后|将来|有空(?:的时候)?|改天|哪天|有一天|回头|过段时间|过一阵子?|过些[天日]子?|不久后|早晚|迟早|暑假|寒假|(?<![\d一二两三四五六七八九十百几半数多])年[前后](?!端)"
        ),
        frozenset("以从最近前这不很好多将有改哪回过早迟暑寒年"),
        _unknown,
    ),
    # What stands in title marks names a work, not a time.
    Rule(re.compile(r"[《〈][^《》〈〉\n]{1,40}[》〉]"), frozenset("《〈"), veto),
    Rule(
        re.compile(
            r"一天到晚|三天两头|半天|十分(?!钟)|一时|整天|每天|天天|每[个一]?(?:周|星期|礼拜|月|年)[一二三四五六日天末]?|第[一二三四五六七八九十\d]+[天周年月]|"
            r"有朝一日|今非昔比|前天津|昨日重现|明日之[星子后]|今日头条|今天津(?!津)|后天(?:性|努力|培养|养成|习得|因素|免疫|获得|形成)|先天后天|发明天才|说明天气|此前|目前|之前|之后|随后|当天|当年|那年|那天|前后|以前年"
        ),
        frozenset(),
        veto,
    ),
)
