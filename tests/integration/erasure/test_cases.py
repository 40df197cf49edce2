"""The handed cases of erasure, what comes late, and what the database itself refuses."""

from __future__ import annotations

import hashlib
import hmac
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from shared.domain.erasure import SelectorKind
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.database import Database, owner_engine
from shared.store.erasures import begin_erasure, erase_sources, keyed_hash
from tests.integration.erasure.eraser import Eraser
from tests.integration.reprocess.memory import HOME, READ
from workers.models.port import ModelReply, ModelTask
from workers.models.scripted import ScriptedModel
from workers.runner import Deps, run_job
from workers.steps import erase


def paused_deps(memory: Eraser, kind: str, thinking: threading.Event, go: threading.Event) -> Deps:
    """Return what runs jobs whose model stands still in one kind of call until it may go on."""
    own = {
        "summarize": memory._summarize,
        "extract": memory._extract,
        "project": memory._project,
    }

    def slowly(task: ModelTask[Any]) -> ModelReply:
        thinking.set()
        assert go.wait(60)
        return own[kind](task)

    model = ScriptedModel(behaviours=own | {kind: slowly})
    return Deps(
        database=memory.database,
        model=model,
        settings=memory.settings,
        clock=memory.deps.clock,
        jitter=lambda: 0.0,
        steps=memory.deps.steps,
    )


@pytest.mark.parametrize("kind", ["summarize", "extract", "project"])
def test_del_02_race_a_job_that_was_reading_stores_nothing(empty_memory: Eraser, kind: str) -> None:
    memory = empty_memory
    memory.say("Ann lives in Oslo", "Ben lives in Rome")
    while not memory.sql("SELECT 1 FROM jobs WHERE kind = :kind", kind=kind):
        memory.run(at_most=1)
    (job,) = memory.sql("SELECT job_id FROM jobs WHERE kind = :kind", kind=kind)
    thinking, go = threading.Event(), threading.Event()
    deps = paused_deps(memory, kind, thinking, go)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(run_job, memory.tenant_id, job.job_id, deps)
        assert thinking.wait(30)
        erasure = memory.erase(thread="main")
        go.set()
        assert late.result(60) == "lease_lost"

    (after,) = memory.sql("SELECT state, reason FROM jobs WHERE job_id = :id", id=job.job_id)
    assert (after.state, after.reason) == ("cancelled", "source_erased")
    assert memory.sql("SELECT 1 FROM events") == []
    assert memory.sql("SELECT 1 FROM block_summaries") == []
    assert memory.sql("SELECT 1 FROM nodes") == []
    assert memory.sql("SELECT 1 FROM model_calls WHERE detail IS NOT NULL") == []
    assert memory.verify(erasure["erasure_id"])["valid"]
    assert memory.findings() == []


def test_a_job_of_another_block_starts_over_from_what_is_left(empty_memory: Eraser) -> None:
    memory = empty_memory
    memory.say("Ann lives in Oslo", "Ben lives in Rome")
    memory.run()
    memory.say("Cleo lives in Lima", "Dan lives in Kyiv")
    memory.run(queue="summarize")
    (job,) = memory.sql("SELECT job_id FROM jobs WHERE kind = 'extract' AND state = 'available'")
    thinking, go = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(
            run_job, memory.tenant_id, job.job_id, paused_deps(memory, "extract", thinking, go)
        )
        assert thinking.wait(30)
        memory.ask(turn=memory.turn_ids()[0])
        memory.run(queue="upkeep")
        go.set()
        assert late.result(60) == "lease_lost"
    memory.run()
    assert memory.titles() == {"Ben lives in Rome", "Cleo lives in Lima", "Dan lives in Kyiv"}
    assert memory.findings() == []


def test_del_03_idempotent(memory: Eraser) -> None:
    (row,) = memory.sql("SELECT event_id FROM events WHERE title LIKE 'Eve %'")
    first = memory.ask(event=row.event_id)
    again = memory.ask(event=row.event_id)
    assert (first.status_code, first.json()["duplicate"]) == (202, False)
    assert (again.status_code, again.json()["duplicate"]) == (202, True)
    assert again.json()["erasure_id"] == first.json()["erasure_id"]
    memory.run()
    later = memory.ask(event=row.event_id)
    assert (later.status_code, later.json()["state"]) == (202, "done")
    assert later.json()["erasure_id"] == first.json()["erasure_id"]
    wrong = memory.ask(event=new_id(Prefix.NODE))
    assert (wrong.status_code, wrong.json()["errors"][0]["code"]) == (422, "wrong_id_type")
    assert memory.client.get(f"{READ}/events/{row.event_id}").status_code == 404
    assert memory.ask(event=new_id(Prefix.EVENT)).status_code == 404


