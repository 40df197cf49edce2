"""`resolve`: from a text and the time it was said to its time expressions, in text order.

Deterministic, total and without a model: both languages are read, their atoms joined, and
each result gets its status as seen from the mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.temporal import (
    grammar_en_calendar,
    grammar_en_dates,
    grammar_en_named,
    grammar_en_offsets,
    grammar_en_periods,
    grammar_en_relative,
    grammar_en_weekdays,
    grammar_zh,
    grammar_zh_calendar,
    grammar_zh_counted,
    numeric_dates,
    tense,
)
from shared.domain.temporal.combination import Glue, combine
from shared.domain.temporal.rules import (
    Atom,
    Context,
    Find,
    Rule,
    Tense,
    by_characters,
    by_words,
    candidates,
    select,
)
from shared.domain.temporal.selection import first_day, last_day
from shared.domain.temporal.values import (
    Basis,
    Interval,
    Precision,
    TemporalStatus,
    TimeExpression,
)
from shared.domain.temporal.zones import local

# One character for one, so that spans hold in the text as it came: full-width letters and
# digits, other blanks, and the four letters that case-insensitive patterns take for ASCII.
_PLAIN = {
    **{wide: wide - 0xFEE0 for wide in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B))},
    **{wide: wide - 0xFEE0 for wide in (*range(0xFF41, 0xFF5B), 0xFF0D, 0xFF0F)},
    **dict.fromkeys((0x00A0, 0x2007, 0x202F, 0x3000), " "),
    0x0130: "I",
    0x0131: "i",
    0x017F: "s",
    0x212A: "K",
}
_HAN = re.compile(r"[\u3400-\u9fff]")

_Read = tuple[Atom, Tense]


@dataclass(frozen=True, slots=True)
class _Language:
    """What reading one language takes."""

    rules: tuple[Rule, ...]
    glue: Glue
    find: Callable[[str], Find]
    tense: tense.Cues
    bounded: Callable[[Atom, str], Atom]


_OUTSIDE = re.compile(r"\b(?:before|after|prior\s+to)\s+(?:the\s+)?$", re.IGNORECASE)
_OUTSIDE_ZH = re.compile(
    r"(?:之|以)[前后](?![^，。！？]{0,3}[来到])|[前后](?=[，。,.]|[要得把完交必])"
)
_SINCE = re.compile(r"\b(?:since|ever\s+since)\s+(?:the\s+)?$", re.IGNORECASE)
_FROM_ZH = re.compile(r"[从自打]$")
_SINCE_ZH = re.compile(r"(?:以来|起(?!来)|开始(?!时)|至今|到现在)")


def resolve(text: str, mentioned_at: datetime, zone: str) -> list[TimeExpression]:
    """Return the time expressions of a text, in text order, not overlapping.

    `mentioned_at` is the aware instant at which the text was said, `zone` the IANA name or
    offset it was said in: "yesterday" is a day of that zone. Words that tell of time but
    give no date come back with precision `unknown`. Raises InvalidInput for a naive
    instant or an unknown zone, never for a text.
    """
    at = local(mentioned_at, zone)
    plain = text.translate(_PLAIN)
    found = _read(plain, at, _ENGLISH)
    if _HAN.search(plain):
        found = _merged(_read(plain, at, _CHINESE), found)
    return [_expression(text, atom, at, direction) for atom, direction in found]


def _read(text: str, at: datetime, language: _Language) -> list[_Read]:
    tense_at = tense.reader(text, language.tense)
    ctx = Context(text, at, tense_at)
    joined = combine(candidates(language.rules, ctx, language.find(text)), language.glue, ctx)
    return [(language.bounded(atom, text), tense_at(atom.start, atom.end)) for atom in joined]


def _bounded(atom: Atom, text: str) -> Atom:
    """Treat "before Friday" and "since 2019" as what they say: open, and lasting."""
    before = text[max(0, atom.start - 16) : atom.start]
    if _OUTSIDE.search(before):
        return Atom(atom.start, atom.end, basis=Basis.UNKNOWN, note="open_bound")
    if _SINCE.search(before) and not atom.ongoing:
        return replace(atom, ongoing=True)
    return atom


def _bounded_zh(atom: Atom, text: str) -> Atom:
    """Treat 周五之前 and 从2019年起 as what they say: open, and lasting."""
    if _OUTSIDE_ZH.match(text, atom.end):
        return Atom(atom.start, atom.end, basis=Basis.UNKNOWN, note="open_bound")
    led = _FROM_ZH.search(text, max(0, atom.start - 3), atom.start)
    since = _SINCE_ZH.match(text, atom.end)
    if since and (led or since[0] != "开始") and not atom.ongoing:
        return replace(atom, ongoing=True)
    return atom


def _merged(first: list[_Read], second: list[_Read]) -> list[_Read]:
    """Return all of the first and what of the second overlaps none of it, in text order."""
    chosen = {id(atom) for atom in select([atom for atom, _ in first + second])}
    kept = [pair for pair in first + second if id(pair[0]) in chosen]
    return sorted(kept, key=lambda pair: pair[0].start)


def _expression(text: str, atom: Atom, at: datetime, direction: Tense) -> TimeExpression:
    interval = atom.interval
    if interval is None:
        precision, basis, start, end = Precision.UNKNOWN, Basis.UNKNOWN, None, None
    else:
        precision, basis = interval.precision, atom.basis
        start, end = interval.start, interval.end
    return TimeExpression(
        start=start,
        end=end,
        precision=precision,
        basis=basis,
        status=_status(atom, at, direction),
        original_text=text[atom.start : atom.end],
        span=(atom.start, atom.end),
        note=atom.note,
    )


def _status(atom: Atom, at: datetime, direction: Tense) -> TemporalStatus:
    interval = atom.interval
    if atom.ongoing:
        return TemporalStatus.ONGOING
    if atom.ahead:
        return TemporalStatus.PLANNED
    if interval is not None and _is_past(interval, at):
        return TemporalStatus.OCCURRED
    if interval is not None and _is_ahead(interval, at):
        return TemporalStatus.PLANNED
    by_tense = {Tense.PAST: TemporalStatus.OCCURRED, Tense.FUTURE: TemporalStatus.PLANNED}
    return by_tense.get(direction, TemporalStatus.UNKNOWN)


def _is_past(interval: Interval, at: datetime) -> bool:
    if isinstance(interval.end, datetime):
        return interval.end <= at
    return last_day(interval) < at.date()


def _is_ahead(interval: Interval, at: datetime) -> bool:
    if isinstance(interval.start, datetime):
        return interval.start > at
    return first_day(interval) > at.date()


_ENGLISH = _Language(
    rules=(
        *numeric_dates.RULES,
        *grammar_en_relative.RULES,
        *grammar_en_periods.RULES,
        *grammar_en_weekdays.RULES,
        *grammar_en_dates.RULES,
        *grammar_en_calendar.RULES,
        *grammar_en_named.RULES,
        *grammar_en_offsets.RULES,
    ),
    glue=Glue(
        nest=re.compile(r",?\s*(?:(?:of|in|on|at|during)\s+)?(?:the\s+)?", re.IGNORECASE),
        clock=re.compile(r",?\s*(?:(?:at|on|around|about|by|@|from)\s+)?", re.IGNORECASE),
        until=re.compile(
            r"\s*(?:to|-|–|—|until|till|through|thru|and|up\s+to)\s*(?:the\s+)?", re.IGNORECASE
        ),
        offset=re.compile(r"\s+(?:the\s+)?", re.IGNORECASE),
    ),
    find=by_words,
    tense=tense.ENGLISH,
    bounded=_bounded,
)
_CHINESE = _Language(
    rules=(
        *numeric_dates.RULES,
        *grammar_zh.RULES,
        *grammar_zh_counted.RULES,
        *grammar_zh_calendar.RULES,
    ),
    glue=Glue(
        nest=re.compile(r"\s*的?\s*"),
        clock=re.compile(r"\s*的?，?\s*"),
        until=re.compile(r"\s*(?:到|至|~|～|-|–|—|和|跟|与)\s*"),
        offset=re.compile(r"(?!)"),
    ),
    find=by_characters,
    tense=tense.CHINESE,
    bounded=_bounded_zh,
)
