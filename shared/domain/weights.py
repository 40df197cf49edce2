"""How much an event weighs among relevant candidates: it fades with turns unless it is used.

Criticality sets a floor, use slows the fading, a pin holds it at 1. The cap of a superseded
event follows from its status and is stored nowhere (D14).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from shared.domain.events import Criticality, EventStatus

FLOORS: Final[Mapping[Criticality, float]] = MappingProxyType(
    {
        Criticality.ROUTINE: 0.0,
        Criticality.PREFERENCE: 0.3,
        Criticality.IDENTITY: 0.9,
        Criticality.SAFETY: 1.0,
    }
)
"""The least an active event of each criticality weighs."""

SUPERSEDED_CAP: Final = 0.1
"""The most an unpinned superseded event weighs, safety included."""

_BASE_RATE = 0.15
_USE_FACTOR = 1.5
_SET_ASIDE = frozenset({EventStatus.FORGOTTEN, EventStatus.ARCHIVED})


def event_weight(
    age_turns: float,
    mentions: float,
    *,
    criticality: Criticality,
    status: EventStatus,
    pinned: bool = False,
) -> float:
    """Return an event's weight in [0, 1].

    exp(-lambda * t) with lambda = 0.15 / (1 + 1.5 ln n): t is the turns of the namespace since
    the event was last adopted (less than 0 counts as 0), n how often it was (less than 1
    counts as 1). Forgotten and archived events weigh 0, pinned ones 1 (section 21).
    """
    if status in _SET_ASIDE:
        return 0.0
    if pinned:
        return 1.0
    rate = _BASE_RATE / (1 + _USE_FACTOR * math.log(max(1, mentions)))
    weight = max(FLOORS[criticality], math.exp(-rate * max(0, age_turns)))
    return min(weight, SUPERSEDED_CAP) if status is EventStatus.SUPERSEDED else weight


def weight_curve(
    turns: Iterable[int],
    mentions: float,
    *,
    criticality: Criticality,
    status: EventStatus,
    pinned: bool = False,
) -> tuple[tuple[int, float], ...]:
    """Return (turns since it was last adopted, weight) for each of `turns`, used no more."""
    return tuple(
        (age, event_weight(age, mentions, criticality=criticality, status=status, pinned=pinned))
        for age in turns
    )
