import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.fusion import (
    Scaling,
    ScoredPart,
    reciprocal_rank_fusion,
    scaled_scores,
    weighted_score_fusion,
)


def test_ranks_add_up_as_reciprocals_of_sixty_more() -> None:
    fused = {f.id: f.score for f in reciprocal_rank_fusion([(["a", "b"], 1), (["b"], 2)])}
    assert fused == {"b": pytest.approx(1 / 62 + 2 / 61), "a": pytest.approx(1 / 61)}


def test_ties_go_to_the_better_best_rank_then_to_the_id() -> None:
    fused = reciprocal_rank_fusion([(["b", "a"], 1), (["a", "b"], 1)])
    assert [f.id for f in fused] == ["a", "b"]
    even = 2 * (60 + 1) - 60  # one place at that weight equals half of the first
    ranking = ["x", *(f"f{n}" for n in range(even - 2)), "y"]
    by_rank = reciprocal_rank_fusion([(ranking, 2.0), (["x0"], 1.0)])
    tied = [f.id for f in by_rank if f.score == pytest.approx(1 / 61)]
    assert tied == ["x0", "y"]


def test_a_ranking_without_weight_is_not_heard_and_repeats_count_once() -> None:
    assert reciprocal_rank_fusion([(["a"], 0), (["b"], -1)]) == []
    assert [f.score for f in reciprocal_rank_fusion([(["a", "a"], 1)])] == [pytest.approx(1 / 61)]


def test_scores_of_different_scales_add_up_and_each_share_is_told() -> None:
    fused = weighted_score_fusion(
        [
            ScoredPart("words", {"a": 20.0, "b": 10.0}, 0.7),
            ScoredPart("vectors", {"b": 0.8, "c": 0.4}, 0.3, Scaling.SPAN),
        ]
    )
    assert [f.id for f in fused] == ["a", "b", "c"]
    assert dict(fused[1].parts) == {"words": pytest.approx(0.35), "vectors": pytest.approx(0.3)}
    assert fused[1].score == pytest.approx(0.65)


@given(st.dictionaries(st.text(max_size=3), st.floats(-100, 100), max_size=5))
def test_scaled_scores_lie_between_zero_and_one_and_keep_their_order(
    scores: dict[str, float],
) -> None:
    for scaling in Scaling:
        scaled = scaled_scores(scores, scaling)
        assert scaled.keys() == scores.keys()
        assert all(0 <= value <= 1 for value in scaled.values())
        ordered = sorted(scores, key=lambda name: scores[name])
        assert [scaled[n] for n in ordered] == sorted(scaled.values())
