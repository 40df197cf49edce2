"""The grammar's machinery: a rule turns a match into an atom; longest atoms win.

Atoms are the smallest resolved pieces ("tomorrow", "3 pm", "Friday", "last week").
`combination` joins neighbours; both know nothing of a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from shared.domain.temporal.values import Basis, Interval


class Kind(StrEnum):
    """What an atom can do; pending ones count only inside another ("Christmas last year")."""

    TIME = "time"
    CLOCK = "clock"
    OFFSET = "offset"
    PENDING = "pending"
    VETO = "veto"


class Grain(StrEnum):
    """The calendar unit that an atom is, for nesting one in another."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    OTHER = "other"


class Tense(StrEnum):
    """Which way the clause around an expression looks."""

    PAST = "past"
    FUTURE = "future"
    OPEN = "open"


Nest = Callable[[Interval], Interval | None]


@dataclass(frozen=True, slots=True)
class Atom:
    """One piece of time found in a text, with what its neighbours may do to it.

    `within` maps a surrounding grain to how this atom resolves inside it ("Friday" in a
    week, "May" in a year). `apply` is an offset's reading of the atom that follows it.
    `clock` is hour and minute; `half_known` is false for an hour without am or pm. `ahead`
    says that the words themselves point past the mention ("later today").
    """

    start: int
    end: int
    interval: Interval | None = None
    kind: Kind = Kind.TIME
    grain: Grain = Grain.OTHER
    basis: Basis = Basis.RELATIVE
    within: tuple[tuple[Grain, Nest], ...] = ()
    apply: Nest | None = None
    clock: tuple[int, int] | None = None
    half_known: bool = True
    part: str = ""
    ongoing: bool = False
    ahead: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """The text being read and the local time at which it was said."""

    text: str
    at: datetime
    tense_at: Callable[[int, int], Tense]

    @property
    def today(self) -> date:
        """Return the local day of the mention."""
        return self.at.date()


Builder = Callable[["re.Match[str]", Context], Atom | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, the cues without which it cannot match, and what it means.

    Cues are words, or the classes of digits that `words_of` gives; a rule without cues is
    searched for everywhere.
    """

    pattern: re.Pattern[str]
    cues: frozenset[str]
    build: Builder


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text by start, and where each cue stands in them."""

    starts: tuple[int, ...]
    places: dict[str, list[int]]


Find = Callable[[Rule, str], Iterable["re.Match[str]"]]

_REACH = 9
"""Words before its cue at which an expression may begin ("the very end of the ...")."""
_WORD = re.compile(r"[A-Za-z]+|\d+|@")


def words_of(text: str) -> Words:
    """Return the words of a text; runs of digits get the cue "#" and their length too."""
    starts: list[int] = []
    places: dict[str, list[int]] = {}
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word[0].isdigit():
            word = f"#{len(word)}"
        places.setdefault(word, []).append(len(starts))
        starts.append(match.start())
    return Words(tuple(starts), places)


def by_words(text: str) -> Find:
    """Return a search that tries a rule only at the words that lead up to its cues."""
    words = words_of(text)

    def find(rule: Rule, text: str) -> Iterable[re.Match[str]]:
        if not rule.cues:
            yield from rule.pattern.finditer(text)
            return
        seen: set[tuple[int, int]] = set()
        for cue in rule.cues & words.places.keys():
            for place in words.places[cue]:
                match = _leading_to(rule, text, words.starts, place)
                if match is not None and match.span() not in seen:
                    seen.add(match.span())
                    yield match

    return find


def by_characters(text: str) -> Find:
    """Return a search for a script without word boundaries: cues are characters."""
    present = frozenset(text)

    def find(rule: Rule, text: str) -> Iterable[re.Match[str]]:
        if rule.cues and present.isdisjoint(rule.cues):
            return ()
        return rule.pattern.finditer(text)

    return find


def _leading_to(rule: Rule, text: str, starts: tuple[int, ...], place: int) -> re.Match[str] | None:
    for index in range(max(0, place - _REACH), place + 1):
        match = rule.pattern.match(text, starts[index])
        if match is not None and match.end() > starts[place]:
            return match
    return None


def candidates(rules: Iterable[Rule], ctx: Context, find: Find) -> list[Atom]:
    """Return every atom that some rule finds, longest first, then by rule."""
    found: list[Atom] = []
    for rule in rules:
        for match in find(rule, ctx.text):
            atom = _built(rule, match, ctx)
            if atom is not None and atom.end > atom.start:
                found.append(atom)
    found.sort(key=lambda a: a.start - a.end)
    return found


def select(found: Sequence[Atom]) -> list[Atom]:
    """Return the atoms that overlap no earlier one of the list, in text order."""
    taken = bytearray(max((atom.end for atom in found), default=0))
    kept: list[Atom] = []
    for atom in found:
        if not any(taken[atom.start : atom.end]):
            taken[atom.start : atom.end] = b"\x01" * (atom.end - atom.start)
            kept.append(atom)
    kept.sort(key=lambda a: a.start)
    return kept


def _built(rule: Rule, match: re.Match[str], ctx: Context) -> Atom | None:
    try:
        return rule.build(match, ctx)
    except (ValueError, OverflowError):
        # Arithmetic left the calendar (year 0 or 10000): the words stay, without a date.
        return Atom(match.start(), match.end(), basis=Basis.UNKNOWN, note="out_of_calendar")
