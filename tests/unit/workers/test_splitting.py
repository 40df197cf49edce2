from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.blocks import MAX_KEYPOINTS, MAX_SUMMARY, Summary
from shared.domain.jobs import Job, JobKind, JobState
from shared.domain.tenancy import Policy
from shared.settings import Settings
from workers.step import CallLimits, StepContext, call_limits, part_budget
from workers.steps.summarize import merged

SETTINGS = Settings(model_max_output_tokens=1_000, model_input_tokens=24_000)


def _job(*classes: str) -> Job:
    errors = tuple({"class": one} for one in classes)
    return Job(
        "ten", "job", "ns", JobKind.SUMMARIZE, "blk", "summarize", JobState.RUNNING, 1, 3, "t",
        errors=errors,
    )  # fmt: skip


def _context(**policy: Any) -> StepContext:
    return StepContext(SETTINGS, Policy(**policy), 1, datetime(2026, 3, 1, tzinfo=UTC))


def test_each_truncation_widens_the_output_and_only_truncations_do() -> None:
    assert call_limits(_job("transient", "malformed"), _context()).output_tokens == 1_000
    assert call_limits(_job("truncated"), _context()).output_tokens == 2_000
    assert call_limits(_job("truncated", "truncated"), _context()).output_tokens == 4_000


def test_a_cap_of_the_policy_is_never_passed() -> None:
    limits = call_limits(_job("truncated"), _context(max_output_tokens=500))
    assert (limits.output_tokens, limits.halvings) == (500, 1)


@given(total=st.integers(1, 200_000), halvings=st.integers(0, 4))
def test_a_budget_after_truncation_is_less_than_what_was_sent(total: int, halvings: int) -> None:
    limits = CallLimits(24_000, 1_000, 10.0, halvings)
    budget = part_budget(limits, total)
    assert 200 <= budget <= 24_000
    if halvings and total > 400:
        assert budget < total


def _summary(number: int, points: int) -> Summary:
    keypoints = tuple(f"{number}.{point}" for point in range(points))
    return Summary(f"t{number}", (f"tag{number}",), f"s{number}. " * 40, keypoints, number == 2)


@pytest.mark.parametrize("parts", [2, 5, 19])
def test_merging_parts_leaves_none_out(parts: int) -> None:
    whole = merged([_summary(number, 8) for number in range(parts)])
    assert len(whole.keypoints) <= MAX_KEYPOINTS
    assert {point.split(".")[0] for point in whole.keypoints} == {str(n) for n in range(parts)}
    assert list(whole.keypoints) == sorted(whole.keypoints, key=lambda p: int(p.split(".")[0]))
    assert len(whole.summary) <= MAX_SUMMARY
    assert whole.title == "t0"


def test_a_block_is_to_be_extracted_when_any_part_is() -> None:
    assert merged([_summary(1, 1), _summary(2, 1)]).should_extract
    assert not merged([_summary(1, 1), _summary(3, 1)]).should_extract
