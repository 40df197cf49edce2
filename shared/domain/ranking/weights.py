"""The weights that ship, and their version: set by hand on general sense, fitted to no data set.

`tests/bench/fit_ranking.py` reports what fitted ones would give beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

RANKING_VERSION: Final = "2026-11-hand-2"
"""Names this set of weights; it changes whenever a figure below does."""

K1: Final = 0.9
B: Final = 0.4
"""BM25's saturation and length weight for short messages."""

NAME: Final = 0.5
"""What the name of a message's speaker counts as a word of the message."""


class Signal(StrEnum):
    """What can speak for a message, an event or a node, or against it."""

    WORDS = "words"
    MEANING = "meaning"
    COVERAGE = "coverage"
    EVENTS = "events"
    SPEAKER = "speaker"
    TELLS_TIME = "tells_time"
    SAID_THEN = "said_then"
    SITTING = "sitting"
    ANSWERS = "answers"
    LENGTH = "length"
    ONLY_ASKS = "only_asks"
    HAPPENED_THEN = "happened_then"
    ORDER = "order"
    WEIGHT = "weight"


@dataclass(frozen=True, slots=True)
class Nearness:
    """What a word of a nearby message counts in this one, in frequency and in length."""

    previous: float = 0.5
    following: float = 0.5
    before_previous: float = 0.2

    @property
    def total(self) -> float:
        """How much longer a document gets, of the mean length, by its neighbours."""
        return self.previous + self.following + self.before_previous


NEARNESS: Final = Nearness()

SHIPPED: Final = MappingProxyType(
    {
        Signal.WORDS: 1.0,
        Signal.MEANING: 0.4,
        Signal.COVERAGE: 0.15,
        Signal.EVENTS: 0.15,
        Signal.SPEAKER: 0.35,
        Signal.TELLS_TIME: 0.2,
        Signal.SAID_THEN: 0.3,
        Signal.SITTING: 0.25,
        Signal.ANSWERS: 0.15,
        Signal.LENGTH: 0.2,
        Signal.ONLY_ASKS: -0.2,
    }
)
"""What each signal counts for a message beside the words, which count 1."""

EVENTS: Final = MappingProxyType(
    {
        Signal.WORDS: 1.0,
        Signal.MEANING: 0.4,
        Signal.HAPPENED_THEN: 0.5,
        Signal.SAID_THEN: 0.2,
        Signal.ORDER: 0.4,
        Signal.WEIGHT: 0.1,
    }
)
"""What each signal counts for an event: words first, then the time asked for, then its weight."""

NODES: Final = MappingProxyType({Signal.WORDS: 1.0})
"""What each signal counts for a node of the graph, whose names and facts are its words."""

SHARPNESS: Final = 6
"""The power to which messages' scores are raised before a block adds them up: one message that
answers outweighs many that touch the subject."""
