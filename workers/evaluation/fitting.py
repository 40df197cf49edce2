"""Fit ranking weights to labelled answers: listwise softmax, small steps, no library.

For reports alone: weights fitted to a data set never ship.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Final

from workers.evaluation.measures import Outcome

_STEPS: Final = 80
_RATE: Final = 0.15
_PULL: Final = 0.002
"""How strongly weights are held near where they start."""

_SHARPNESS: Final = 8.0
"""How far apart scores of 0 and 1 stand before the softmax."""

_SHOWN: Final = 60
"""How many of a question's candidates are fitted on; the evidence among the rest is added."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One ranked id and what each signal gave to its score."""

    id: str
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's candidates, best first, with what is known of it."""

    conversation: str
    category: str
    gold: frozenset[str]
    candidates: tuple[Candidate, ...]
    answerable: bool = True


def outcome_of(one: Answered, factors: Mapping[str, float] | None = None) -> Outcome:
    """Return a question's outcome, reordered with each signal's share times its factor.

    Without factors the order is the one given; a signal without a factor keeps its share.
    """
    candidates = list(one.candidates)
    if factors is not None:
        candidates.sort(key=lambda c: -_score(c, factors))
    return Outcome(one.category, [c.id for c in candidates], one.gold, one.answerable)


def fitted_outcomes(answered: Sequence[Answered]) -> list[Outcome]:
    """Return outcomes where each conversation is ranked by what the others taught."""
    found: list[Outcome] = []
    for name in sorted({one.conversation for one in answered}):
        factors = fit([one for one in answered if one.conversation != name])
        found += [outcome_of(one, factors) for one in answered if one.conversation == name]
    return found


def fit(answered: Sequence[Answered]) -> dict[str, float]:
    """Return the factor of each signal that puts the evidence of these questions first."""
    names = sorted({s for one in answered for c in one.candidates for s in c.shares})
    rows = [
        _rows(one, names)
        for one in answered
        if one.answerable and any(c.id in one.gold for c in one.candidates)
    ]
    weights = [1.0] * len(names)
    mean, spread = [0.0] * len(names), [0.0] * len(names)
    for step in range(1, _STEPS + 1 if rows else 1):
        slope = [_PULL * (weight - 1.0) for weight in weights]
        for features, gold in rows:
            _descend(features, gold, weights, slope, scale=1 / len(rows))
        for i, value in enumerate(slope):
            mean[i] = 0.9 * mean[i] + 0.1 * value
            spread[i] = 0.999 * spread[i] + 0.001 * value * value
            damped = math.sqrt(spread[i] / (1 - 0.999**step)) + 1e-8
            weights[i] -= _RATE * mean[i] / (1 - 0.9**step) / damped
    return dict(zip(names, weights, strict=True))


def without(answered: Sequence[Answered], signal: str) -> list[Outcome]:
    """Return outcomes as if one signal had no weight."""
    return [outcome_of(one, {signal: 0.0}) for one in answered]


def at_most(one: Answered, count: int) -> Answered:
    """Return a question with its first candidates alone."""
    return replace(one, candidates=one.candidates[:count])


_Features = list[list[float]]


def _rows(one: Answered, names: Sequence[str]) -> tuple[_Features, list[int]]:
    kept = [c for place, c in enumerate(one.candidates) if place < _SHOWN or c.id in one.gold]
    features = [[_SHARPNESS * c.shares.get(name, 0.0) for name in names] for c in kept]
    return features, [place for place, c in enumerate(kept) if c.id in one.gold]


def _descend(
    features: _Features,
    gold: Sequence[int],
    weights: Sequence[float],
    slope: list[float],
    *,
    scale: float,
) -> None:
    scores = [sum(map(mul, row, weights)) for row in features]
    top = max(scores)
    odds = [math.exp(score - top) for score in scores]
    total = sum(odds)
    errors = [odd / total for odd in odds]
    for place in gold:
        errors[place] -= 1 / len(gold)
    for error, row in zip(errors, features, strict=True):
        if abs(error) > 1e-6:
            for i, value in enumerate(row):
                slope[i] += scale * error * value


def _score(candidate: Candidate, factors: Mapping[str, float]) -> float:
    return sum(factors.get(name, 1.0) * share for name, share in candidate.shares.items())
