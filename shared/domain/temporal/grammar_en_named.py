"""English holidays, clock times, lasting states, vague words and words that only look like time."""

from __future__ import annotations

import re

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.festivals import ENGLISH as FESTIVALS
from shared.domain.temporal.leaning_en import yearless
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.values import Basis

_I = re.IGNORECASE


def _festival(m: re.Match[str], ctx: Context) -> Atom | None:
    by_year = FESTIVALS[en.fold(m["name"])]
    if m["y"]:
        interval = by_year(int(m["y"]))
        return Atom(
            *m.span("x"),
            interval,
            grain=Grain.DAY,
            basis=Basis.EXPLICIT if interval else Basis.UNKNOWN,
        )
    atom = yearless(m, ctx, by_year, Grain.DAY, rel=m["rel"] or "")
    if not m["rel"] and ctx.tense_at(*m.span("x")) is Tense.OPEN:
        return Atom(atom.start, atom.end, kind=Kind.PENDING, within=atom.within)
    return atom


# A present perfect: "have" before a participle, not "have a visa", "had been", "will have been".
_PERFECT = re.compile(
    r"(?:['’]ve|(?<!\bwill )(?<!\bcould )(?<!\bwould )(?<!\bshould )(?<!\bmust )(?<!\bto )"
    r"(?<!['’]ll )\b(?:have|has)(?:n['’]?t)?|(?:(?<=\w)['’]s)(?=\s+(?:\w+ly\s+|not\s+)?been\b)|"
    r"(?:^|[.!?;,]\s*|\bi\s+|\bwe\s+)(?=been\b))"
    r"(?:\s*(?:i|you|we|they|he|she|it|not|never|always|also|only|just|all|both|now|already|\w+ly)\b)*"
    r"\s*(?:been|had|known|kept|held|taught|felt|led|run|worn|done|gone|seen|heard|met|read|made|"
    r"spent|built|slept|come|become|taken|given|grown|driven|written|sung|drunk|eaten|flown|"
    r"(?!need|red\b|bed\b)[a-z]{2,}ed)\b[^.!?;\n]*$",
    _I,
)
_BEEN = re.compile(
    r"\bbeen(?:\s+(?:about|around|almost|nearly|roughly|like|just|only|already|at|least|now|a|good|"
    r"solid|full|whole))*\s*$",
    _I,
)


_STILL = re.compile(r"\s+(?:now|already|and\s+counting|strong)\b", _I)


