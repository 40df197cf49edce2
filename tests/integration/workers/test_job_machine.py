from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from shared.domain.jobs import Done, FailureClass, JobKind
from shared.ids import Prefix, new_id
from shared.store import job_claims, job_leases
from shared.store.blocks import BlockRow, summaries_of
from shared.store.job_endings import finish
from shared.store.jobs import cancel_by_hand, retry_by_hand
from shared.store.model_calls import list_replies
from tests.integration.workers.conftest import NAMESPACE, SUMMARY, World, reply
from workers.models.port import ModelError, ModelTask
from workers.models.scripted import ScriptedModel
from workers.runner import DUPLICATE, LEASE_LOST, SNOOZED, run_job

DOG = ("I have a dog called Rex.", "What a good name for a dog.")


def _raising(failure_class: FailureClass, code: str, **extra: Any) -> Any:
    def behave(_task: ModelTask[Any]) -> Any:
        raise ModelError(failure_class, code, "as scripted", **extra)

    return behave


def _due_in_s(world: World, block: BlockRow) -> float:
    with world.database.read(world.tenant_id) as tx:
        return float(
            tx.connection.execute(
                text(
                    "SELECT extract(epoch FROM scheduled_at - now()) FROM jobs "
                    "WHERE subject = :s AND kind = 'summarize'"
                ),
                {"s": block.block_id},
            ).scalar_one()
        )


