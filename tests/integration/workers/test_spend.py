from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from shared.clock import SystemClock
from shared.domain.jobs import JobKind, JobState
from shared.domain.spend import BUDGET_EXCEEDED, StepCost
from shared.store.audit import StoredAudit, list_entries
from shared.store.block_views import layer_tokens
from shared.store.jobs import list_jobs
from shared.store.model_calls import NewCall, record_call
from shared.store.run_costs import step_costs
from shared.store.spend import BUDGET_STOP, wake_stopped
from tests.integration.workers.conftest import NAMESPACE, NOTHING, SUMMARY, World, reply
from workers.models.port import Usage
from workers.runner import SNOOZED, run_job

DOG = ("I have a dog called Rex.", "Noted.")
PARAGRAPH = "The greenhouse heater of the northern house broke on a Tuesday evening. "


@pytest.fixture
def counted(world: World) -> Iterator[World]:
    """A world whose model costs 25 tokens a call."""
    usage = Usage(20, 5)
    world.script(
        summarize=lambda _task: reply(SUMMARY, usage=usage),
        extract=lambda _task: reply(NOTHING, usage=usage),
    )
    return world


def _stops(world: World) -> list[StoredAudit]:
    with world.database.read(world.tenant_id) as tx:
        return list_entries(tx, action=BUDGET_STOP)


def _run_all(world: World) -> None:
    """Run live jobs, and what they enqueue, until none is due."""
    while True:
        with world.database.read(world.tenant_id) as tx:
            due = [
                row["job_id"]
                for row in list_jobs(tx, states=[JobState.AVAILABLE], limit=500)
                if row["reason"] is None
            ]
        if not due:
            return
        for job_id in due:
            run_job(world.tenant_id, job_id, world.deps)


def test_cost_01_after_the_ceiling_jobs_wait_and_turns_are_still_accepted(world: World) -> None:
    """Case cost-01-budget-stop: 60 blocks of about 3,000 tokens under 20,000 tokens a day."""
    said = PARAGRAPH * 160
    usage = Usage(3_000, 200)
    world.policy(token_budget=20_000)
    world.script(
        summarize=lambda _task: reply(SUMMARY, usage=usage),
        extract=lambda _task: reply(NOTHING, usage=usage),
    )
    for number in range(60):
        world.say((f"{number}: {said}", "Noted."), thread_id=f"thread-{number}")

    _run_all(world)

    calls = len(world.model.tasks)
    assert calls == 7  # the seventh call reaches 22,400 of 20,000; no eighth is made
    with world.database.read(world.tenant_id) as tx:
        waiting = [
            row
            for row in list_jobs(tx, states=[JobState.AVAILABLE], limit=500)
            if row["reason"] == BUDGET_EXCEEDED
        ]
        now = tx.connection.execute(text("SELECT now()")).scalar_one()
        live = list_jobs(tx, states=[JobState.AVAILABLE, JobState.RETRYABLE], limit=500)
    assert len(waiting) == len(live) >= 53
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), datetime.min.time())
    resumes = {row["scheduled_at"] for row in waiting}
    assert all(abs(at - midnight.replace(tzinfo=UTC)) < timedelta(seconds=2) for at in resumes)
    assert all((row["attempt"], row["errors"]) == (0, []) for row in waiting)

    block = world.say(DOG, thread_id="still-accepted")
    assert world.message_ids(block)
    assert world.run(block, JobKind.SUMMARIZE) == SNOOZED
    assert len(world.model.tasks) == calls
    assert [
        (one.entry.namespace, one.entry.detail["budget"], one.entry.detail["scope"])
        for one in _stops(world)
    ] == [(NAMESPACE, 20_000, "namespace")]


def test_a_repair_is_not_asked_for_beyond_the_budget(world: World) -> None:
    world.policy(token_budget=10)
    block = world.say(DOG)
    world.script(summarize=lambda _task: reply("no object here", usage=Usage(20, 5)))
    assert world.run(block, JobKind.SUMMARIZE) == SNOOZED
    job = world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.reason, job.attempt) == ("available", BUDGET_EXCEEDED, 0)
    assert len(world.model.tasks) == 1
    assert len(_stops(world)) == 1


def test_a_tenants_budget_stops_its_other_namespaces_too(counted: World) -> None:
    deps = counted.with_settings(tenant_token_budget=25)
    elsewhere = NewCall(
        job_id="job_elsewhere",
        attempt=1,
        namespace="project:elsewhere",
        kind="summarize",
        model="scripted",
        prompt_version="1",
        outcome="accepted",
        input_tokens=20,
        output_tokens=5,
        duration_ms=1,
    )
    with counted.database.write(counted.tenant_id) as tx:
        record_call(tx, elsewhere)
    block = counted.say(DOG)
    assert counted.run(block, JobKind.SUMMARIZE, deps=deps) == SNOOZED
    assert counted.model.tasks == []
    (stop,) = _stops(counted)
    assert stop.entry.namespace is None
    assert stop.entry.detail == {"scope": "tenant", "budget": 25, "spent": 25}


def test_a_higher_budget_wakes_what_waits_and_is_a_stop_of_its_own(counted: World) -> None:
    counted.policy(token_budget=25)
    blocks = [counted.say(DOG, thread_id=name) for name in ("a", "b", "c")]
    assert [counted.run(block, JobKind.SUMMARIZE) for block in blocks[:2]] == ["succeeded", SNOOZED]
    with counted.database.write(counted.tenant_id) as tx:
        assert wake_stopped(tx, NAMESPACE) == 1
    counted.policy(token_budget=50)
    assert counted.job(blocks[1], JobKind.SUMMARIZE).snoozed_s <= 1
    assert [counted.run(block, JobKind.SUMMARIZE) for block in blocks[1:]] == ["succeeded", SNOOZED]
    assert [one.entry.detail["budget"] for one in _stops(counted)] == [50, 25]


def test_without_a_budget_nothing_is_asked_of_the_ledger(counted: World) -> None:
    block = counted.say(DOG)
    assert counted.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert _stops(counted) == []


def test_an_estimate_rests_on_what_recent_calls_cost_beside_their_text(counted: World) -> None:
    blocks = [counted.say(DOG, thread_id=name) for name in ("a", "b")]
    with counted.database.read(counted.tenant_id) as tx:
        assert step_costs(tx, NAMESPACE, ["summarize"]) == {}
    usage = Usage(220, 5)
    counted.script(summarize=lambda _task: reply(SUMMARY, usage=usage))
    for block in blocks:
        counted.run(block, JobKind.SUMMARIZE)
    with counted.database.read(counted.tenant_id) as tx:
        found = step_costs(tx, NAMESPACE, ["summarize", "extract"])
        text_tokens = layer_tokens(tx, [blocks[0].block_id])[blocks[0].block_id, 4]
    assert found == {"summarize": StepCost(220 - text_tokens, 5, measured_jobs=2)}
    assert text_tokens > 0


def test_the_clock_of_budgets_is_the_databases(counted: World) -> None:
    assert SystemClock().now() - counted.clock.now() > timedelta(days=1)
    counted.policy(token_budget=25)
    blocks = [counted.say(DOG, thread_id=name) for name in ("a", "b")]
    assert [counted.run(block, JobKind.SUMMARIZE) for block in blocks] == ["succeeded", SNOOZED]
