"""What a lane of meaning calls most alike, and in which order."""

from __future__ import annotations

from retrieval.vector_lane import NEAREST, MeaningLane
from shared.domain.ranking.meaning import Likeness

ALIKE = {f"msg_{place:03d}": (place * 37 % 50) / 50 for place in reversed(range(150))}
"""As they are read: the newest first, each cosine three times."""


def test_all_come_the_most_alike_first_and_equal_ones_by_id() -> None:
    lane = MeaningLane(Likeness(ALIKE, lowest=0.0))
    found = lane.by_likeness
    assert found == sorted(ALIKE, key=lambda name: (-ALIKE[name], name))
    assert [ALIKE[name] for name in found[:4]] == [0.98, 0.98, 0.98, 0.96]
    assert found[:3] == sorted(found[:3])


def test_the_nearest_are_the_hundred_most_alike() -> None:
    lane = MeaningLane(Likeness(ALIKE, lowest=0.0))
    nearest = lane.nearest
    assert len(nearest) == NEAREST
    left = [ALIKE[name] for name in ALIKE.keys() - set(nearest)]
    assert min(ALIKE[name] for name in nearest) >= max(left)


def test_a_lane_that_only_scores_finds_nothing() -> None:
    lane = MeaningLane(Likeness(ALIKE, lowest=0.0), finds=False)
    assert lane.by_likeness == []
    assert lane.nearest == []
