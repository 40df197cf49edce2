"""The one scorer of all that is ranked: named signals from 0 to 1, each with its weight, added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from shared.domain.ordering import collation_key
from shared.domain.ranking.weights import Signal

Signals = Mapping[Signal, float]
"""What speaks for one candidate, or against it, each from 0 to 1."""

_SCORE = attrgetter("score")


class Scored(NamedTuple):
    """One candidate's place: its score, and the signals behind it."""

    id: str
    score: float
    signals: Signals


def rank_by_signals(told: Mapping[Signal, Mapping[str, float]], weights: Signals) -> list[Scored]:
    """Return all candidates that any signal tells of, best first; ties by id.

    `told` gives each signal's values from 0 to 1 by id; what a signal does not know gets nothing
    from it.
    """
    signals: dict[str, dict[Signal, float]] = {}
    for signal, values in told.items():
        for name, value in values.items():
            signals.setdefault(name, {})[signal] = value
    found = [Scored(name, weighted_sum(one, weights), one) for name, one in signals.items()]
    found.sort(key=_SCORE, reverse=True)
    return [one for _, equal in groupby(found, key=_SCORE) for one in _by_id(list(equal))]


def weighted_sum(signals: Signals, weights: Signals) -> float:
    """Return a candidate's score; a signal without a weight counts nothing."""
    score = 0.0
    for signal, value in signals.items():
        if signal in weights:
            score += weights[signal] * value
    return score


def shares_of(signals: Signals, weights: Signals) -> dict[str, float]:
    """Return what each signal gave to a score, by its name, to four places; zeros left out."""
    given = {name: weights.get(name, 0.0) * value for name, value in signals.items()}
    return {name.value: round(share, 4) for name, share in given.items() if share}


def scale_to_best(candidates: Iterable[dict[Signal, float]], signal: Signal) -> None:
    """Make a signal a share of the best candidate's; all 0 where the best has nothing."""
    held = list(candidates)
    best = max((one[signal] for one in held), default=0.0)
    for one in held:
        one[signal] = one[signal] / best if best > 0 else 0.0


def _by_id(equal: list[Scored]) -> list[Scored]:
    # Ids are compared by collation, which is dear and seldom needed.
    return equal if len(equal) == 1 else sorted(equal, key=lambda one: collation_key(one.id))
