"""English calendar names: dates, months, years, seasons, decades, quarters, holidays."""

from __future__ import annotations

import re
from datetime import date, timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import selection
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.numeric_dates import IMPOSSIBLE, day_atom, refused
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.values import Basis, Interval

_I = re.IGNORECASE
ByYear = selection.ByYear
_PEOPLE = frozenset({"april", "may", "june", "march", "august", "jan", "mar"})


def yearless(
    m: re.Match[str], ctx: Context, by_year: ByYear, grain: Grain, *, rel: str = ""
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
        interval = selection.bare(by_year, ctx.today, _direction(m, ctx))
    return Atom(
        *m.span("x"),
        interval,
        grain=grain,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.YEAR, lambda whole: by_year(selection.first_day(whole).year)),),
    )


def _direction(m: re.Match[str], ctx: Context) -> Tense:
    """Return the clause's tense; "since" looks back, and a present verb without past ahead."""
    before = ctx.text[max(0, m.start("x") - 48) : m.start("x")]
    if _SINCE.search(before):
        return Tense.PAST
    tense = ctx.tense_at(*m.span("x"))
    return Tense.FUTURE if tense is Tense.OPEN and _PRESENT.search(before) else tense


_SINCE = re.compile(r"\bsince\s+(?:the\s+)?$", _I)
_PRESENT = re.compile(
    r"(?:\b(?:is|are|opens?|starts?|begins?|ends?|closes?|launch(?:es)?|arrives?|leaves?|comes?|"
    r"happens?|by|until|till)|['’](?:s|re))\b[^.!?;\n]*$",
    _I,
)


def _month_day(m: re.Match[str], ctx: Context) -> Atom | None:
    said = en.fold(m["d"])
    day = en.ORDINALS.get(said) or int(said.rstrip("stndrh"))
    number = en.MONTHS[m["month"].lower()]
    if m["month"].islower() and number in (3, 5) and not m["y"] and said.isdigit():
        return None
    if m["y"]:
        return day_atom(m, int(m["y"]), number, day)
    if day_of(2024, number, day) is None:
        return refused(m, IMPOSSIBLE)
    return yearless(m, ctx, lambda y: day_of(y, number, day), Grain.DAY)


def day_of(year: int, month: int, day: int) -> Interval | None:
    """Return a day of a year, None where the year lacks it (29 February)."""
    last = cal.month(year, month).end
    if last is None or day > last.day:
        return None
    return cal.day(date(year, month, day))


def _days_of_month(m: re.Match[str], ctx: Context) -> Atom:
    """Read "3 to 5 May 2024" and "May 3-5": both days share the month."""
    first, last, number = int(m["d"]), int(m["d2"]), en.MONTHS[m["month"].lower()]

    def in_year(year: int) -> Interval | None:
        begin, finish = day_of(year, number, first), day_of(year, number, last)
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


def _month(m: re.Match[str], ctx: Context) -> Atom | None:
    number = en.MONTHS[m["month"].lower()]
    led = m["rel"] or m["edge"] or m["lead"]
    if not m["y"] and _doubtful(m, ctx, led):
        return None
    part = en.edge(m["edge"]) if m["edge"] else ""

    def in_year(year: int) -> Interval:
        whole = cal.month(year, number)
        return cal.part_of(whole, part) if part else whole

    grain = Grain.OTHER if part else Grain.MONTH
    if m["y"]:
        return Atom(*m.span("x"), in_year(int(m["y"])), grain=grain, basis=Basis.EXPLICIT)
    return yearless(m, ctx, in_year, grain, rel=m["rel"] or "")


_VERB_NEXT = re.compile(
    r"\s+(?:be|have|not|seem|help|sound|well|also|take|need|want|look|get|go|come|feel|cause|"
    r"find|just|even|still|never|or|as)\b"
)


def _doubtful(m: re.Match[str], ctx: Context, led: str | None) -> bool:
    """Tell whether a month's name may be a verb, a person or another short word here."""
    word = m["month"]
    said = word.lower()
    only_led = m["lead"] and not (m["rel"] or m["edge"])
    if only_led and said in _PEOPLE and not _leads_a_month(m, ctx.text):
        return True
    if not led:
        return said in _PEOPLE or len(said) < 5 or word.islower()
    if said in ("may", "march", "mar") and word.islower():
        return m["lead"] is None or en.fold(m["lead"]) not in ("in", "since", "until", "of")
    if len(said) < 5 and said not in ("may", "june", "july") and word.islower():
        return en.fold(led) not in ("in", "last", "next", "since", "early", "late")
    return said == "may" and _VERB_NEXT.match(ctx.text, m.end("month")) is not None


_SPAN_BEFORE = re.compile(rf"(between\s+[\w ]*)?\b{en.MONTH}\b[\w ,.]{{0,8}}$", _I)
_SPAN_AFTER = re.compile(r"[\s,]*\d{0,4}\s+(?:to|until|till|through|on|onwards?)\b", _I)


