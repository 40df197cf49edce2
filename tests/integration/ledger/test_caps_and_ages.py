"""Caps of tenants, queues and backfill; what pruning takes and leaves; bounds of a long wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from shared.domain.jobs import FailureClass, FollowUp, JobKind
from shared.errors import Conflict
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from shared.store.jobs import enqueue, retry_by_hand
from shared.store.namespaces import ensure_namespace
from tests.integration.ledger.world import NAMESPACE, Fate, LedgerWorld
from tests.integration.workers.conftest import World, reply
from tests.support.databases import new_tenant
from workers.models.port import ModelError, ModelTask, Usage
from workers.relay import relay_once
from workers.runner import SNOOZED
from workers.upkeep import upkeep_once

DOG = ("I have a dog called Rex.", "What a good name for a dog.")


@pytest.fixture
def queue(own_settings: Settings) -> Iterator[QueueDatabase]:
    opened = QueueDatabase(own_settings)
    yield opened
    opened.close()


def _tenant(settings: Settings, database: Database, **jobs: int) -> str:
    tenant_id = new_tenant(settings, database).tenant_id
    with database.write(tenant_id) as tx:
        ensure_namespace(tx, NAMESPACE)
        for name, number in jobs.items():
            for index in range(number):
                subject = f"blk_{name}_{index}"
                work = FollowUp(JobKind.SUMMARIZE, subject, queue=name)
                enqueue(tx, NAMESPACE, work)
    return tenant_id


def _rung(queue: QueueDatabase, settings: Settings, **caps: int) -> list[str]:
    rung: list[str] = []
    chosen = settings.model_copy(update=caps)
    relay_once(queue, chosen, lambda name, *_: not rung.append(name))
    return rung


def test_a_full_queue_holds_up_no_other(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    _tenant(own_settings, own_database, summarize=5, extract=2)
    _tenant(own_settings, own_database, summarize=5)
    rung = _rung(queue, own_settings, in_flight_per_queue=3)
    assert (rung.count("summarize"), rung.count("extract")) == (3, 2)
    assert _rung(queue, own_settings, in_flight_per_queue=3) == []
    assert _rung(queue, own_settings, in_flight_per_queue=4) == ["summarize"]


def test_backfill_trickles_behind_live_work_and_never_uses_a_tenants_last_place(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    tenant_id = _tenant(own_settings, own_database, backfill=500, summarize=3)
    assert _rung(queue, own_settings, in_flight_per_tenant=3) == ["summarize"] * 3
    with own_database.write(tenant_id) as tx:
        tx.connection.execute(text("DELETE FROM jobs WHERE queue = 'summarize'"))
    assert _rung(queue, own_settings) == ["backfill"]
    assert _rung(queue, own_settings) == []
    assert _rung(queue, own_settings, in_flight_backfill=3) == ["backfill"] * 2


def test_a_backfills_follow_up_is_left_to_the_relay(ledger_world: LedgerWorld) -> None:
    world = ledger_world
    world.say("main")
    world.say("main")
    world._change("UPDATE jobs SET queue = 'backfill'")
    [job] = world.rows("SELECT job_id FROM jobs")
    assert world.deliver(("", world.tenant_id, job.job_id), Fate.WELL) == "succeeded"
    assert world.bells == []
    [follow_up] = world.rows("SELECT queue, rung_at FROM jobs WHERE kind = 'extract'")
    assert (follow_up.queue, follow_up.rung_at) == ("backfill", None)


@pytest.mark.parametrize("is_ready", [True, False])
def test_jobs_that_ended_badly_are_pruned_late_and_never_of_an_unready_block(
    ledger_world: LedgerWorld, is_ready: bool
) -> None:
    world = ledger_world
    world.say("main")
    world.say("main")
    if is_ready:
        world._change(
            "UPDATE block_states SET status = 'ready', anchor_position = 1, ready_at = now()"
        )
    world._change(
        "UPDATE jobs SET state = 'dead', reason = 'http_503', "
        "job_id = 'job_000000000000' || substr(job_id, 17), "
        "finalized_at = now() - interval '20 days'"
    )
    settings = world.settings
    assert upkeep_once(world.queue, world.database, settings).pruned == 0, "kept for a month"
    impatient = settings.model_copy(update={"keep_failed_s": 86_400})
    assert upkeep_once(world.queue, world.database, impatient).pruned == int(is_ready)


def test_a_snooze_does_not_give_back_the_calls_that_were_answered(world: World) -> None:
    block = world.say(DOG)
    calls: list[str] = []

    def answered_then_limited(_task: ModelTask[Any]) -> Any:
        calls.append("call")
        if len(calls) % 2:
            return reply("no object", usage=Usage(5, 5))
        raise ModelError(FailureClass.TRANSIENT, "http_429", "slow down", retry_after_s=5.0)

    world.script(summarize=answered_then_limited)
    ends = []
    for _ in range(12):
        ends.append(world.run(block, JobKind.SUMMARIZE))
        if ends[-1] != SNOOZED:
            break
        world.hurry(block, JobKind.SUMMARIZE)
    assert ends == [SNOOZED] * 5 + ["JobDied"]
    assert world.job(block, JobKind.SUMMARIZE).reason == "call_limit"
    with world.database.write(world.tenant_id) as tx:
        retry_by_hand(tx, world.job(block, JobKind.SUMMARIZE).job_id)
    assert world.run(block, JobKind.SUMMARIZE) == SNOOZED, "a person's retry begins a new count"


def test_of_two_people_who_retry_at_once_one_does(ledger_world: LedgerWorld) -> None:
    world = ledger_world
    world.say("main")
    world.say("main")
    [job] = world.rows("SELECT job_id FROM jobs")
    world.cancel(job.job_id)
    start = threading.Barrier(2)
    ends: list[bool] = []

    def retry() -> None:
        start.wait(10)
        try:
            with world.database.write(world.tenant_id) as tx:
                retry_by_hand(tx, job.job_id)
            ends.append(True)
        except Conflict:
            ends.append(False)

    people = [threading.Thread(target=retry) for _ in range(2)]
    for one in people:
        one.start()
    for one in people:
        one.join(20)
    assert sorted(ends) == [False, True]
