"""A message as ranking sees it: its place, its speaker, and how often it holds the asked terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from typing import Final

SITTING: Final = timedelta(hours=6)
"""Messages further apart are not of one sitting, so they lend each other nothing (D49)."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `held` counts the asked terms in it, `length` all its terms.

    `turn` and `position` place it in its thread; `events` is the score of the best event that
    was taken from it, 0 where none matches.
    """

    id: str
    thread: str
    turn: int
    position: int
    role: str
    speaker: str | None
    said_at: datetime | None
    content: str
    held: Mapping[str, float]
    length: float
    events: float = 0.0


@dataclass(frozen=True, slots=True)
class Near:
    """The messages beside one, in its sitting; None at an end or where one is not loaded."""

    previous: Said | None = None
    following: Said | None = None
    before_previous: Said | None = None


def sittings(messages: Iterable[Said]) -> list[list[Said]]:
    """Return messages by thread and sitting, each in order; what is not loaded leaves no gap."""
    ordered = sorted(messages, key=lambda one: (one.thread, one.turn, one.position))
    found: list[list[Said]] = []
    for _, group in groupby(ordered, key=lambda one: one.thread):
        thread = list(group)
        found.append(thread[:1])
        for earlier, later in pairwise(thread):
            if not _together(earlier, later):
                found.append([])
            found[-1].append(later)
    return found


def near(sitting: Sequence[Said], index: int) -> Near:
    """Return what stands beside a message of a sitting."""
    previous = _beside(sitting, index, -1)
    return Near(
        previous=previous,
        following=_beside(sitting, index, +1),
        before_previous=None if previous is None else _beside(sitting, index - 1, -1),
    )


def _beside(sitting: Sequence[Said], index: int, step: int) -> Said | None:
    place = index + step
    if not 0 <= place < len(sitting):
        return None
    # Turns are loaded whole, so only a turn in between can be missing.
    return sitting[place] if abs(sitting[place].turn - sitting[index].turn) <= 1 else None


def _together(earlier: Said, later: Said) -> bool:
    first, second = earlier.said_at, later.said_at
    return first is None or second is None or abs(second - first) <= SITTING