def test_a_second_delivery_of_the_same_ring_does_nothing(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id
    assert world.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert run_job(world.tenant_id, job_id, world.deps) == DUPLICATE
    assert len(world.model.tasks) == 1


def test_another_tenants_worker_message_claims_nothing(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id
    assert run_job(new_id(Prefix.TENANT), job_id, world.deps) == DUPLICATE
    assert world.job(block, JobKind.SUMMARIZE).state == "available"


def test_a_zombies_late_finish_changes_nothing(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id
    second: list[str] = []

    def slow(_task: ModelTask[Any]) -> Any:
        if not second:
            second.append("running")
            _expire_and_rescue(world, job_id)
            second[0] = run_job(world.tenant_id, job_id, world.deps)
            return reply({**SUMMARY, "title": "The zombie's title"})
        return reply(SUMMARY)

    world.script(summarize=slow)
    assert world.run(block, JobKind.SUMMARIZE) == LEASE_LOST
    assert second == ["succeeded"]
    with world.database.read(world.tenant_id) as tx:
        assert (
            summaries_of(tx, [block.block_id], version=1)[block.block_id].title
            == (SUMMARY["title"])
        )
    job = world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.attempt) == ("succeeded", 2)


def _expire_and_rescue(world: World, job_id: str) -> None:
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(
            text(
                "UPDATE jobs SET state = 'retryable', lease_token = NULL, lease_until = NULL "
                "WHERE job_id = :j"
            ),
            {"j": job_id},
        )


def test_a_job_cancelled_by_hand_while_it_runs_stores_nothing(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id

    def cancelled_meanwhile(_task: ModelTask[Any]) -> Any:
        with world.database.write(world.tenant_id) as tx:
            cancel_by_hand(tx, job_id, reason="by hand")
        return reply(SUMMARY)

    world.script(summarize=cancelled_meanwhile)
    assert world.run(block, JobKind.SUMMARIZE) == LEASE_LOST
    with world.database.read(world.tenant_id) as tx:
        assert summaries_of(tx, [block.block_id], version=1) == {}


def test_a_transient_failure_backs_off_one_then_two_seconds_and_then_dies(world: World) -> None:
    block = world.say(DOG)
    world.script(summarize=_raising(FailureClass.TRANSIENT, "http_503"))
    assert world.run(block, JobKind.SUMMARIZE) == "JobRetried"
    assert 0.5 < _due_in_s(world, block) <= 1.0
    world.hurry(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.SUMMARIZE) == "JobRetried"
    assert 1.5 < _due_in_s(world, block) <= 2.0
    world.hurry(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.SUMMARIZE) == "JobDied"
    job = world.job(block, JobKind.SUMMARIZE)
    assert job.state == "dead"
    assert [one["code"] for one in job.errors] == ["http_503"] * 3
    assert world.block(block.block_id).status == "pending"


def test_a_dead_job_can_be_retried_by_hand_and_ends_well(world: World) -> None:
    block = world.say(DOG)
    world.script(summarize=_raising(FailureClass.PERMANENT, "http_401"))
    assert world.run(block, JobKind.SUMMARIZE) == "JobDied"
    world.script(summarize=lambda _task: reply(SUMMARY))
    with world.database.write(world.tenant_id) as tx:
        retry_by_hand(tx, world.job(block, JobKind.SUMMARIZE).job_id)
    assert world.run(block, JobKind.SUMMARIZE) == "succeeded"


def test_a_job_that_waits_is_not_claimed_before_its_time(world: World) -> None:
    block = world.say(DOG)
    world.script(summarize=_raising(FailureClass.TRANSIENT, "http_503"))
    world.run(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.SUMMARIZE) == DUPLICATE


def test_a_rate_limit_gives_the_attempt_back_and_waits_as_asked(world: World) -> None:
    block = world.say(DOG)
    world.script(summarize=_raising(FailureClass.TRANSIENT, "http_429", retry_after_s=40.0))
    assert world.run(block, JobKind.SUMMARIZE) == SNOOZED
    job = world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.attempt, job.snoozed_s) == ("available", 0, 40)
    assert 39 < _due_in_s(world, block) <= 40


def test_a_wait_beyond_the_longest_allowed_ends_the_job_with_that_reason(world: World) -> None:
    block = world.say(DOG)
    world.script(summarize=_raising(FailureClass.TRANSIENT, "http_429", retry_after_s=40.0))
    deps = world.with_settings(snooze_max_wait_s=60)
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == SNOOZED
    world.hurry(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == "JobDied"
    assert world.job(block, JobKind.SUMMARIZE).reason == "waited_too_long"


def test_a_cut_off_reply_never_repeats_the_same_request(world: World) -> None:
    block = world.say(("I have a dog called Rex. " * 60, "Noted. " * 60))
    world.script(summarize=lambda _task: reply('{"title": "cut', finish_reason="length"))
    assert world.run_until_final(block, JobKind.SUMMARIZE) == [
        "JobRetried",
        "JobRetried",
        "JobDied",
    ]
    prompts = [(task.prompt.user, task.max_output_tokens) for task in world.model.tasks]
    assert len(prompts) == 3
    assert len(set(prompts)) == 3
    assert {one["class"] for one in world.job(block, JobKind.SUMMARIZE).errors} == {"truncated"}


def test_a_malformed_reply_is_repaired_once_an_attempt_and_six_calls_are_the_most(
    world: World,
) -> None:
    block = world.say(DOG)
    world.script(summarize=lambda _task: reply("no object here"))
    assert world.run_until_final(block, JobKind.SUMMARIZE)[-1] == "JobDied"
    assert len(world.model.tasks) == 6
    assert "cannot be used" in world.model.tasks[1].prompt.user
    with world.database.read(world.tenant_id) as tx:
        failed = list_replies(tx, NAMESPACE)
    assert {one.reply for one in failed} == {"no object here"}
    assert len(failed) == 6


def test_an_unexpected_error_is_recorded_by_type_and_never_by_message(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    block = world.say(DOG)

    def broken(_task: ModelTask[Any]) -> Any:
        raise LookupError("Rex is a secret")

    world.script(summarize=broken)
    assert world.run(block, JobKind.SUMMARIZE) == "JobRetried"
    (error,) = world.job(block, JobKind.SUMMARIZE).errors
    assert (error["class"], error["code"]) == ("internal", "internal")
    assert error["detail"].startswith("LookupError at workers/")
    captured = capsys.readouterr()
    assert "secret" not in captured.out + captured.err


def test_a_time_limit_counts_as_transient(world: World) -> None:
    class TimeIsUp(Exception):
        pass

    def late(_task: ModelTask[Any]) -> Any:
        raise TimeIsUp

    block = world.say(DOG)
    world.script(summarize=late)
    deps = replace(world.deps, time_limits=(TimeIsUp,))
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == "JobRetried"
    assert world.job(block, JobKind.SUMMARIZE).errors[0]["code"] == "time_limit"


def test_a_lease_is_renewed_while_the_model_thinks(world: World) -> None:
    block = world.say(DOG)
    left: list[float] = []

    def long_thought(_task: ModelTask[Any]) -> Any:
        for _ in range(100):
            threading.Event().wait(0.05)
            with world.database.read(world.tenant_id) as tx:
                until = text("SELECT extract(epoch FROM lease_until - started_at) FROM jobs")
                left.append(float(tx.connection.execute(until).scalar_one()))
            if left[-1] > 1.0:
                break
        return reply(SUMMARY)

    world.script(summarize=long_thought)
    deps = world.with_settings(lease_s=0.9)
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == "succeeded"
    assert left[0] <= 0.9 < left[-1]


def test_an_unrung_follow_up_is_left_to_the_relay(world: World) -> None:
    block = world.say(DOG)
    deps = replace(world.deps, ring=lambda *_: False)
    world.run(block, JobKind.SUMMARIZE, deps=deps)
    assert world.job(block, JobKind.EXTRACT).rung_at is None
    world.run(block, JobKind.EXTRACT)


def test_a_rung_follow_up_is_not_rung_again_by_the_relay(world: World) -> None:
    block = world.say(DOG)
    world.run(block, JobKind.SUMMARIZE)
    assert world.job(block, JobKind.EXTRACT).rung_at is not None


def test_a_kind_without_a_step_is_dead_at_once_and_not_lost(world: World) -> None:
    block = world.say(DOG)
    deps = replace(world.deps, steps={})
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == "JobDied"
    assert world.job(block, JobKind.SUMMARIZE).reason == "unknown_kind"


def test_follow_ups_of_a_backfill_stay_on_its_queue(world: World) -> None:
    block = world.say(DOG)
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(text("UPDATE jobs SET queue = 'backfill'"))
    world.run(block, JobKind.SUMMARIZE)
    assert world.job(block, JobKind.EXTRACT).queue == "backfill"


def test_a_finish_without_the_lease_raises_and_rolls_back(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id
    with world.database.write(world.tenant_id) as tx:
        job = job_claims.claim(tx, job_id, lease_token="mine", lease_s=30)
    assert job is not None
    stranger = replace(job, lease_token="not-mine")
    with pytest.raises(job_leases.LeaseLost), world.database.write(world.tenant_id) as tx:
        finish(tx, stranger, Done())
    assert world.job(block, JobKind.SUMMARIZE).state == "running"


def test_a_policys_model_is_used_for_its_namespace(world: World) -> None:
    world.policy(provider="scripted", model="other")
    block = world.say(DOG)
    other = ScriptedModel(behaviours={"summarize": lambda _t: reply(SUMMARY)}, name="other")
    asked: list[tuple[str, str]] = []

    def model_of(provider: str, name: str) -> ScriptedModel:
        asked.append((provider, name))
        return other

    deps = replace(world.deps, model_of=model_of)
    world.run(block, JobKind.SUMMARIZE, deps=deps)
    assert asked == [("scripted", "other")]
    assert world.job(block, JobKind.SUMMARIZE).model == "other"
