"""How good ranked answers are against labelled evidence: recall, full recall, MRR, nDCG."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

CUTS: Final = (1, 5, 10, 20, 50)
RANKED: Final = (*(f"R@{k}" for k in CUTS), *(f"full@{k}" for k in CUTS), "MRR", "nDCG@10")
"""The measures of a ranked list, in the order to show them."""

_NDCG_CUT: Final = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got: ids, best first, against the ids that hold its answer.

    `holds` says which of those a ranked id stands for; an id that it does not know stands for
    itself. Questions that are not `answerable` are never part of a mean over all.
    """

    category: str
    ranked: Sequence[str]
    gold: frozenset[str]
    answerable: bool = True
    holds: Mapping[str, frozenset[str]] = field(default_factory=dict)


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
    gain: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The means over the answerable questions, and each category's."""

    overall: Measures
    by_category: Mapping[str, Measures]


def scores(one: Outcome) -> dict[str, float]:
    """Return one question's `RANKED` measures, each from 0 to 1; zeros without evidence.

    nDCG counts an id as relevant if it adds evidence that none before it had, against as many
    such ids at the top as there is evidence (Järvelin and Kekäläinen 2002, gain 1, log2).
    """
    found: set[str] = set()
    gain, first = 0.0, 0
    reached = dict.fromkeys(CUTS, 0)
    for place, name in enumerate(one.ranked, start=1):
        fresh = (one.holds.get(name, frozenset((name,))) & one.gold) - found
        if fresh:
            first = first or place
            gain += 1 / math.log2(place + 1) if place <= _NDCG_CUT else 0.0
            found |= fresh
        if place in reached:
            reached[place] = len(found)
    for k in CUTS:
        if k > len(one.ranked):
            reached[k] = len(found)
    wanted = len(one.gold) or 1
    best = sum(1 / math.log2(place + 1) for place in range(1, min(wanted, _NDCG_CUT) + 1))
    return {
        **{f"R@{k}": reached[k] / wanted for k in CUTS},
        **{f"full@{k}": float(reached[k] == wanted) for k in CUTS},
        "MRR": 1 / first if first else 0.0,
        "nDCG@10": gain / best,
    }


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Return the means; categories in order."""
    categories = sorted({one.category for one in outcomes})
    return Summary(
        overall=measured(one for one in outcomes if one.answerable),
        by_category={
            name: measured(one for one in outcomes if one.category == name) for name in categories
        },
    )


def measured(outcomes: Iterable[Outcome]) -> Measures:
    """Return the means over some questions; zeros without any."""
    rows = [scores(one) for one in outcomes]
    count = len(rows) or 1
    mean = {name: sum(row[name] for row in rows) / count for name in RANKED}
    return Measures(
        questions=len(rows),
        recall={k: mean[f"R@{k}"] for k in CUTS},
        full={k: mean[f"full@{k}"] for k in CUTS},
        reciprocal_rank=mean["MRR"],
        gain=mean["nDCG@10"],
    )


def area_under_curve(told: Sequence[tuple[float, bool]]) -> float:
    """Return how often a positive's score is above a negative's, ties counting half.

    Each entry is (score, is positive). 0.5 where either kind is missing.
    """
    positives = [score for score, is_positive in told if is_positive]
    negatives = sorted(score for score, is_positive in told if not is_positive)
    if not positives or not negatives:
        return 0.5
    won = sum(bisect_left(negatives, s) + bisect_right(negatives, s) for s in positives) / 2
    return won / (len(positives) * len(negatives))