def _leads_a_month(m: re.Match[str], text: str) -> bool:
    """Tell "from June to August" and "in June" from "a gift from June" and "and June"."""
    lead = en.fold(m["lead"])
    if lead in ("and", "to", "through"):
        opened = _SPAN_BEFORE.search(text, max(0, m.start() - 40), m.start())
        return opened is not None and (lead != "and" or opened[1] is not None)
    if lead in ("from", "for", "after", "of"):
        return _SPAN_AFTER.match(text, m.end()) is not None or lead == "of"
    return True


_THINGS = re.compile(
    r"[\s-]*(?:people|persons|users|steps|miles|km|meters|metres|calories|words|dollars|euros|"
    r"bucks|pounds|points|items|pages|pieces|times|units|rows|files|tokens|requests|square|sq|"
    r"%|percent|k\b|mb|gb|rpm|watts?|ml|kg|lbs?|hours|minutes|days|seconds|employees|students)",
    _I,
)


def _year(m: re.Match[str], ctx: Context) -> Atom | None:
    if _THINGS.match(ctx.text, m.end()):
        return None
    whole = cal.year(int(m["y"]))
    edge = m["edge"]
    interval = cal.part_of(whole, en.edge(edge)) if edge else whole
    grain = Grain.OTHER if edge else Grain.YEAR
    return Atom(*m.span("x"), interval, grain=grain, basis=Basis.EXPLICIT)


def _years(m: re.Match[str], _ctx: Context) -> Atom | None:
    first, last = cal.year(int(m["y"])), cal.year(int(m["y2"]))
    if selection.first_day(last) <= selection.first_day(first):
        return None
    span = cal.span(selection.first_day(first), selection.last_day(last))
    return Atom(*m.span("x"), span, basis=Basis.EXPLICIT)


def _season(m: re.Match[str], ctx: Context) -> Atom | None:
    name = en.SEASONS[m["season"].lower()]
    if m["y"]:
        year = int(m["y"]) if len(m["y"]) == 4 else 2000 + int(m["y"][-2:])
        return Atom(*m.span("x"), cal.season(year, name), grain=Grain.SEASON, basis=Basis.EXPLICIT)
    if not m["lead"]:
        within = ((Grain.YEAR, lambda y: cal.season(selection.first_day(y).year, name)),)
        return Atom(*m.span("x"), kind=Kind.PENDING, within=within)
    tense = ctx.tense_at(*m.span("x"))
    if tense is Tense.OPEN:
        return None
    return yearless(m, ctx, lambda y: cal.season(y, name), Grain.SEASON)


def _decade(m: re.Match[str], _ctx: Context) -> Atom:
    written = m["d"]
    first = int(written[-2:]) + 1900 if len(written) < 4 else int(written)
    whole = cal.decade(first)
    if not m["edge"]:
        return Atom(*m.span("x"), whole, basis=Basis.EXPLICIT)
    begin, end = {"early": (0, 3), "mid": (3, 6), "late": (7, 9)}[en.edge(m["edge"])]
    span = cal.span(date(first + begin, 1, 1), date(first + end, 12, 31))
    return Atom(*m.span("x"), span, basis=Basis.EXPLICIT)


def _quarter(m: re.Match[str], ctx: Context) -> Atom | None:
    number = int(m["q"]) if m["q"] else en.ORDINALS[m["word"].lower()]
    if m["y"]:
        interval = cal.quarter(int(m["y"]), number)
        return Atom(*m.span("x"), interval, basis=Basis.EXPLICIT)
    if m["word"]:
        return None
    return yearless(m, ctx, lambda y: cal.quarter(y, number), Grain.OTHER)