def test_del_05_an_erased_receipt_stays_erased(empty_memory: Eraser) -> None:
    memory = empty_memory
    body = {
        "receipt_id": "r1",
        "thread_id": "t",
        "messages": [{"role": "user", "content": "The code is 4711."}],
    }
    stored = memory.client.post(f"{HOME}/turns", json=body).json()
    memory.erase(turn=stored["turn_id"])
    for content in ("The code is 4711.", "Something else."):
        body["messages"] = [{"role": "user", "content": content}]
        replay = memory.client.post(f"{HOME}/turns", json=body)
        assert (replay.status_code, replay.json()) == (201, {"duplicate": True, "erased": True})
        batch = memory.client.post(f"{HOME}/turns/batch", json=[body]).json()
        assert batch["items"][0]["turn"] == {"duplicate": True, "erased": True}
        assert batch["duplicates"] == 1
    assert memory.turn_ids() == []
    assert memory.found("4711")["raw"] == 0


def test_a_replay_that_meets_the_erasure_does_not_bring_the_turn_back(
    empty_memory: Eraser, database: Database
) -> None:
    memory = empty_memory
    memory.say("Ann lives in Oslo")
    (turn_id,) = memory.turn_ids()
    body = {
        "receipt_id": "r1",
        "thread_id": "main",
        "messages": [{"role": "user", "content": "Ann lives in Oslo."}],
    }
    with ThreadPoolExecutor(1) as pool:
        with database.write(memory.tenant_id) as tx:
            erasure = begin_erasure(tx, "project:again", SelectorKind.TURN, turn_id, key_id=None)
            erase_sources(
                tx,
                erasure.erasure_id,
                {"rows": {"turns": [turn_id], "blocks": [], "events": [], "kept": []}},
            )
            replay = pool.submit(memory.client.post, f"{HOME}/turns", json=body)
            threading.Event().wait(0.5)
            assert not replay.done()
        answer = replay.result(30)
    assert answer.status_code in (201, 503)
    again = memory.client.post(f"{HOME}/turns", json=body)
    assert again.json() == {"duplicate": True, "erased": True}
    assert memory.turn_ids() == []


def test_a_killed_erasure_goes_on_where_it_stood(
    memory: Eraser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "PAGE", 3)
    answer = memory.ask(thread="main").json()
    assert memory.run(at_most=1, queue="upkeep") == 1
    assert len(memory.turn_ids()) == 5
    # The worker dies with the lease; a person ends the job, another asks for the same again.
    memory.sql(
        "UPDATE jobs SET state = 'dead', finalized_at = now(), lease_token = NULL, "
        "lease_until = NULL WHERE kind = 'erase'"
    )
    again = memory.ask(thread="main").json()
    assert again["erasure_id"] == answer["erasure_id"]
    memory.run()
    erasure = memory.erasure(answer["erasure_id"])
    assert (erasure["state"], erasure["counts"]["turns"]) == ("done", 8)
    assert memory.turn_ids() == []
    assert memory.findings() == []


def test_what_another_block_says_as_well_stays_with_that(memory: Eraser) -> None:
    memory.say("Eve lives in Bern", "Jan lives in Graz")
    memory.run()
    (before,) = memory.sql("SELECT event_id, block_id FROM events WHERE title LIKE 'Eve %'")
    turn_id = memory.turn_ids()[4]
    memory.erase(turn=turn_id)
    (after,) = memory.sql("SELECT event_id, block_id FROM events WHERE title LIKE 'Eve %'")
    assert after.event_id == before.event_id
    assert after.block_id != before.block_id
    assert memory.homes() >= {"Eve: home: Bern"}
    assert memory.found("Bern") == {"raw": 1, "events": 1, "nodes": 1}
    assert memory.findings() == []


def test_the_hashes_are_hmac_sha256_and_the_key_is_out_of_reach(
    memory: Eraser, settings: Settings, database: Database
) -> None:
    memory.erase(turn=memory.turn_ids()[0])
    engine = owner_engine(settings)
    with engine.connect() as connection:
        pad = connection.execute(
            text("SELECT inner_pad FROM erasure_keys WHERE tenant_id = :t"),
            {"t": memory.tenant_id},
        ).scalar_one()
    engine.dispose()
    key = bytes(byte ^ 0x36 for byte in pad)
    expected = hmac.new(key, "päth".encode(), hashlib.sha256).hexdigest()
    with database.read(memory.tenant_id) as tx:
        assert keyed_hash(tx, "päth") == expected
    for forbidden in (
        "SELECT * FROM erasure_keys",
        "DELETE FROM turns",
        "DELETE FROM messages",
        "UPDATE block_layers SET content = ''",
        "DELETE FROM tombstones",
        "SELECT erase_rows('public.turns', 'true', '{}')",
        "SELECT erase_part('a', 'b', 'c', '{}')",
    ):
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            database.write(memory.tenant_id) as tx,
        ):
            tx.connection.execute(text(forbidden))


