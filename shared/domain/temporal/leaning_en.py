"""Where an English clause sends what recurs: a month, a festival, a day of the month."""

from __future__ import annotations

import re

from shared.domain.temporal import selection
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.rules import Atom, Context, Grain, Tense
from shared.domain.temporal.values import Basis

_I = re.IGNORECASE


def yearless(
    m: re.Match[str], ctx: Context, by_year: selection.ByYear, grain: Grain, *, rel: str = ""
) -> Atom:
    """Return something that recurs every year, by last/this/next or by the clause's tense."""
    said = en.fold(rel)
    if said in en.BACKWARD:
        interval = selection.latest_before(by_year, ctx.today)
    elif said in en.FORWARD:
        interval = selection.first_after(by_year, ctx.today)
    elif said == "this":
        interval = by_year(ctx.today.year)
    else:
        interval = selection.bare(by_year, ctx.today, direction(m, ctx))
    return Atom(
        *m.span("x"),
        interval,
        grain=grain,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.YEAR, lambda whole: by_year(selection.first_day(whole).year)),),
    )


def direction(m: re.Match[str], ctx: Context) -> Tense:
    """Return the clause's tense; "since" looks back, "by" and a lone present verb ahead."""
    before = ctx.text[max(0, m.start("x") - 48) : m.start("x")]
    if _SINCE.search(before):
        return Tense.PAST
    if _AHEAD.search(before):
        return Tense.FUTURE
    tense = ctx.tense_at(*m.span("x"))
    return Tense.FUTURE if tense is Tense.OPEN and _PRESENT.search(before) else tense


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", _I)
_AHEAD = re.compile(r"\b(?:by|(?:day|week|month)s?\s+from)\s+(?:the\s+)?$", _I)
_PRESENT = re.compile(
    r"(?:\b(?:am|is|are|have|has|opens?|starts?|begins?|ends?|closes?|launch(?:es)?|arrives?|leaves?|comes?|"
    r"happens?|until|till)|['’](?:s|re|m))\b[^.!?;\n]*$",
    _I,
)
