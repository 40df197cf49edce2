from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.jobs import (
    BACKOFF_JITTER,
    FINAL_STATES,
    LIMITS_OF,
    LIVE_STATES,
    QUEUE_OF,
    RETRYABLE_BY_HAND,
    Failure,
    FailureClass,
    Job,
    JobKind,
    JobState,
    backoff_s,
    ceiling_s,
    longest_wait_s,
    may_ask,
    may_snooze,
    may_try_again,
)

JOB = Job(
    tenant_id="ten_1",
    job_id="job_1",
    namespace="n",
    kind=JobKind.EXTRACT,
    subject="blk_1",
    queue="extract",
    state=JobState.RUNNING,
    attempt=1,
    max_attempts=3,
    lease_token="lease",
)
CAN_END_DIFFERENTLY = {
    FailureClass.TRANSIENT: True,
    FailureClass.TRUNCATED: True,
    FailureClass.MALFORMED: True,
    FailureClass.INTERNAL: True,
    FailureClass.REFUSED: False,
    FailureClass.PERMANENT: False,
}


def failed(failure_class: FailureClass) -> Failure:
    return Failure(failure_class, code="x", detail="x")


@pytest.mark.parametrize(("attempt", "pause"), [(1, 1.0), (2, 2.0), (3, 4.0)])
def test_the_pause_after_an_attempt_is_one_second_then_twice_the_last(
    attempt: int, pause: float
) -> None:
    assert backoff_s(attempt, base_s=1.0, jitter=0.0) == pause
    assert backoff_s(attempt, base_s=0.25, jitter=0.0) == pause / 4


@pytest.mark.parametrize(
    ("attempt", "shortest", "longest"),
    [(1, 0.8, 1.2), (2, 1.6, 2.4)],
)
def test_the_pause_is_spread_by_a_fifth_to_either_side(
    attempt: int, shortest: float, longest: float
) -> None:
    assert backoff_s(attempt, base_s=1.0, jitter=-1.0) == pytest.approx(shortest)
    assert backoff_s(attempt, base_s=1.0, jitter=1.0) == pytest.approx(longest)


@given(st.integers(1, 6), st.floats(0.01, 60), st.floats(-1, 1))
def test_every_pause_stays_within_its_spread_and_never_turns_back(
    attempt: int, base_s: float, jitter: float
) -> None:
    middle = backoff_s(attempt, base_s=base_s, jitter=0.0)
    pause = backoff_s(attempt, base_s=base_s, jitter=jitter)
    assert abs(pause - middle) <= middle * BACKOFF_JITTER * 1.000001
    assert pause < backoff_s(attempt + 1, base_s=base_s, jitter=jitter)


def test_the_table_of_failure_classes_is_complete() -> None:
    assert set(CAN_END_DIFFERENTLY) == set(FailureClass)


@pytest.mark.parametrize(("failure_class", "again"), CAN_END_DIFFERENTLY.items())
def test_another_attempt_follows_where_it_could_end_differently(
    failure_class: FailureClass, again: bool
) -> None:
    assert may_try_again(JOB, failed(failure_class)) is again


@pytest.mark.parametrize("failure_class", FailureClass)
@pytest.mark.parametrize("attempt", [3, 4])
def test_no_attempt_follows_the_third(failure_class: FailureClass, attempt: int) -> None:
    assert not may_try_again(replace(JOB, attempt=attempt), failed(failure_class))


def test_the_second_attempt_leaves_a_third_and_a_smaller_allowance_counts() -> None:
    second = replace(JOB, attempt=2)
    assert may_try_again(second, failed(FailureClass.TRANSIENT))
    assert not may_try_again(replace(second, max_attempts=2), failed(FailureClass.TRANSIENT))


@pytest.mark.parametrize(
    ("waited_s", "delay_s", "may"),
    [(0, 60, True), (40, 20, True), (40, 21, False), (61, 0, False), (0, 61, False)],
)
def test_a_job_waits_up_to_its_longest_wait_and_no_second_more(
    waited_s: int, delay_s: float, may: bool
) -> None:
    assert may_snooze(replace(JOB, snoozed_s=waited_s), delay_s, max_wait_s=60) is may


def test_a_state_is_live_or_final_and_never_both() -> None:
    assert set(JobState) == LIVE_STATES | FINAL_STATES
    assert LIVE_STATES.isdisjoint(FINAL_STATES)
    assert {s.value for s in LIVE_STATES} == {"available", "running", "retryable"}


def test_what_ended_badly_or_was_skipped_is_started_again_by_hand_and_nothing_else() -> None:
    assert FINAL_STATES - {JobState.SUCCEEDED, JobState.SUCCEEDED_EMPTY} == RETRYABLE_BY_HAND


@pytest.mark.parametrize("kind", JobKind)
def test_no_kind_lacks_a_ceiling_of_minutes_and_a_longest_wait(kind: JobKind) -> None:
    limits = LIMITS_OF[kind]
    assert 60 <= limits.ceiling_s <= 600
    assert 0 < ceiling_s(kind, most_s=30) <= 30
    assert ceiling_s(kind, most_s=10_000, scale=4) == 4 * limits.ceiling_s
    assert ceiling_s(kind, most_s=30, scale=4) == 30
    assert limits.ceiling_s < limits.longest_wait_s
    assert longest_wait_s(kind, most_s=10**9) == limits.longest_wait_s


@pytest.mark.parametrize(
    ("answered", "parts", "may"),
    [(0, 1, True), (4, 1, True), (5, 1, False), (6, 1, False), (12, 3, True), (13, 3, False)],
)
def test_six_answered_calls_a_part_are_the_most_that_a_job_can_reach(
    answered: int, parts: int, may: bool
) -> None:
    assert may_ask(answered, parts=parts, calls_an_attempt=2) is may
    assert not may or answered + 2 * parts <= 6 * parts


def test_every_kind_has_a_live_queue_and_none_works_where_backfill_waits() -> None:
    assert set(QUEUE_OF) == set(JobKind)
    queues = set(QUEUE_OF.values())
    assert queues == {"summarize", "extract", "project", "embed", "import", "upkeep"}
