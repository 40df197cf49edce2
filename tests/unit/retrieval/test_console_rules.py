"""The console tells rules of the domain again, for its pictures: both must say the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.console.ask.prompt import estimated_tokens
from retrieval.console.decay import level_after, suggested_lambda, weight_after
from shared.domain.budget import estimate_tokens
from shared.domain.decay import decay_weight, level_at, suggest_lambda

RATES = st.floats(min_value=0, max_value=5, allow_nan=False)


@given(newer=st.integers(0, 60), rate=RATES, anchor=st.integers(0, 5))
def test_a_block_fades_in_the_picture_as_it_fades_in_memory(
    newer: int, rate: float, anchor: int
) -> None:
    assert weight_after(newer, rate) == decay_weight(1, 1 + newer, decay_lambda=rate)
    told = level_at(anchor, 1, latest_position=1 + newer, decay_lambda=rate)
    assert level_after(newer, rate, anchor_level=anchor) == told


@given(rate=RATES, size=st.integers(1, 1_000), new=st.integers(1, 1_000))
def test_the_suggestion_beside_the_field_is_the_one_that_saving_answers(
    rate: float, size: int, new: int
) -> None:
    told = suggest_lambda(rate, current_size=size, new_size=new)
    assert suggested_lambda(rate, size=size, new_size=new) == told


@given(st.text())
def test_tokens_are_counted_as_the_api_counts_them(said: str) -> None:
    assert estimated_tokens(said) == estimate_tokens(said)
