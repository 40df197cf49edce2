"""English periods beside the mention: last/this/next week, the past month, on Friday."""

from __future__ import annotations

import re
from datetime import timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.grammar_en_relative import part_of_day
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.selection import (
    first_after,
    first_day,
    last_day,
    latest_before,
    weekday_after,
    weekday_before,
    weekday_of_week,
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
    whole = _unit_at(unit, _way(m["rel"] or "this"), ctx)
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


def _way(rel: str) -> int:
    said = en.fold(rel).removeprefix("the ")
    if said in en.BACKWARD:
        return -1
    return 1 if said in en.FORWARD else 0


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
    many = not m["n"] and m["unit"].lower().endswith("s")
    if count is None or many or unit not in _ROLLING_UNITS:
        return Atom(*m.span(), basis=Basis.UNKNOWN)
    way = _way(m["rel"] or "past")
    if m["for"] and way < 0:
        # "for the past three years" says what "for three years" does.
        return Atom(*m.span(), shifting.by_units(ctx.today, unit, -count), ongoing=True)
    return Atom(*m.span(), shifting.rolling(ctx.today, unit, way * round(count)), ongoing=way < 0)


def _bare_weekend(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "over the weekend": the last one in a past clause, the coming one in a future one."""
    tense = ctx.tense_at(*m.span("x"))
    if tense is Tense.OPEN:
        return None
    weekend = shifting.weekend(ctx.today, -1 if tense is Tense.PAST else 0)
    return Atom(*m.span("x"), weekend, grain=Grain.WEEKEND)


def _weekday(m: re.Match[str], ctx: Context) -> Atom | None:
    said = en.fold(m["rel"] or "")
    weekday = _weekday_number(m["weekday"], said)
    if weekday is None:
        return None
    way, today = _way(said), ctx.today
    if way == 0 and not said.startswith("this"):
        return _bare_weekday(m, ctx, weekday)
    found = weekday_of_week(today, weekday)
    if way:
        found = weekday_before(today, weekday) if way < 0 else weekday_after(today, weekday)
    part = part_of_day(m["part"])
    return Atom(*m.span("x"), cal.day(found), grain=Grain.DAY, part=part)


def _bare_weekday(m: re.Match[str], ctx: Context, weekday: int) -> Atom:
    """Send a bare weekday where its clause looks; without a tense it has no date."""
    if not m["rel"] and _in_a_name(m, ctx.text):
        return Atom(*m.span("x"), kind=Kind.VETO)
    tense = ctx.tense_at(*m.span("x"))
    led = _LED.search(ctx.text, max(0, m.start() - 14), m.start("x"))
    if led:
        tense = Tense.PAST if led[1].lower() == "since" else Tense.FUTURE
    interval = None
    if tense is Tense.PAST:
        interval = cal.day(weekday_before(ctx.today, weekday))
    elif tense is Tense.FUTURE:
        interval = cal.day(weekday_after(ctx.today, weekday))
    return Atom(
        *m.span("weekday" if m["part"] is None else "x"),
        interval,
        grain=Grain.DAY,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=(
            (Grain.WEEK, lambda week: cal.day(weekday_of_week(first_day(week), weekday))),
            (Grain.DAY, lambda day: day if first_day(day).weekday() == weekday else None),
        ),
        part=part_of_day(m["part"]),
    )


def _in_a_name(m: re.Match[str], text: str) -> bool:
    """Tell "Taco Tuesday" and "Friday Night Lights" from a day."""
    before = _CAPITAL_BEFORE.search(text, max(0, m.start() - 24), m.start("x"))
    named = before is not None and before[1].lower() not in _LEADERS
    return named or (m["weekday"][0].isupper() and _CAPITALS_AFTER.match(text, m.end()) is not None)


def _weekdays_ago(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "three Fridays ago"."""
    count = en.number(m["n"])
    if count is None or count != int(count) or count < 1:
        return None
    last = weekday_before(ctx.today, en.WEEKDAYS[m["weekday"].lower()])
    return Atom(*m.span("x"), cal.day(last - timedelta(weeks=int(count) - 1)), grain=Grain.DAY)


def _weekday_number(word: str, rel: str) -> int | None:
    """Return the weekday; short forms need a leading word, and a capital where they are words."""
    said = word.lower()
    a_word = said in ("sun", "sat", "mon", "wed") and not word[0].isupper()
    if len(said) < 6 and (not rel or a_word):
        return None
    return en.WEEKDAYS[said]


_CAPITAL_BEFORE = re.compile(r"\b([A-Z][a-z]+) $")
_CAPITALS_AFTER = re.compile(
    r" (?:Lights|Times|Fever|Live|Football|Post|Mail|Roast|Club|[A-Z][a-z]+ [A-Z])"
)
_LEADERS = frozenset(
    (
        "on",
        "by",
        "since",
        "until",
        "till",
        "from",
        "this",
        "last",
        "next",
        "late",
        "early",
        "see",
        "and",
        "or",
        "but",
        "so",
        "maybe",
        "after",
        "before",
        "between",
        "come",
        "for",
        "is",
        "was",
        "does",
        "every",
        "each",
        "starting",
        "around",
        "through",
        "till",
        "not",
        "only",
        "then",
    )
)
_LED = re.compile(r"\b(by|since|(?:day|week|month)s?\s+from)\s+$", _I)
# Lookbehinds are fixed in width, so each word comes with the non-letter before it.
_NOT_EVERY = "".join(
    rf"(?<!\b{word} )"
    for word in ("every", "each", "most", "any", "some", "all", "per", "black", "good")
)
_NOT_FOOD = (
    r"(?!\s+(?:rolls?|onions?|cleaning|break|water|chickens?|guys?|off|in\s+love|asleep|apart)\b)"
)

RULES = (
    Rule(
        re.compile(
            rf"{_NOT_EVERY}\b(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?"
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
    Rule(
        re.compile(
            rf"{_NOT_EVERY}(?P<x>\b(?:(?P<rel>{en.BACK}|{en.AHEAD}|this|on)\s+)?"
            rf"\b(?P<weekday>{en.WEEKDAY_ANY})\b(?:\s+(?P<part>{en.PART})\b)?)",
            _I,
        ),
        frozenset(en.WEEKDAYS),
        _weekday,
    ),
    Rule(
        re.compile(r"\b(?P<x>(?:over|during|on)\s+the\s+weekend)\b(?!\s+(?:of|before|after))", _I),
        frozenset({"weekend"}),
        _bare_weekend,
    ),
    Rule(
        re.compile(
            rf"(?<![\w.$-])(?P<x>(?P<n>{en.NUMBER})\s+(?P<weekday>{en.WEEKDAY})s?\s+ago)\b", _I
        ),
        frozenset({"ago"}),
        _weekdays_ago,
    ),
)
