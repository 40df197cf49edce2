"""Each fault of a provider has one outcome: class, attempts, state of the job, and reason."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from shared.domain.jobs import JobKind
from shared.store.blocks import BlockRow
from tests.integration.models.conftest import Clinic
from tests.support.fault_plays import PLAYS, QUOTA_HOURS, RETRY_AFTER_S

TWICE_THEN_DEAD = ("JobRetried", "JobRetried", "JobDied")
AT_ONCE = ("JobDied",)


@dataclass(frozen=True)
class Expected:
    """What becomes of an extract job whose model plays one fault for good.

    `failures` is the class and code of each attempt's entry; `calls` counts requests.
    """

    ends: tuple[str, ...]
    state: str
    reason: str | None
    failures: tuple[tuple[str, str], ...] = ()
    calls: int = 1


def _dead(failure_class: str, code: str, *, calls: int = 3) -> Expected:
    return Expected(TWICE_THEN_DEAD, "dead", code, ((failure_class, code),) * 3, calls)


def _dead_at_once(failure_class: str, code: str) -> Expected:
    return Expected(AT_ONCE, "dead", code, ((failure_class, code),))


def _waits(reason: str) -> Expected:
    return Expected(("snoozed",), "available", reason)


def _fine(*, calls: int = 1) -> Expected:
    return Expected(("succeeded",), "succeeded", None, (), calls)


SLOW = frozenset({"hang", "drip_body", "drip_headers"})
"""Faults that only a deadline ends; all others get time enough for the busiest machine."""


def _deadline_s(fault: str) -> float:
    return 0.4 if fault in SLOW else 20.0


MALFORMED = _dead("malformed", "malformed", calls=6)
NO_EVENT = Expected(
    ("JobRetried", "JobRetried", "degraded"),
    "degraded",
    "no_valid_event",
    (("malformed", "malformed"),) * 2,
    6,
)

EXPECTED: dict[str, Expected] = {
    "good": _fine(),
    "hang": _dead("transient", "deadline"),
    "drip_body": _dead("transient", "deadline"),
    "drip_headers": _dead("transient", "deadline"),
    "reset": _dead("transient", "connection"),
    "short_body": _dead("transient", "connection"),
    "limited_seconds": _waits("http_429"),
    "limited_date": _waits("http_429"),
    "limited_reset": _waits("http_429"),
    "limited_bare": _waits("http_429"),
    "quota": _waits("quota"),
    "quota_soon": _waits("quota"),
    "http_500": _dead("transient", "http_500"),
    "http_503": _dead("transient", "http_503"),
    "html_502": _dead("transient", "http_502"),
    "html_200": _dead("transient", "not_json"),
    "error_in_200": _dead("transient", "http_503"),
    "unauthorized": _dead_at_once("permanent", "http_401"),
    "no_such_model": _dead_at_once("permanent", "http_404"),
    "input_too_long": _dead("truncated", "input_too_long"),
    "no_choices": _dead("transient", "no_choice"),
    "no_schema": _fine(calls=2),
    "no_format": _fine(calls=3),
    "no_lengths": _fine(calls=2),
    "uncounted": _fine(),
    "no_effort": _fine(calls=2),
    "no_template_switch": _fine(calls=2),
    "cut": _dead("truncated", "output_truncated"),
    "cut_silently": _dead("truncated", "output_truncated"),
    "empty_cut": _dead("truncated", "output_truncated"),
    "empty": MALFORMED,
    "empty_object": MALFORMED,
    "wrong_schema": MALFORMED,
    "an_array": MALFORMED,
    "prose": MALFORMED,
    "duplicate_keys": MALFORMED,
    "nan": MALFORMED,
    "refusal": _dead_at_once("refused", "refused"),
    "filtered": _dead_at_once("refused", "refused"),
    "prose_around": _fine(),
    "fences": _fine(),
    "think": _fine(),
    "tool_call": _fine(),
    "other_language": _fine(),
    "foreign_ids": NO_EVENT,
    "missing_field": Expected(("degraded",), "degraded", "events_refused", (), 2),
}


def test_every_play_has_its_expected_outcome() -> None:
    assert EXPECTED.keys() == PLAYS.keys()


@pytest.mark.parametrize("fault", EXPECTED)
def test_an_extraction_ends_as_its_models_fault_deserves(clinic: Clinic, fault: str) -> None:
    expected = EXPECTED[fault]
    block = clinic.block_to(JobKind.EXTRACT)
    clinic.server.script.clear()
    clinic.ask(model_for_extract=fault, model_deadline_s=_deadline_s(fault))

    ends = clinic.world.run_until_final(block, JobKind.EXTRACT)

    job = clinic.world.job(block, JobKind.EXTRACT)
    assert tuple(ends) == expected.ends
    assert (job.state, job.reason) == (expected.state, expected.reason)
    assert tuple((one["class"], one["code"]) for one in job.errors) == expected.failures
    # Who gives up soon may be gone before a busy server has read what was asked.
    asked = clinic.calls(block, JobKind.EXTRACT) if fault in SLOW else clinic.server.requests
    assert len(asked) == expected.calls
    _nothing_is_lost(clinic, block, expected)


def _nothing_is_lost(clinic: Clinic, block: BlockRow, expected: Expected) -> None:
    """A block is ready with its events, or unready with its messages; never something between."""
    status = clinic.world.block(block.block_id).status
    events = clinic.world.events(block)
    if expected.state in ("succeeded", "degraded") and expected.reason != "no_valid_event":
        assert (status, len(events)) == ("ready", 1)
    else:
        assert (status, events) == ("pending", [])
    assert len(clinic.world.message_ids(block)) == 2


@pytest.mark.parametrize("kind", [JobKind.SUMMARIZE, JobKind.PROJECT])
@pytest.mark.parametrize(
    ("fault", "end", "reason"),
    [
        ("good", "succeeded", None),
        ("hang", "JobRetried", "deadline"),
        ("cut", "JobRetried", "output_truncated"),
        ("wrong_schema", "JobRetried", "malformed"),
        ("quota", "snoozed", "quota"),
        ("refusal", "JobDied", "refused"),
        ("unauthorized", "JobDied", "http_401"),
        ("nan", "JobRetried", "malformed"),
        ("tool_call", "succeeded", None),
    ],
)
def test_the_other_steps_tell_faults_apart_as_well(
    clinic: Clinic, kind: JobKind, fault: str, end: str, reason: str | None
) -> None:
    block = clinic.block_to(kind)
    clinic.ask(**{f"model_for_{kind.value}": fault, "model_deadline_s": _deadline_s(fault)})
    assert clinic.world.run(block, kind) == end
    assert clinic.world.job(block, kind).reason == reason


@pytest.mark.parametrize(
    ("fault", "wait_s"),
    [
        ("limited_seconds", RETRY_AFTER_S),
        ("limited_date", RETRY_AFTER_S),
        ("limited_reset", RETRY_AFTER_S),
        ("limited_bare", 10),
        ("quota", QUOTA_HOURS * 3600),
    ],
)
def test_a_limited_job_waits_as_long_as_it_was_told_and_keeps_its_attempt(
    clinic: Clinic, fault: str, wait_s: float
) -> None:
    block = clinic.block_to(JobKind.SUMMARIZE)
    clinic.ask(model_for_summarize=fault)
    clinic.world.run(block, JobKind.SUMMARIZE)
    job = clinic.world.job(block, JobKind.SUMMARIZE)
    # Of the quota's instant, what passed until it was read is gone.
    assert wait_s - 20 * (fault == "quota") <= job.snoozed_s <= wait_s
    assert wait_s - 60 < clinic.due_in_s(block, JobKind.SUMMARIZE) <= wait_s
    assert (job.attempt, job.state, job.errors) == (0, "available", [])


@pytest.mark.parametrize("fault", ["http_503", "hang", "prose", "cut", "reset"])
def test_a_passing_fault_costs_one_attempt_and_then_the_walk_goes_on(
    clinic: Clinic, fault: str
) -> None:
    block = clinic.block_to(JobKind.SUMMARIZE)
    clinic.ask(model_deadline_s=_deadline_s(fault))
    clinic.server.play(fault)
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "JobRetried"
    clinic.ask()
    clinic.server.play("good")
    clinic.world.hurry(block, JobKind.SUMMARIZE)
    assert clinic.world.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert clinic.world.run(block, JobKind.EXTRACT) == "succeeded"
    assert clinic.world.run(block, JobKind.PROJECT) == "succeeded"