def test_no_erasure_reaches_beyond_its_namespace_or_runs_unasked(
    memory: Eraser, database: Database
) -> None:
    turn_id = memory.turn_ids()[0]
    work = {"rows": {"turns": [turn_id], "blocks": [], "events": [], "kept": []}}
    with (
        pytest.raises(Exception, match="no such erasure is running"),
        database.write(memory.tenant_id) as tx,
    ):
        erase_sources(tx, new_id(Prefix.ERASURE), work)
    with database.write(memory.tenant_id) as tx:
        elsewhere = begin_erasure(tx, "elsewhere", SelectorKind.TURN, turn_id, key_id=None)
        erase_sources(tx, elsewhere.erasure_id, work)
    assert turn_id in memory.turn_ids()


def test_a_tampered_certificate_is_not_valid(memory: Eraser) -> None:
    erasure = memory.erase(turn=memory.turn_ids()[0])
    erasure_id, certificate = erasure["erasure_id"], erasure["certificate"]
    assert memory.verify(erasure_id, certificate=certificate)["valid"]
    forged = certificate | {"counts": {"turns": 2}}
    assert memory.verify(erasure_id, certificate=forged)["signed"] is False
    alive = memory.turn_ids()[0]
    told = memory.verify(erasure_id, ids=[alive])
    assert (told["valid"], told["ids"]) == (
        False,
        [{"name": alive, "erased": False, "absent": False}],
    )
    wrong = memory.client.post(f"/v1/erasures/{erasure_id}/verify", json={"ids": ["nod_x"]})
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"turn": "trn_x"},
        {"thread": "a/b"},
        {"label": "nothing"},
        {"namespace": "project:other"},
        {"turn": "trn_x", "thread": "main"},
        {"tenant": "x"},
    ],
)
def test_a_selector_that_is_none_is_422(memory: Eraser, selector: dict[str, str]) -> None:
    answer = memory.ask(**selector)
    assert answer.status_code == 422, answer.text


def test_a_node_whose_name_nobody_says_any_more_takes_another(memory: Eraser) -> None:
    (eve,) = memory.sql("SELECT node_id FROM nodes WHERE name = 'Eve'")
    (finn,) = memory.sql("SELECT event_id FROM events WHERE title LIKE 'Finn %'")
    place = {"node": eve.node_id, "event": finn.event_id, "t": memory.tenant_id}
    memory.sql(
        "INSERT INTO labels (tenant_id, label_id, node_id, kind, value, key) "
        "VALUES (:t, 'lbl_x', :node, 'alias', 'The Gardener', 'thegardener')",
        t=memory.tenant_id,
        node=eve.node_id,
    )
    memory.sql(
        "INSERT INTO label_sources (tenant_id, label_id, event_id) VALUES (:t, 'lbl_x', :event)",
        t=memory.tenant_id,
        event=finn.event_id,
    )
    memory.sql(
        "INSERT INTO node_sources (tenant_id, node_id, event_id) VALUES (:t, :node, :event)",
        **place,
    )
    (event,) = memory.sql("SELECT event_id FROM events WHERE title LIKE 'Eve %'")
    memory.erase(event=event.event_id)
    (node,) = memory.sql("SELECT name, key FROM nodes WHERE node_id = :id", id=eve.node_id)
    assert (node.name, node.key) == ("The Gardener", "thegardener")
    assert memory.sql("SELECT 1 FROM facts WHERE node_id = :id", id=eve.node_id) == []
    assert memory.found("gardener")["nodes"] == 1
    assert memory.found("Eve")["nodes"] == 0
    assert memory.findings() == []


def test_an_import_loses_its_text_with_its_source(empty_memory: Eraser) -> None:
    memory = empty_memory
    memory.say("Ann lives in Oslo", "Ben lives in Rome")
    memory.run()
    file = '{"candidates": [{"title": "Likes Zorbtea", "summary": "Likes Zorbtea a lot."}]}'
    begun = memory.client.post(f"{HOME}/imports", json={"text": file})
    assert begun.status_code == 202, begun.text
    memory.run()
    path = f"/v1/imports/{begun.json()['import_id']}"
    done = memory.client.post(f"{path}/confirm", json={"ignore_unanswered": True})
    assert done.status_code == 200, done.text
    memory.run()
    assert memory.found("Zorbtea")["events"] == 1
    (row,) = memory.sql("SELECT source_thread_id FROM imports")
    memory.erase(thread=row.source_thread_id)
    assert memory.found("Zorbtea") == {"raw": 0, "events": 0, "nodes": 0}
    for table in ("imports", "import_candidates", "messages", "events", "jobs", "audit_log"):
        held = memory.sql(f"SELECT r::text AS words FROM {table} AS r")  # noqa: S608 - a constant
        assert not any("Zorbtea" in one.words for one in held), table
    assert memory.client.get(path).status_code == 200
    assert memory.findings() == []
