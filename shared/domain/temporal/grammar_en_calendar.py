"""English months, years, seasons, decades and quarters."""

from __future__ import annotations

import re
from datetime import date

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import selection
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.leaning_en import yearless
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.values import Basis, Interval

_I = re.IGNORECASE


_PEOPLE = frozenset({"april", "may", "june", "march", "august", "jan", "mar"})


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


def _short_year(m: re.Match[str], ctx: Context) -> Atom:
    """Read "back in '09"."""
    whole = cal.year(_century(m["y"], ctx))
    return Atom(*m.span("x"), whole, grain=Grain.YEAR, basis=Basis.EXPLICIT)


def _century(digits: str, ctx: Context) -> int:
    """Return the year of two digits that lies at most ten years past the mention."""
    year = ctx.today.year // 100 * 100 + int(digits)
    return year - 100 if year > ctx.today.year + 10 else year


def _years(m: re.Match[str], _ctx: Context) -> Atom | None:
    first, last = cal.year(int(m["y"])), cal.year(int(m["y2"]))
    if selection.first_day(last) <= selection.first_day(first):
        return None
    span = cal.span(selection.first_day(first), selection.last_day(last))
    return Atom(*m.span("x"), span, basis=Basis.EXPLICIT)


def _season(m: re.Match[str], ctx: Context) -> Atom | None:
    name = en.SEASONS[m["season"].lower()]
    if m["y"]:
        year = int(m["y"]) if len(m["y"]) == 4 else _century(m["y"][-2:], ctx)
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


_LEAD = (
    r"in|since|by|until|till|during|from|of|around|back\s+in|for|through|between|to|and|"
    r"before|after"
)


RULES = (
    Rule(
        re.compile(
            rf"\b(?:(?P<lead>{_LEAD})\s+(?:the\s+month\s+of\s+)?)?"
            rf"(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?:(?P<rel>{en.BACK}|{en.AHEAD}|this)\s+)?"
            rf"\b(?P<month>{en.MONTH})\b(?!['’]s\b)(?:\.(?=\s+\d))?{en.COMMA_YEAR})(?!\s+\d{{1,2}}\b(?!:))",
            _I,
        ),
        frozenset(en.MONTHS),
        _month,
    ),
    Rule(
        re.compile(
            rf"(?:(?<!class )\b(?:{_LEAD}|circa)\s+(?:the\s+year\s+)?|\bthe\s+year\s+|"
            rf"(?=(?:early|late|mid)\b)|(?<!\w )(?={en.YEAR}\s+(?:was|is|has\s+been|will\s+be)\b))"
            rf"(?P<x>(?:(?P<edge>{en.EDGE})[\s-]+)?(?<![\w.:/$#-])(?P<y>(?:19|20)\d{{2}}))\b(?![:/%]|[.,-]\d|\s*(?:to|-|–)\s*\d{{1,3}}\b)",
            _I,
        ),
        frozenset({"#4"}),
        _year,
    ),
    Rule(
        re.compile(rf"\b(?:{_LEAD})\s+(?P<x>['’](?P<y>\d{{2}}))\b(?!['’]?s\b)", _I),
        frozenset({"#2"}),
        _short_year,
    ),
    Rule(
        re.compile(
            r"(?<![\w.:/$#-])(?P<x>(?P<y>(?:19|20)\d{2})\s*(?:[-–—]|to)\s*(?P<y2>(?:19|20)\d{2}))"
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
            rf"(?:,?\s+(?:of\s+)?(?P<y>{en.YEAR}))?)\b",
            _I,
        ),
        frozenset({"q", "quarter"}),
        _quarter,
    ),
)
