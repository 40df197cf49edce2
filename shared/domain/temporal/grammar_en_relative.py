"""English expressions counted from the mention: day words, parts of day, ago, from now."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from shared.domain.temporal import arithmetic as cal
from shared.domain.temporal import shifting
from shared.domain.temporal import vocabulary_en as en
from shared.domain.temporal.rules import Atom, Context, Grain, Kind, Rule, Tense
from shared.domain.temporal.values import Basis

_I = re.IGNORECASE
_DAY_WORDS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0,
    "tonight": 0, "tonite": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "tomorow": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2,
}  # fmt: skip
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "*": "*", "_": "_"}
_TWO_CAPITALS = re.compile(r"\s+(?!I\b)[A-Z][a-z]+\s+(?!I\b)[A-Z][a-z]")
_CAPITAL = re.compile(r"\s+(?!I\b)[A-Z][a-z]")
_TITLE_LEAD = re.compile(
    r"\b(?:The|Of|Until|USA|(?i:song|movie|film|book|album|called|titled|named|novel|series))$"
)
_NO_PLAN = re.compile(
    r"\b(?:can|could|per|every|once|twice|times|best|first|worst|longest)\b[^.!?;]*$", _I
)


def _day_word(m: re.Match[str], ctx: Context) -> Atom:
    if _is_a_name(m, ctx.text) or m["seems"]:
        return Atom(m.start(), m.end(), kind=Kind.VETO)
    shift = _DAY_WORDS[en.fold(m["word"])]
    atom = _day(m, ctx, shift, part=part_of_day(m["part"], m["word"]))
    return replace(atom, ahead=True) if m["x"].lower().startswith("later") else atom


def _is_a_name(m: re.Match[str], text: str) -> bool:
    """Tell a title from a day: quoted alone, or capitalised inside a row of capitals."""
    start, end = m.span("word")
    if start > 0 and end < len(text) and _QUOTES.get(text[start - 1]) == text[end]:
        return True
    word = m["word"]
    if re.search(r"\b(?:After|Before)\b", word):
        return True
    if not word[0].isupper() or word.isupper():
        return False
    before = text[:start].rstrip(" ")
    if not before or before[-1] in '.!?\n:;…"”)(':
        return _TWO_CAPITALS.match(text, end) is not None
    return bool(_CAPITAL.match(text, end) or _TITLE_LEAD.search(before))


def part_of_day(*words: str | None) -> str:
    """Return the part of the day that some words name, or nothing."""
    said = " ".join(w.lower() for w in words if w)
    for part in ("morning", "afternoon", "evening", "night", "noon"):
        if part in said:
            return part
    return "night" if "toni" in said else ""


def _day(m: re.Match[str], ctx: Context, shift: int, *, part: str = "") -> Atom:
    interval = cal.day(ctx.today + timedelta(days=shift))
    return Atom(*m.span("x"), interval, grain=Grain.DAY, part=part)


def _last_or_this_part(m: re.Match[str], ctx: Context) -> Atom:
    shift = -1 if m["rel"].lower() == "last" else 0
    return _day(m, ctx, shift, part=part_of_day(m["part"]))


def _night_before_last(m: re.Match[str], ctx: Context) -> Atom:
    return _day(m, ctx, -2, part="night")


def _other_day(m: re.Match[str], ctx: Context) -> Atom:
    """Read "the other day" as the labelled data has it: seven to one days before."""
    interval = cal.span(ctx.today - timedelta(days=7), ctx.today - timedelta(days=1))
    return Atom(m.start(), m.end(), interval)


def _ago(m: re.Match[str], ctx: Context) -> Atom:
    if m["open"]:
        return Atom(m.start(), m.end(), basis=Basis.UNKNOWN)
    return _counted(m, ctx, -1)


def _from_now(m: re.Match[str], ctx: Context) -> Atom:
    return _counted(m, ctx, 1)


def _in_units(m: re.Match[str], ctx: Context) -> Atom | None:
    """Read "in two weeks" as a time ahead, unless it tells how long something takes."""
    tense = ctx.tense_at(*m.span("x"))
    unit = en.unit(m["unit"])
    if tense is Tense.PAST or (en.fold(m["n"]) in ("a", "an") and unit in ("minute", "day")):
        return None
    if tense is Tense.OPEN and unit in ("minute", "hour"):
        return None
    if _NO_PLAN.search(ctx.text[max(0, m.start() - 60) : m.start()]):
        return None
    return _counted(m, ctx, 1)


def _counted(m: re.Match[str], ctx: Context, way: int) -> Atom:
    count, unit = en.number(m["n"]), en.unit(m["unit"])
    where = m.span("x")
    if count is None and unit in ("minute", "hour"):
        return Atom(*where, basis=Basis.UNKNOWN)
    if count is None:
        return Atom(*where, shifting.few(ctx.today, unit, ahead=way > 0))
    total = way * (count + 0.5 if m["half"] or m["half2"] else count)
    if unit in ("minute", "hour"):
        return Atom(*where, shifting.instant(ctx.at, unit, total))
    if (m["approx"] or m["loose"]) and unit == "year" and total in (1, -1):
        return Atom(*where, shifting.around_month(ctx.today, 12 * way))
    whole = total == int(total)
    grain = shifting.GRAINS.get(unit, Grain.SEASON) if whole else Grain.OTHER
    return Atom(*where, shifting.by_units(ctx.today, unit, total), grain=grain)


_HALF = r"(?:\s+and\s+a\s+half)"
_COUNT = (
    rf"(?:\b(?P<approx>{en.APPROX})\s+)?(?<![\w.$£€-])(?P<n>{en.NUMBER})(?P<half>{_HALF})?"
    rf"[\s-]+(?P<unit>{en.UNIT})(?P<half2>{_HALF})?(?P<loose>\s+or\s+so)?"
)

RULES = (
    Rule(
        re.compile(
            r"(?P<seems>\blike\s+(?:it\s+was\s+)?(?:just\s+|only\s+)?)?"
            r"\b(?P<x>(?:early\s+|late\s+|earlier\s+|later\s+)?"
            rf"(?P<word>{en.one_of(_DAY_WORDS)})\b(?:\s+(?P<part>{en.PART})\b)?)",
            _I,
        ),
        frozenset(
            {"yesterday", "today", "tonight", "tonite", "tomorrow", "tmrw", "tmr", "tomorow"}
        ),
        _day_word,
    ),
    Rule(
        re.compile(
            r"\b(?P<x>(?:late\s+|early\s+|earlier\s+|later\s+)?(?P<rel>last|this)\s+"
            r"(?:very\s+)?(?P<part>night|evening|morning|afternoon))\b",
            _I,
        ),
        frozenset({"night", "evening", "morning", "afternoon"}),
        _last_or_this_part,
    ),
    Rule(
        re.compile(r"\b(?P<x>(?:the\s+)?night\s+before\s+last)\b", _I),
        frozenset({"night"}),
        _night_before_last,
    ),
    Rule(
        re.compile(r"\bthe\s+other\s+(?:day|night|evening|morning|afternoon)\b", _I),
        frozenset({"other"}),
        _other_day,
    ),
    Rule(
        re.compile(
            rf"(?P<x>(?:\b(?P<open>{en.OPEN_ENDED})\s+)?{_COUNT}\s+"
            r"(?:ago|back(?!\s+(?:to|in|from|at|home|and|on|into|with|up)\b)))\b",
            _I,
        ),
        frozenset({"ago", "back"}),
        _ago,
    ),
    Rule(
        re.compile(
            rf"(?P<x>{_COUNT}\s+(?:from\s+(?:now|today)|hence))\b",
            _I,
        ),
        frozenset({"from", "hence"}),
        _from_now,
    ),
    Rule(
        re.compile(
            rf"\b(?P<x>in\s+{_COUNT}(?:['’]s?\s+time)?)\b(?![\s-]+(?:ago|back|later|before|after|"
            r"old|long|of|from|row|a)\b)(?!\w)",
            _I,
        ),
        frozenset({"in"}),
        _in_units,
    ),
)
