"""Situations that stuck or broke the machine elsewhere, by the ids of the handed cases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from sqlalchemy import text

from shared.auth import issue_key
from shared.domain.jobs import JobKind
from shared.settings import Settings
from shared.store.blocks import BlockRow
from shared.store.database import Database, QueueDatabase
from shared.store.graph import live_version, recent_nodes
from shared.store.job_queue import rescue_expired
from shared.store.migrate import migrate
from tests.integration.ingest.serving import served, turn
from tests.integration.workers.conftest import (
    NAMESPACE,
    SUMMARY,
    World,
    event_reply,
    extraction,
    reply,
)
from tests.support.databases import ALL, new_tenant, settings_for
from tests.support.servers import short_folder
from workers.models.port import ModelTask
from workers.runner import DUPLICATE, LEASE_LOST, run_job

DOG = ("I have a dog called Rex.", "What a good name for a dog.")
WAIT_S = 20


class Killed(BaseException):
    """The worker is gone: nothing in it may handle this."""


def _room(number: int) -> tuple[str, str]:
    """Return words that hold a fact of their own."""
    return f"Item{number} is in room {number}, says Ann to Rex.", "Noted."


def _admin_key(world: World) -> str:
    with world.database.write(world.tenant_id) as tx:
        return issue_key(tx, label="test", permissions=ALL).key


def _expire(world: World) -> None:
    with world.database.write(world.tenant_id) as tx:
        past = "UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'"
        tx.connection.execute(text(past))
    queue = QueueDatabase(world.settings)
    with queue.transaction() as tx:
        rescue_expired(tx)
    queue.close()


def _one_event(world: World) -> None:
    def extract(task: ModelTask[Any]) -> Any:
        said = next(one for one in task.input.messages if one.role == "user")
        words = {"title": said.content, "summary": said.content}
        return reply(extraction(event_reply(said.id, **words)))

    world.script(extract=extract)


def test_stuck_01_a_killed_workers_job_is_done_once_and_delays_no_other_block(
    own_world: World,
) -> None:
    world = own_world
    first, other = world.say(_room(1)), world.say(_room(2), thread_id="other")
    _one_event(world)
    for block in (first, other):
        world.run(block, JobKind.SUMMARIZE)

    def die(_task: ModelTask[Any]) -> Any:
        raise Killed

    healthy = world.model.behaviours["extract"]
    world.script(extract=die)
    with pytest.raises(Killed):
        world.run(first, JobKind.EXTRACT)
    world.script(extract=healthy)
    assert world.run(other, JobKind.EXTRACT) == "succeeded", "another block does not wait"
    assert world.run(first, JobKind.EXTRACT) == DUPLICATE, "its lease still holds"
    _expire(world)
    assert world.run(first, JobKind.EXTRACT) == "succeeded"
    job = world.job(first, JobKind.EXTRACT)
    assert (job.attempt, [one["code"] for one in job.errors]) == (2, ["lease_expired"])
    assert len(world.events(first)) == 1


def test_a_zombie_does_not_finish_while_another_attempt_runs(own_world: World) -> None:
    world = own_world
    block = world.say(DOG)
    calls: list[str] = []

    def overtaken(_task: ModelTask[Any]) -> Any:
        calls.append("call")
        if len(calls) > 1:
            raise Killed
        _expire(world)
        with pytest.raises(Killed):
            world.run(block, JobKind.SUMMARIZE)
        return reply(SUMMARY)

    world.script(summarize=overtaken)
    assert world.run(block, JobKind.SUMMARIZE) == LEASE_LOST
    job = world.job(block, JobKind.SUMMARIZE)
    assert (job.state, job.attempt) == ("running", 2)
    with world.database.read(world.tenant_id) as tx:
        stored = tx.connection.execute(text("SELECT count(*) FROM block_summaries")).scalar_one()
    assert stored == 0


def test_stuck_08_work_of_a_stage_that_is_off_is_skipped_and_offered_again(
    settings: Settings, world: World
) -> None:
    blocks = [world.say(_room(number), thread_id=f"t{number}") for number in range(3)]
    _one_event(world)
    for block in blocks:
        world.run(block, JobKind.SUMMARIZE)
        world.run(block, JobKind.EXTRACT)
    headers = {"Authorization": f"Bearer {_admin_key(world)}"}
    path = f"/v1/namespaces/{NAMESPACE}"
    with served(settings) as url, httpx.Client(base_url=url, headers=headers) as api:
        assert api.get(path).json()["counts"]["progress_percent"] < 100
        assert api.patch(path, json={"stages": {"project": False}}).status_code == 200
        off = api.get(path).json()["counts"]
        assert off["jobs"]["project"] == {"skipped": 3}
        assert (off["progress_percent"], off["to_reprocess"]) == (100, {})
        api.patch(path, json={"stages": {"project": True}})
        assert api.get(path).json()["counts"]["to_reprocess"] == {"project": 3}
        world.script(project=lambda _task: reply({"reason": "none", "nodes": [], "edges": []}))
        for block in blocks:
            job_id = world.job(block, JobKind.PROJECT).job_id
            assert api.post(f"/v1/jobs/{job_id}/retry").json()["state"] == "available"
            assert world.run(block, JobKind.PROJECT) == "succeeded_empty"
        assert api.get(path).json()["counts"]["to_reprocess"] == {}


def test_an_extraction_of_a_stage_that_is_off_makes_its_block_ready_without_a_call(
    world: World,
) -> None:
    block = world.say(DOG)
    world.run(block, JobKind.SUMMARIZE)
    world.policy(stages={"extract": False}, token_budget=0)
    calls = len(world.model.tasks)
    assert world.run(block, JobKind.EXTRACT) == "skipped"
    assert world.block(block.block_id).status == "ready"
    assert len(world.model.tasks) == calls


def test_stuck_10_of_two_deliveries_at_one_instant_one_claims(world: World) -> None:
    block = world.say(DOG)
    job_id = world.job(block, JobKind.SUMMARIZE).job_id
    start = threading.Barrier(2)

    def deliver(_: int) -> str:
        start.wait(WAIT_S)
        return run_job(world.tenant_id, job_id, world.deps)

    with ThreadPoolExecutor(2) as workers:
        ends = sorted(workers.map(deliver, range(2)))
    assert ends == [DUPLICATE, "succeeded"]
    assert len(world.model.tasks) == 1
    with world.database.read(world.tenant_id) as tx:
        spent = tx.connection.execute(text("SELECT count(*) FROM model_calls")).scalar_one()
    assert spent == 1


def test_stuck_11_a_redelivery_before_the_hard_limit_is_refused_at_the_start() -> None:
    with pytest.raises(ValidationError, match="visibility_timeout_s"):
        Settings(visibility_timeout_s=5)


def test_ops_02_no_connection_is_held_while_many_models_think(own_world: World) -> None:
    parallel = 20
    settings = own_world.settings.model_copy(update={"pool_size": 2})
    database = Database(settings)
    blocks = [own_world.say(DOG, thread_id=f"t{number}") for number in range(parallel)]
    thinking, go_on = threading.Semaphore(0), threading.Event()

    def think(_task: ModelTask[Any]) -> Any:
        thinking.release()
        assert go_on.wait(WAIT_S)
        return reply(SUMMARY)

    own_world.script(summarize=think)
    deps = replace(own_world.deps, database=database, settings=settings)

    def run(block: BlockRow) -> str:
        return own_world.run(block, JobKind.SUMMARIZE, deps=deps)

    with ThreadPoolExecutor(parallel) as workers:
        running = [workers.submit(run, block) for block in blocks]
        for _ in range(parallel):
            assert thinking.acquire(timeout=WAIT_S)
        held = database.engine.pool.checkedout()  # type: ignore[attr-defined] # a queue pool
        with database.read(own_world.tenant_id) as tx:
            seen = tx.connection.execute(text("SELECT count(*) FROM blocks")).scalar_one()
        go_on.set()
        ends = {one.result(WAIT_S) for one in running}
    database.close()
    assert (held, seen, ends) == (0, parallel, {"succeeded"})


def test_ops_05_two_projections_of_the_same_nodes_in_opposite_order_both_end_well(
    world: World,
) -> None:
    blocks = [world.say(_room(number), thread_id=f"t{number}") for number in range(2)]
    _one_event(world)
    for block in blocks:
        world.run(block, JobKind.SUMMARIZE)
        world.run(block, JobKind.EXTRACT)
    together = threading.Barrier(2)

    def project(task: ModelTask[Any]) -> Any:
        event_id = task.input.events[0].event_id
        names = ["Ann", "Rex"]
        if event_id == world.events(blocks[0])[0].event_id:
            names.reverse()
        together.wait(WAIT_S)
        return reply({"reason": "", "nodes": [_node(one, event_id) for one in names], "edges": []})

    world.script(project=project)
    with ThreadPoolExecutor(2) as workers:
        ends = list(workers.map(lambda block: world.run(block, JobKind.PROJECT), blocks))
    assert ends == ["succeeded", "succeeded"]
    with world.database.read(world.tenant_id) as tx:
        version = live_version(tx, NAMESPACE)
        assert version is not None
        assert len(recent_nodes(tx, version, limit=9)) == 2
        sources = tx.connection.execute(text("SELECT count(*) FROM node_sources")).scalar_one()
    assert sources == 4


def _node(name: str, event_id: str) -> dict[str, Any]:
    return {
        "ref": name,
        "name": name,
        "type": "person",
        "metadataProvenance": {"name": [event_id]},
        "sourceEventIds": [event_id],
        "facts": [],
    }


def test_ops_03_a_restart_of_the_database_costs_at_most_one_503_and_no_turn() -> None:
    from deploy.local.postgres import start_postgres  # noqa: PLC0415 - beside its one use

    with short_folder() as folder:
        server = start_postgres(folder / "postgres", for_tests=True)
        settings = settings_for(server.url)
        migrate(settings)
        database = Database(settings)
        tenant = new_tenant(settings, database)
        database.close()
        path = f"/v1/namespaces/{NAMESPACE}/turns"
        with (
            served(settings) as url,
            httpx.Client(base_url=url, headers=tenant.headers, timeout=30) as api,
        ):
            assert api.post(path, json=turn("before")).status_code == 201
            server.stop()
            away = api.post(path, json=turn("meanwhile"))
            assert (away.status_code, "Retry-After" in away.headers) == (503, True)
            server = start_postgres(folder / "postgres", for_tests=True)
            answers = [api.post(path, json=turn("after")) for _ in range(settings.pool_size + 1)]
            codes = [one.status_code for one in answers]
            assert codes.count(503) <= 1, codes
            assert codes[-1] in (200, 201)
            assert api.post(path, json=turn("before")).json()["duplicate"] is True
            counted = api.get(f"/v1/namespaces/{NAMESPACE}").json()["turn_count"]
        server.stop()
    assert counted == 2
