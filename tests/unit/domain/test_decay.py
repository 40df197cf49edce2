from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.decay import (
    DEEPEST,
    LABELS,
    age_in_blocks,
    decay_weight,
    expansion_level,
    label_of,
    level_at,
    suggest_lambda,
)
from shared.errors import InvalidInput

LEVELS = st.integers(0, 5)
POSITIONS = st.integers(1, 500)
RATES = st.floats(0, 5)


@given(LEVELS, POSITIONS, POSITIONS, RATES)
def test_a_block_never_grows_deeper_by_itself(
    anchor: int, position: int, latest: int, rate: float
) -> None:
    now = level_at(anchor, position, latest_position=latest, decay_lambda=rate)
    later = level_at(anchor, position, latest_position=latest + 1, decay_lambda=rate)
    assert 0 <= later <= now <= anchor


@given(POSITIONS, POSITIONS, RATES)
def test_weight_falls_with_blocks_and_with_lambda(position: int, latest: int, rate: float) -> None:
    weight = decay_weight(position, latest, decay_lambda=rate)
    assert 0 <= weight <= 1
    assert decay_weight(position, latest + 1, decay_lambda=rate) <= weight
    assert decay_weight(position, latest, decay_lambda=rate + 0.1) <= weight


def test_a_fresh_block_is_raw_and_fades_to_its_title() -> None:
    levels = [level_at(5, 1, latest_position=1 + n, decay_lambda=0.3) for n in range(10)]
    assert levels == [5, 5, 4, 3, 3, 2, 2, 1, 1, 0]


@pytest.mark.parametrize(("bound", "level"), [(0.7, 4), (0.5, 3), (0.3, 2), (0.15, 1)])
def test_a_block_at_exactly_a_bound_has_already_fallen(bound: float, level: int) -> None:
    rate = -math.log(bound)
    assert decay_weight(1, 2, decay_lambda=rate) == bound
    assert level_at(5, 1, latest_position=2, decay_lambda=rate) == level
    above = level_at(5, 1, latest_position=2, decay_lambda=rate - 1e-9)
    assert above == level + 1


@pytest.mark.parametrize("rate", [-0.1, math.nan, math.inf])
def test_an_impossible_lambda_is_refused(rate: float) -> None:
    with pytest.raises(InvalidInput):
        decay_weight(1, 2, decay_lambda=rate)


def test_age_is_counted_from_the_block_and_never_negative() -> None:
    assert age_in_blocks(2, 7) == 5
    assert age_in_blocks(7, 2) == 0


@pytest.mark.parametrize(
    ("target", "level"),
    [(0, 0), (5, 5), (3.0, 3), ("0", 0), (" l3 ", 3), ("L5", 5), ("\u00a04\n", 4)],
)
def test_a_level_in_its_plain_forms_is_understood(target: object, level: int) -> None:
    assert expansion_level(target, 1) == level


@pytest.mark.parametrize("current", range(6))
def test_no_target_means_one_deeper_and_no_deeper_than_raw(current: int) -> None:
    assert expansion_level(None, current) == min(DEEPEST, current + 1)


@pytest.mark.parametrize(
    "target",
    [
        "next",
        "+1",
        "raw",
        "6",
        "L6",
        "",
        "L",
        "３",
        "03",
        -1,
        6,
        2.5,
        math.nan,
        math.inf,
        True,
        {},
        [],
        [3],
        {"level": 3},
    ],
)
def test_anything_else_is_refused_naming_the_field(target: object) -> None:
    """D7."""
    with pytest.raises(InvalidInput) as refused:
        expansion_level(target, 1)
    assert refused.value.status == 422
    assert refused.value.errors[0].pointer == "/level"


def test_every_level_has_a_label() -> None:
    assert [label_of(level)[:2] for level in range(6)] == ["L0", "L1", "L2", "L3", "L4", "L5"]
    assert len(LABELS) == 6


@given(st.integers(1, 50), st.integers(1, 50), st.floats(0, 1))
def test_the_suggested_lambda_is_a_step_of_five_hundredths_near_the_exact_one(
    old: int, new: int, rate: float
) -> None:
    suggested = suggest_lambda(rate, current_size=old, new_size=new)
    assert abs(suggested - rate * new / old) <= 0.025 + 1e-9
    assert math.isclose(suggested * 20, round(suggested * 20), abs_tol=1e-6)
