"""Joining several rankings into one: by rank (section 14) or by normalised scores (D22).

Each result keeps what every part gave, so that an order can be explained. A fused score orders
one reply; it is never a confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.domain.ordering import collation_key

RANK_CONSTANT = 60


@dataclass(frozen=True, slots=True)
class RankFused:
    """One id's place: the summed reciprocal ranks and its best rank, counted from 1."""

    id: str
    score: float
    best_rank: int


@dataclass(frozen=True, slots=True)
class ScoreFused:
    """One id's weighted sum, with each part's share of it by name."""

    id: str
    score: float
    parts: Mapping[str, float]


class Scaling(StrEnum):
    """How a part's scores become comparable: by its best, or by its span."""

    BEST = "best"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """One lane's scores by id, the weight it has, and how it is scaled to 0..1."""

    name: str
    scores: Mapping[str, float]
    weight: float
    scaling: Scaling = Scaling.BEST


def reciprocal_rank_fusion(
    rankings: Iterable[tuple[Sequence[str], float]],
) -> list[RankFused]:
    """Add weight / (60 + rank) over rankings, best first; ties: better best rank, then id.

    Rankings with a weight of 0 or less are skipped; an id counts once a ranking.
    """
    scores: dict[str, float] = {}
    best: dict[str, int] = {}
    for ranking, weight in rankings:
        if weight <= 0:
            continue
        for rank, name in enumerate(dict.fromkeys(ranking), start=1):
            scores[name] = scores.get(name, 0.0) + weight / (RANK_CONSTANT + rank)
            best[name] = min(rank, best.get(name, rank))
    fused = (RankFused(name, score, best[name]) for name, score in scores.items())
    return sorted(fused, key=lambda f: (-f.score, f.best_rank, collation_key(f.id)))


def weighted_score_fusion(parts: Iterable[ScoredPart]) -> list[ScoreFused]:
    """Add each part's scores, scaled to 0..1 and weighted; best first, ties by id.

    An id that a part does not know gets nothing from it.
    """
    shares: dict[str, dict[str, float]] = {}
    for part in parts:
        if part.weight <= 0:
            continue
        for name, scaled in scaled_scores(part.scores, part.scaling).items():
            shares.setdefault(name, {})[part.name] = part.weight * scaled
    fused = (ScoreFused(name, sum(given.values()), given) for name, given in shares.items())
    return sorted(fused, key=lambda f: (-f.score, collation_key(f.id)))


def scaled_scores(scores: Mapping[str, float], scaling: Scaling) -> dict[str, float]:
    """Scale scores to 0..1: by the best one (negatives become 0), or from worst to best.

    Where all scores are equal, a span says nothing and all get 1.
    """
    if not scores:
        return {}
    top, bottom = max(scores.values()), min(scores.values())
    if scaling is Scaling.SPAN:
        span = top - bottom
        return {name: (score - bottom) / span if span else 1.0 for name, score in scores.items()}
    return {name: max(0.0, score) / top if top > 0 else 0.0 for name, score in scores.items()}
