"""The grammar's machinery: a rule turns a match into an atom; longest atoms win.

Atoms are the smallest resolved pieces ("tomorrow", "3 pm", "Friday", "last week").
`combination` joins neighbours; both know nothing of a language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
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
    `clock` is hour and minute; `half_known` is false for an hour without am or pm.
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
    """A pattern, the words without which it cannot match, and what it means."""

    pattern: re.Pattern[str]
    cues: frozenset[str]
    build: Builder


def atoms(rules: Iterable[Rule], ctx: Context, words: frozenset[str]) -> list[Atom]:
    """Return the non-overlapping atoms of a text: longest first, then earliest rule."""
    found: list[Atom] = []
    for rule in rules:
        if rule.cues and words.isdisjoint(rule.cues):
            continue
        for match in rule.pattern.finditer(ctx.text):
            atom = _built(rule, match, ctx)
            if atom is not None and atom.end > atom.start:
                found.append(atom)
    found.sort(key=lambda a: a.start - a.end)
    kept: list[Atom] = []
    for atom in found:
        if all(atom.end <= other.start or atom.start >= other.end for other in kept):
            kept.append(atom)
    kept.sort(key=lambda a: a.start)
    return kept


def _built(rule: Rule, match: re.Match[str], ctx: Context) -> Atom | None:
    try:
        return rule.build(match, ctx)
    except (ValueError, OverflowError):
        # Arithmetic left the calendar (year 0 or 10000): the words stay, without a date.
        return Atom(match.start(), match.end(), basis=Basis.UNKNOWN, note="out_of_calendar")
