"""Intervals of means by resampling, the same draws for every system, so that pairs compare.

Efron and Tibshirani 1993, percentile intervals. Drawing questions answers "on other questions of
these conversations", drawing conversations "on other conversations", which is wider and honest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from random import Random  # noqa: TID251 - seeded: the same data gives the same intervals
from typing import Final

SEED: Final = 20_261_130
DRAWS: Final = 2_000
_TAIL: Final = 0.025


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % intervals; None by conversation where there is only one."""

    mean: float
    low: float
    high: float
    low_by_conversation: float | None
    high_by_conversation: float | None


class Resamples:
    """The draws for a list of questions, each known by its conversation."""

    def __init__(
        self, conversations: Sequence[str], *, draws: int = DRAWS, seed: int = SEED
    ) -> None:
        source = Random(seed)  # noqa: S311 - statistics, no secret
        self._count = len(conversations)
        places = range(self._count)
        self._questions = [
            source.choices(places, k=self._count) for _ in range(draws if places else 0)
        ]
        groups: dict[str, list[int]] = {}
        for place, name in enumerate(conversations):
            groups.setdefault(name, []).append(place)
        self._groups = list(groups.values())
        several = len(self._groups) > 1
        self._conversations = [
            source.choices(range(len(self._groups)), k=len(self._groups))
            for _ in range(draws if several else 0)
        ]

    def interval(self, values: Sequence[float]) -> Interval:
        """Return the mean of one value a question; of differences too, paired as they are."""
        mean = sum(values) / len(values) if values else 0.0
        if not self._questions:
            return Interval(mean, mean, mean, None, None)
        low, high = _ends([sum(_taken(values, drawn)) / self._count for drawn in self._questions])
        return Interval(mean, low, high, *self._by_conversation(values))

    def statistic(self, of: Callable[[Sequence[int]], float]) -> tuple[float, float]:
        """Return the interval of any figure of some questions, given by their places."""
        if not self._questions:
            everything = of(range(self._count))
            return everything, everything
        return _ends([of(drawn) for drawn in self._questions])

    def _by_conversation(self, values: Sequence[float]) -> tuple[float | None, float | None]:
        if not self._conversations:
            return None, None
        sums = [sum(values[place] for place in group) for group in self._groups]
        sizes = [len(group) for group in self._groups]
        return _ends(
            [
                sum(sums[one] for one in drawn) / sum(sizes[one] for one in drawn)
                for drawn in self._conversations
            ]
        )


def _taken(values: Sequence[float], places: Sequence[int]) -> Sequence[float]:
    return itemgetter(*places)(values) if len(places) > 1 else [values[places[0]]]


def _ends(found: list[float]) -> tuple[float, float]:
    found.sort()
    last = len(found) - 1
    return found[round(_TAIL * last)], found[round((1 - _TAIL) * last)]
