"""A message as ranking sees it: its place, its speaker, and how often it holds the asked terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Final, NamedTuple

SITTING: Final = timedelta(hours=6)
"""Messages further apart are not of one sitting, so they lend each other nothing (D49)."""

_PLACE = attrgetter("thread", "turn", "position")


# Tuples, not dataclasses: a search makes a thousand of each, at a third of the time.
class Said(NamedTuple):
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


class Near(NamedTuple):
    """The messages beside one, in its sitting; None at an end or where one is not loaded."""

    previous: Said | None = None
    following: Said | None = None
    before_previous: Said | None = None


def sittings(messages: Iterable[Said]) -> list[list[Said]]:
    """Return messages by thread and sitting, each in order; what is not loaded leaves no gap."""
    found: list[list[Said]] = []
    earlier: Said | None = None
    for said in sorted(messages, key=_PLACE):
        if earlier is None or earlier.thread != said.thread or not _together(earlier, said):
            found.append([])
        found[-1].append(said)
        earlier = said
    return found


def beside_each(sitting: Sequence[Said]) -> list[Near]:
    """Return what stands beside each message of a sitting, in its order."""
    found: list[Near] = []
    before_previous: Said | None = None
    previous: Said | None = None
    for said, after in zip(sitting, (*sitting[1:], None), strict=True):
        # Turns are loaded whole, so only a turn in between can be missing.
        following = None if after is None or after.turn - said.turn > 1 else after
        found.append(Near(previous, following, before_previous))
        before_previous, previous = (None, None) if following is None else (previous, said)
    return found


def _together(earlier: Said, later: Said) -> bool:
    first, second = earlier.said_at, later.said_at
    return first is None or second is None or abs(second - first) <= SITTING