def _nth_day(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "the 5th": of the last or next such month by tense; else it has no date."""
    day = int(m["d"])
    if not 1 <= day <= 31:
        return None
    tense = ctx.tense_at(*m.span("x"))
    interval = None
    if tense is not Tense.OPEN:
        step = -1 if tense is Tense.PAST else 1
        for months in range(4):
            moved = cal.shift_months(ctx.today, step * months)
            found = day_of(moved.year, moved.month, day)
            if found and (selection.first_day(found) - ctx.today) * step >= timedelta(0):
                interval = found
                break
    return Atom(
        *m.span("x"),
        interval,
        grain=Grain.DAY,
        basis=Basis.RELATIVE if interval else Basis.UNKNOWN,
        within=((Grain.MONTH, lambda month: _in_month(month, day)),),
    )


def _in_month(month: Interval, day: int) -> Interval | None:
    begin = selection.first_day(month)
    return day_of(begin.year, begin.month, day)


_YEAR = r"(?:1[89]|20)\d{2}"
_DAY = (
    r"(?P<d>\d{1,2}(?:st|nd|rd|th)?|"
    + "|".join(w for w in sorted(en.ORDINALS, key=len, reverse=True) if en.ORDINALS[w] > 0)
    + ")"
)
_COMMA_YEAR = rf"(?:,?\s+(?:of\s+)?(?P<y>{_YEAR})\b(?![:/-]))?"
_LEAD = (
    r"in|since|by|until|till|during|from|of|around|back\s+in|for|through|between|to|and|"
    r"before|after"
)
_ON = r"on|by|since|until|till|from|before|after|around"
_DAY_ENDS = (
    r"(?=\s*(?:[.,;!?)\n]|$)|\s+(?:of|at|for|with|and|to|in|i|we|he|she|they|it|you|because|so|"
    r"but|this|next|last|when|where|from|until|is|was|my|the|our|please|if|as)\b)"
)

RULES = (
    Rule(
        re.compile(
            rf"(?<![\w.:/$£€-])(?P<x>{_DAY}(?:\s+(?:day\s+)?of)?[\s-]+(?P<month>{en.MONTH})\b\.?"
            rf"(?:[,-]?\s*(?:of\s+)?(?P<y>{_YEAR})\b(?![:/-]))?)",
            _I,
        ),
        frozenset(en.MONTHS),
        _month_day,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?P<month>{en.MONTH})\b\.?\s+(?:the\s+)?{_DAY}\b(?![:/%]|\.\d){_COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _month_day,
    ),
    Rule(
        re.compile(
            rf"(?<![\w.:/$£€-])(?P<x>(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:to|-|–|—|and|until|till|through)\s*"
            rf"(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<month>{en.MONTH})\b{_COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _days_of_month,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?P<month>{en.MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s*"
            rf"(?:to|-|–|—|until|till|through)\s*(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b{_COMMA_YEAR})",
            _I,
        ),
        frozenset(en.MONTHS),
        _days_of_month,
    ),
    Rule(
        re.compile(
            rf"\b(?:(?P<lead>{_LEAD})\s+(?:the\s+month\s+of\s+)?)?"
            rf"(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?:(?P<rel>{en.BACK}|{en.AHEAD}|this)\s+)?"
            rf"\b(?P<month>{en.MONTH})\b(?!['’]s\b)(?:\.(?=\s+\d))?{_COMMA_YEAR})(?!\s+\d{{1,2}}\b(?!:))",
            _I,
        ),
        frozenset(en.MONTHS),
        _month,
    ),
    Rule(
        re.compile(
            rf"(?:(?<!class )\b(?:{_LEAD}|circa)\s+(?:the\s+year\s+)?|\bthe\s+year\s+|"
            rf"(?=(?:early|late|mid)\b)|(?<!\w )(?={_YEAR}\s+(?:was|is|has\s+been|will\s+be)\b))"
            rf"(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?<![\w.:/$#-])(?P<y>(?:19|20)\d{{2}}))\b(?![:/%]|[.,-]\d|\s*(?:to|-|–)\s*\d{{1,3}}\b)",
            _I,
        ),
        frozenset({"#4"}),
        _year,
    ),
    Rule(
        re.compile(
            r"(?<![\w.:/$#-])(?P<x>(?P<y>(?:19|20)\d{2})\s*[-–—]\s*(?P<y2>(?:19|20)\d{2}))"
            r"\b(?![-/:%]|\.\d)"
        ),
        frozenset({"#4"}),
        _years,
    ),
    Rule(
        re.compile(
            rf"\b(?:(?P<lead>in|during|over|since|by|until|till|for)\s+(?:the\s+)?)?"
            rf"(?P<x>(?P<season>{en.SEASON})(?:,?\s+(?:of\s+)?(?P<y>(?:19|20)\d{{2}}|['’]\d{{2}}))?)\b"
            r"(?!\s+(?:for|in\s+love|rolls?|onions?|off|apart|asleep|behind|down|into|on\b|to\b|out\b|cleaning))",
            _I,
        ),
        frozenset(en.SEASONS),
        _season,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?:the\s+)?['’]?(?<![\w.$])(?P<d>(?:19|20)\d0|[5-9]0)['’]?s)\b",
            _I,
        ),
        frozenset({"#2", "#4"}),
        _decade,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?:Q(?P<q>[1-4])|(?:the\s+)?(?P<word>first|second|third|fourth)\s+quarter)"
            rf"(?:,?\s+(?:of\s+)?(?P<y>{_YEAR}))?)\b",
            _I,
        ),
        frozenset({"q", "quarter"}),
        _quarter,
    ),
    Rule(
        re.compile(rf"\b(?:{_ON})\s+(?P<x>the\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th))\b{_DAY_ENDS}", _I),
        frozenset({"#1", "#2"}),
        _nth_day,
    ),
)
