"""English weekdays and weekends: last Friday, on Monday, three Fridays ago, over the weekend."""

from __future__ import annotations

import re
from datetime import timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.grammar_en_relative import part_of_day
from shared.domain.temporal.leaning_en import direction
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.selection import (
    first_day,
    weekday_after,
    weekday_before,
    weekday_of_week,
)
from shared.domain.temporal.values import Basis

_I = re.IGNORECASE


def _weekday(m: re.Match[str], ctx: Context) -> Atom | None:
    said = en.fold(m["rel"] or "")
    weekday = _weekday_number(m["weekday"], said)
    if weekday is None:
        return None
    way, today = en.way(said), ctx.today
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
    tense = direction(m, ctx)
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


def _bare_weekend(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "over the weekend": the last one in a past clause, the coming one in a future one."""
    tense = ctx.tense_at(*m.span("x"))
    if tense is Tense.OPEN:
        return None
    weekend = shifting.weekend(ctx.today, -1 if tense is Tense.PAST else 0)
    return Atom(*m.span("x"), weekend, grain=Grain.WEEKEND)


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


RULES = (
    Rule(
        re.compile(
            rf"{en.NOT_EVERY}(?P<x>\b(?:(?P<rel>{en.BACK}|{en.AHEAD}|this|on)\s+)?"
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
