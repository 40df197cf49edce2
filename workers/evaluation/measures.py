"""How good ranked answers are against labelled evidence: recall, full recall, reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

CUTS: Final = (1, 5, 10, 20, 50)
UNANSWERABLE: Final = 5
"""The category of questions without an answer, told apart and never part of the mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got: ids, best first, against the ids that hold its answer."""

    category: int
    ranked: Sequence[str]
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over questions, each from 0 to 1.

    `recall` is the share of the evidence among the first k, `full` how often all of it is,
    `reciprocal_rank` 1 / the place of the first evidence, 0 where none is found.
    """

    questions: int
    recall: Mapping[int, float]
    full: Mapping[int, float]
    reciprocal_rank: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The means over the answerable questions, and each category's."""

    overall: Measures
    by_category: Mapping[int, Measures]


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Return the means; categories in order."""
    categories = sorted({one.category for one in outcomes})
    return Summary(
        overall=measured(one for one in outcomes if one.category != UNANSWERABLE),
        by_category={
            number: measured(one for one in outcomes if one.category == number)
            for number in categories
        },
    )


def measured(outcomes: Iterable[Outcome]) -> Measures:
    """Return the means over some questions; zeros without any."""
    rows = list(outcomes)
    count = len(rows) or 1
    found = {k: [len(one.gold.intersection(one.ranked[:k])) for one in rows] for k in CUTS}
    return Measures(
        questions=len(rows),
        recall={
            k: sum(n / len(one.gold) for n, one in zip(found[k], rows, strict=True)) / count
            for k in CUTS
        },
        full={
            k: sum(n == len(one.gold) for n, one in zip(found[k], rows, strict=True)) / count
            for k in CUTS
        },
        reciprocal_rank=sum(_reciprocal_rank(one) for one in rows) / count,
    )


def area_under_curve(told: Sequence[tuple[float, bool]]) -> float:
    """Return how often a positive's score is above a negative's, ties counting half.

    Each entry is (score, is positive). 0.5 where either kind is missing.
    """
    positives = sorted(score for score, is_positive in told if is_positive)
    negatives = sorted(score for score, is_positive in told if not is_positive)
    if not positives or not negatives:
        return 0.5
    won = sum(
        (other < score) + 0.5 * (other == score) for score in positives for other in negatives
    )
    return won / (len(positives) * len(negatives))


def _reciprocal_rank(one: Outcome) -> float:
    places = (place for place, name in enumerate(one.ranked, start=1) if name in one.gold)
    first = next(places, None)
    return 1 / first if first else 0.0
