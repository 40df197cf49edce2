"""Imports survive their workers, and stay within their tenant and its keys."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from shared.auth import issue_key
from shared.cli import command_line
from shared.domain.tenancy import Permission
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase, owner_engine
from shared.store.job_queue import rescue_expired
from tests.integration.imports.test_previews import decide
from tests.integration.imports.world import NS, World, export, memory
from tests.support.databases import Tenant

cli = command_line("import")
TITLES = ("Likes tea", "Plays the cello", "Owns a red kayak")


class Killed(BaseException):
    """What no worker catches, like a SIGKILL."""


def test_a_killed_worker_repeats_only_its_candidate(world: World, settings: Settings) -> None:
    asked: list[str] = []
    add = decide("ADD")

    def decider(task: Any) -> Any:
        title = task.input.candidate.title
        asked.append(title)
        if title == TITLES[1] and asked.count(title) == 1:
            raise Killed
        return add(task)

    world.script(import_decide=decider)
    begun = world.import_text(export(*map(memory, TITLES)))
    first, second, third = world.due()
    assert world.run_job(first) == "succeeded"
    with pytest.raises(Killed):
        world.run_job(second)
    assert world.run_job(third) == "succeeded"
    page = world.page(begun["import_id"])
    assert page["status"] == "processing"
    assert page["progress"] == {
        "total": 3,
        "decided": 2,
        "awaiting_confirmation": 0,
        "actions": {"ADD": 2},
    }
    with world.database.write(world.tenant.tenant_id) as tx:
        tx.connection.execute(text("UPDATE jobs SET lease_until = now() WHERE state = 'running'"))
    queue = QueueDatabase(settings)
    with queue.transaction() as queue_tx:
        rescue_expired(queue_tx)
    queue.close()
    world.run_jobs()
    assert world.page(begun["import_id"])["status"] == "ready"
    assert [asked.count(title) for title in TITLES] == [1, 2, 1]


def test_a_ring_that_comes_twice_decides_once(world: World) -> None:
    world.import_text(export(memory("Likes tea")))
    (job,) = world.due()
    assert world.run_job(job) == "succeeded"
    assert world.run_job(job) == "duplicate_delivery"
    assert len(world.model.tasks) == 1


def test_a_reply_that_nobody_can_read_waits_for_a_person(world: World) -> None:
    world.script(import_decide=lambda _task: "I would rather not say.")
    page = world.decided(memory("Likes tea"))
    assert page["status"] == "awaiting_confirmation"
    (shown,) = page["candidates"]
    assert shown["decision"]["action"] == "IGNORE"
    assert shown["job"]["state"] == "degraded"
    # Three attempts, each with one repair, and no more.
    assert len(world.model.tasks) == 6


def test_a_provider_that_fails_fails_the_import_until_somebody_retries(world: World) -> None:
    def fails(_task: Any) -> Any:
        raise RuntimeError("nobody expects this")

    world.script(import_decide=fails)
    page = world.decided(memory("Likes tea"), memory("Plays the cello"))
    assert page["status"] == "failed"
    assert [one["state"] for one in page["jobs"]] == ["dead", "dead"]
    world.script()
    for one in page["jobs"]:
        world.post(f"/v1/jobs/{one['job_id']}/retry")
    assert world.page(page["import_id"])["status"] == "processing"
    world.run_jobs()
    assert world.page(page["import_id"])["status"] == "ready"


def test_another_tenant_sees_nothing_of_an_import_and_matches_nothing_of_it(
    world: World, other_tenant: Tenant, settings: Settings, database: Database
) -> None:
    page = world.decided(memory("Plays the cello"))
    path, unknown = f"/v1/imports/{page['import_id']}", f"/v1/imports/{new_id(Prefix.IMPORT)}"
    theirs = other_tenant.headers
    for method, suffix, body in (
        ("GET", "", None),
        ("POST", "/confirm", {"ignore_unanswered": True}),
        ("POST", "/undo", {}),
    ):
        got, expected = (
            told(world.http.request(method, f"{at}{suffix}", json=body, headers=theirs))
            for at in (path, unknown)
        )
        assert got == expected
        assert got["status"] == 404
    assert world.page(page["import_id"]) == page
    world.confirm(page["import_id"])
    mine = World(world.http, settings, database, other_tenant, world.clock)
    other = mine.decided(memory("Plays the cello"))
    assert other["candidates"][0]["matches"] == []
    assert other["candidates"][0]["decision"]["action"] == "ADD"


def test_a_key_of_another_namespace_gets_the_answer_of_an_unknown_import(world: World) -> None:
    page = world.decided(memory("Plays the cello"))
    with world.database.write(world.tenant.tenant_id) as tx:
        permissions = [Permission.INGEST, Permission.READ, Permission.CURATE]
        key = issue_key(tx, label="narrow", permissions=permissions, namespaces=["project:other"])
    headers = {"Authorization": f"Bearer {key.key}"}
    for suffix in ("", "/undo"):
        method = "POST" if suffix else "GET"
        got, expected = (
            told(world.http.request(method, f"/v1/imports/{at}{suffix}", headers=headers))
            for at in (page["import_id"], new_id(Prefix.IMPORT))
        )
        assert got == expected
        assert got["status"] == 404


def test_a_reader_may_look_and_may_not_write(world: World) -> None:
    page = world.decided(memory("Plays the cello"))
    with world.database.write(world.tenant.tenant_id) as tx:
        key = issue_key(tx, label="reader", permissions=[Permission.READ])
    headers = {"Authorization": f"Bearer {key.key}"}
    path = f"/v1/imports/{page['import_id']}"
    assert world.http.get(path, headers=headers).status_code == 200
    for suffix in ("/confirm", "/undo"):
        assert world.http.post(f"{path}{suffix}", json={}, headers=headers).status_code == 403
    begin = world.http.post(
        f"/v1/namespaces/{NS}/imports", json={"text": export(memory("x"))}, headers=headers
    )
    assert begin.status_code == 403


def test_nobody_can_post_into_the_thread_of_an_import(world: World) -> None:
    page = world.decided(memory("Plays the cello"))
    done = world.confirm(page["import_id"])
    turn = {
        "receipt_id": "r",
        "thread_id": f"external-import:{done['source_block_id']}",
        "messages": [{"role": "user", "content": "Let me in."}],
    }
    refused = world.post(f"/v1/namespaces/{NS}/turns", turn, expect=422)
    assert refused["errors"][0]["code"] == "reserved_name"


def test_a_re_derivation_carries_an_import_over_as_it_is(world: World) -> None:
    world.say("My name is Dana and I live in Oslo.")
    page = world.decided(memory("Plays the cello"), memory("Has a tortoise called Tilly"))
    done = world.confirm(page["import_id"], ignore_unanswered=True)
    world.run_jobs()
    began = world.post(f"/v1/namespaces/{NS}/reprocess", {"stages": ["summarize"]}, expect=202)
    world.run_jobs()
    path = f"/v1/namespaces/{NS}/graph-versions/{began['graph_version_id']}"
    assert world.get(path)["is_whole"]
    world.post(f"{path}/switch")
    assert set(done["event_ids"]) <= set(world.event_ids().values())
    world.undo(page["import_id"])
    assert not set(done["event_ids"]) & set(world.event_ids().values())


def test_the_command_line_goes_the_whole_way(world: World, tmp_path: Any) -> None:
    file = tmp_path / "export.json"
    file.write_text(export(memory("Plays the cello"), memory("Likes tea")), encoding="utf-8")
    access = ["--api-url", str(world.http.base_url), "--api-key", world.tenant.admin_key]

    def run(*words: str) -> str:
        done = CliRunner().invoke(cli, ["import", *words, *access])
        assert done.exit_code == 0, done.output
        return done.output

    assert "stratagate.external-memory.v2" in run("prompt", "--language", "zh")
    begun = run("file", str(file), "-n", NS, "--no-wait")
    import_id = begun.split(":")[0].strip()
    world.run_jobs()
    assert "Plays the cello" in run("show", import_id)
    assert "2 ADD" not in run("confirm", import_id, "--decide", "1=IGNORE")
    assert list(world.event_ids()) == ["Plays the cello"]
    assert "1 removed" in run("undo", import_id)
    assert "already" in run("undo", import_id)


def told(answer: httpx.Response) -> dict[str, Any]:
    return {name: value for name, value in answer.json().items() if name != "request_id"}


def test_every_table_that_holds_rows_of_threads_hides_those_of_undone_imports(
    settings: Settings,
) -> None:
    # Documents are deleted by the undo; batches are history, and their items show nothing hidden.
    elsewhere = {"search_documents", "batches"}
    engine = owner_engine(settings)
    with engine.connect() as connection:
        named = connection.execute(
            text(
                "SELECT table_name FROM information_schema.columns "
                "WHERE table_schema = 'public' AND column_name = 'thread_id'"
            )
        ).scalars()
        walled = connection.execute(
            text("SELECT tablename FROM pg_policies WHERE policyname = 'not_undone'")
        ).scalars()
        assert set(named) - elsewhere == set(walled)
    engine.dispose()
