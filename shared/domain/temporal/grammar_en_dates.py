"""English days by name and number: 7 May 2023, May 3-5, the 5th."""

from __future__ import annotations

import re

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import rescheduling, selection
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.leaning_en import direction, yearless
from shared.domain.temporal.numeric_dates import IMPOSSIBLE, day_atom, refused
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.values import Basis, Interval

_I = re.IGNORECASE


def _month_day(m: re.Match[str], ctx: Context) -> Atom | None:
    said = en.fold(m["d"])
    day = en.ORDINALS.get(said) or int(said.rstrip("stndrh"))
    number = en.MONTHS[m["month"].lower()]
    if m["month"].islower() and number in (3, 5) and not m["y"] and said.isdigit():
        return None
    if m["y"]:
        return day_atom(m, int(m["y"]), number, day)
    if cal.day_of(2024, number, day) is None:
        return refused(m, IMPOSSIBLE)
    return yearless(m, ctx, lambda y: cal.day_of(y, number, day), Grain.DAY)


def _days_of_month(m: re.Match[str], ctx: Context) -> Atom:
    """Read "3 to 5 May 2024" and "May 3-5": both days share the month."""
    first, last, number = int(m["d"]), int(m["d2"]), en.MONTHS[m["month"].lower()]

    def in_year(year: int) -> Interval | None:
        begin, finish = cal.day_of(year, number, first), cal.day_of(year, number, last)
        if begin is None or finish is None:
            return None
        if last < first:
            return Interval(begin.start, None, begin.precision)
        return cal.span(selection.first_day(begin), selection.last_day(finish))

    note = "inverted_range" if last < first else ""
    if in_year(2024) is None:
        return refused(m, IMPOSSIBLE)
    if m["y"]:
        interval = in_year(int(m["y"]))
        if interval is None:
            return refused(m, IMPOSSIBLE)
        return Atom(*m.span("x"), interval, basis=Basis.EXPLICIT, note=note)
    atom = yearless(m, ctx, in_year, Grain.OTHER)
    return Atom(
        atom.start, atom.end, atom.interval, basis=atom.basis, within=atom.within, note=note
    )


def _nth_day(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "the 5th": of the last or next such month by tense; else it has no date."""
    day = int(m["d"])
    if not 1 <= day <= 31:
        return None
    if en.fold(m["lead"]) in ("to", "for", "through") and not _may_close(m, ctx):
        return None
    interval = selection.day_of_month(ctx.today, day, direction(m, ctx))
    return Atom(
        *m.span("x"),
        interval,
        grain=Grain.DAY,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.MONTH, lambda month: selection.day_within(month, day)),),
    )


_DAY = (
    r"(?P<d>\d{1,2}(?:st|nd|rd|th)?|"
    + "|".join(w for w in sorted(en.ORDINALS, key=len, reverse=True) if en.ORDINALS[w] > 0)
    + ")"
)


def _may_close(m: re.Match[str], ctx: Context) -> bool:
    """Tell "moved to the 5th" and "from the 3rd to the 5th" from "up to the 5th floor"."""
    if rescheduling.english(ctx.text, *m.span("x")) is Tense.FUTURE:
        return True
    return _NTH_BEFORE.search(ctx.text, max(0, m.start() - 12), m.start()) is not None


_NTH_BEFORE = re.compile(r"\bthe\s+\d{1,2}(?:st|nd|rd|th)\s$", _I)


def _weekday_nth(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "Friday the 16th": the nearest 16th that is a Friday, where the clause looks."""
    weekday, day = en.WEEKDAYS[m["weekday"].lower()], int(m["d"])
    if not 1 <= day <= 31:
        return None
    if m["lead"] is None and day == 13 and weekday == 4:
        return Atom(*m.span("x"), kind=Kind.VETO)
    step = -1 if direction(m, ctx) is Tense.PAST else 1
    for months in range(4):
        moved = cal.shift_months(ctx.today, step * months)
        found = cal.day_of(moved.year, moved.month, day)
        if found is None:
            continue
        first = selection.first_day(found)
        if first.weekday() == weekday and (first - ctx.today).days * step >= 0:
            return Atom(*m.span("x"), found, grain=Grain.DAY)
    return Atom(*m.span("x"), basis=Basis.UNKNOWN)


_ON = r"on|by|since|until|till|from|before|after|around"


_DAY_ENDS = (
    r"(?=\s*(?:[.,;!?)\n]|$)|\s+(?:of|at|for|with|and|to|in|i|we|he|she|they|it|you|because|so|"
    r"but|this|next|last|when|where|from|until|is|was|my|the|our|please|if|as)\b)"
)


RULES = (
    Rule(
        re.compile(
            rf"(?<![\w.:/$£€-])(?P<x>{_DAY}(?:\s+(?:day\s+)?of)?[\s-]+(?P<month>{en.MONTH})\b\.?"
            rf"(?:[,-]?\s*(?:of\s+)?(?P<y>{en.YEAR})\b(?![:/-]))?)",
            _I,
        ),
        frozenset(en.MONTHS),
        _month_day,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?P<month>{en.MONTH})\b\.?\s+(?:the\s+)?{_DAY}\b(?![:/%]|\.\d){en.COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _month_day,
    ),
    Rule(
        re.compile(
            rf"(?<![\w.:/$£€-])(?P<x>(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:to|-|–|—|and|until|till|through)\s*"
            rf"(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<month>{en.MONTH})\b{en.COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _days_of_month,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?P<month>{en.MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*"
            rf"(?:to|-|–|—|until|till|through)\s*(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b{en.COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _days_of_month,
    ),
    Rule(
        re.compile(
            rf"\b(?P<lead>{_ON}|to|for|through)\s+(?P<x>the\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th))\b{_DAY_ENDS}",
            _I,
        ),
        frozenset({"#1", "#2"}),
        _nth_day,
    ),
    Rule(
        re.compile(
            rf"\b(?:(?P<lead>on)\s+)?(?P<x>(?P<weekday>{en.WEEKDAY}),?\s+(?:the\s+)?"
            r"(?P<d>\d{1,2})(?:st|nd|rd|th))\b(?!\s+(?:of|floor))",
            _I,
        ),
        frozenset({"#1", "#2"}),
        _weekday_nth,
    ),
)