def _lasting(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "have had it for three years" as the calendar unit in which it began."""
    clause = ctx.text[max(0, m.start() - 120) : m.start()]
    still = _STILL.match(ctx.text, m.end())
    perfect = _PERFECT.search(clause)
    if not still and not (perfect and (m["for"] or _BEEN.search(clause))):
        return None
    count, unit = en.number(m["n"]), en.unit(m["unit"])
    if unit in ("minute", "hour", "weekend") or unit in cal.SEASON_START:
        return None
    if m["open"]:
        return Atom(*m.span("x"), basis=Basis.UNKNOWN, ongoing=True)
    if count is None:
        return Atom(*m.span("x"), shifting.few(ctx.today, unit, ahead=False), ongoing=True)
    return Atom(*m.span("x"), shifting.by_units(ctx.today, unit, -count), ongoing=True)


def _since_then(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "it's been two weeks since we met" as "two weeks ago": when the meeting was."""
    count, unit = en.number(m["n"]), en.unit(m["unit"])
    if unit in ("minute", "hour", "weekend") or unit in cal.SEASON_START:
        return None
    if count is None:
        return Atom(*m.span("x"), shifting.few(ctx.today, unit, ahead=False))
    return Atom(*m.span("x"), shifting.by_units(ctx.today, unit, -count))


def _clock(m: re.Match[str], _ctx: Context) -> Atom | None:
    if m["name"]:
        return Atom(*m.span("x"), kind=Kind.CLOCK, clock=(12, 0))
    hour, minute = int(m["h"]), int(m["min"] or 0)
    half = (m["half"] or "").lower().replace(".", "")
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    elif not (m["min"] or m["oclock"] or m["at"]):
        return None
    known = bool(half) or hour > 12 or hour == 0
    part = en.fold(m["part"] or "")
    return Atom(*m.span("x"), kind=Kind.CLOCK, clock=(hour, minute), half_known=known, part=part)


def _unknown(m: re.Match[str], _ctx: Context) -> Atom:
    return Atom(*m.span("x"), basis=Basis.UNKNOWN)


def _veto(m: re.Match[str], _ctx: Context) -> Atom:
    return Atom(*m.span(), kind=Kind.VETO)


_NOT_NOUN = (
    r"(?!['’]?s?\s+(?:trees?|part(?:y|ies)|dinners?|gifts?|presents?|cards?|lights?|songs?|"
    r"decorations?|music|movies?|costumes?|cookies?|carols?|sweaters?|markets?|shopping|spirit|"
    r"eggs?|bunny|season|break|vacation|holidays?|themed|vibes?|candy|ornaments?|island|stor(?:y|ies))\b)"
)


_UNIT_WORDS = frozenset(en.UNITS) | frozenset(f"{w}s" for w in en.UNITS)


_PARTS = r"morning|afternoon|evening|night"


RULES = (
    Rule(
        re.compile(
            rf"\b(?P<x>(?:(?P<rel>{en.BACK}|{en.AHEAD}|this)\s+)?(?P<name>{en.FESTIVAL})(?:,?\s+(?:of\s+)?"
            rf"(?P<y>(?:19|20)\d{{2}}))?)\b{_NOT_NOUN}",
            _I,
        ),
        frozenset(w.split()[0].split("'")[0].split("-")[0].rstrip(".") for w in FESTIVALS),
        _festival,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>(?P<for>for\s+)?(?:(?:about|around|almost|nearly|roughly|the\s+last|the\s+past|(?P<open>{en.OPEN_ENDED}))\s+)?"
            rf"(?<![\w.$-])(?P<n>{en.NUMBER})\s+(?P<unit>{en.DATE_UNIT}))\b(?!\s+(?:ago|old|back|later|from|before|after|of|since)\b)",
            _I,
        ),
        _UNIT_WORDS,
        _lasting,
    ),
    Rule(
        re.compile(
            rf"(?:\bbeen|['’]s|\bis|\bwas)\s+(?:about\s+|almost\s+|nearly\s+|around\s+)?"
            rf"(?P<x>(?P<n>{en.NUMBER})\s+(?P<unit>{en.DATE_UNIT}))\s+since\b",
            _I,
        ),
        frozenset({"since"}),
        _since_then,
    ),
    Rule(
        re.compile(
            r"(?<![\w.:/$-])(?P<x>(?:(?P<at>at|@)\s+(?:around\s+|about\s+)?)?(?:(?P<name>noon|midday)\b|"
            r"(?P<h>\d{1,2})(?::(?P<min>\d{2})(?::\d{2})?)?(?:\s*(?P<half>[ap]\.?m\b\.?)|(?P<oclock>\s*o['’]clock)\b)?"
            rf"(?![\w:/%]|\.\d|\s*(?:UTC|GMT|[ECMP][SD]T|BST|CES?T|JST)\b|\s*(?:%|percent|years?|months?|weeks?|days?|hours?|km|miles?))(?:\s+(?:in\s+the|at)\s+(?P<part>{_PARTS})\b)?))",
            _I,
        ),
        frozenset({"#1", "#2", "noon", "midday"}),
        _clock,
    ),
    Rule(
        re.compile(
            r"\b(?P<x>recently|lately|someday|some\s+day|one\s+of\s+these\s+days|sometime(?:\s+soon)?|"
            r"(?:very\s+|pretty\s+)?soon|eventually|"
            r"(?:quite\s+)?a\s+(?:long\s+)?(?:while|time)\s+(?:ago|back)|(?:some|long)\s+time\s+ago|long\s+ago|ages\s+ago|"
            r"(?:many\s+|some\s+|a\s+number\s+of\s+)?(?:days|weeks|months|years|decades)\s+(?:ago|back)|"
            r"back\s+in\s+the\s+day|in\s+the\s+(?:near\s+)?(?:future|past)|the\s+other\s+(?:week|month|year))\b",
            _I,
        ),
        frozenset(
            {
                "recently",
                "lately",
                "someday",
                "some",
                "one",
                "sometime",
                "soon",
                "eventually",
                "ago",
                "back",
                "in",
                "other",
            }
        ),
        _unknown,
    ),
    Rule(
        re.compile(
            r"\b(?:every|each|most|all|any|on)\s+(?:other\s+)?(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|"
            r"sundays?|weekends?|week|month|year|days?|morning|evening|night|summers?|winters?|springs?|christmas|halloween)"
            r"(?:\s+(?:morning|afternoon|evening|night)s?)?(?<=[s])\b"
            r"|\b(?:every|each|most|any)\s+(?:single\s+|other\s+|last\s+)?\w+(?:\s+(?:morning|afternoon|evening|night)s?)?\b"
            rf"|\b(?:the|that|a)\s+(?:next|following|previous|same|very\s+next)\s+(?:{en.DATE_UNIT}|morning|afternoon|{en.WEEKDAY})\b"
            r"|\b\d{1,2}(?::\d{2})?\s*(?:to|-|–|and)\s*\d{1,2}(?::\d{2})?\s*[ap]\.?m\b"
            r"|\bone\s+day\b|\bthese\s+days\b|\bnext\s+time\b|\blast\s+time\b|\bsecond\s+nature\b",
            _I,
        ),
        frozenset(
            {
                "am",
                "pm",
                "every",
                "each",
                "most",
                "all",
                "any",
                "on",
                "next",
                "following",
                "previous",
                "same",
                "one",
                "these",
                "last",
                "second",
            }
        ),
        _veto,
    ),
    Rule(
        re.compile(
            rf"\b(?:{en.WEEKDAY})\s+(?:mornings|afternoons|evenings|nights)\b|\b(?:{en.NUMBER})\s+(?:{en.DATE_UNIT})\s+(?:later|earlier|before\s+that|after\s+that)\b",
            _I,
        ),
        frozenset(
            {"mornings", "afternoons", "evenings", "nights", "later", "earlier", "before", "after"}
        ),
        _veto,
    ),
)
