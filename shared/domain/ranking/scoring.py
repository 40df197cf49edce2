"""The one scorer of all that is ranked: named signals from 0 to 1, each with its weight, added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shared.domain.ranking.weights import Signal

Signals = Mapping[Signal, float]
"""What speaks for one candidate, or against it, each from 0 to 1."""


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
