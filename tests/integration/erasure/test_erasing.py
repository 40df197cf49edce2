from __future__ import annotations

from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import owner_engine
from tests.integration.erasure.eraser import Eraser
from tests.integration.reprocess.memory import HOME, READ

NOTHING = {"raw": 0, "events": 0, "nodes": 0}


def test_an_erased_turn_is_gone_and_what_it_had_replaced_stands_again(memory: Eraser) -> None:
    assert memory.homes() >= {"Ann: home: Turku"}
    assert memory.titles("superseded") == {"Ann lives in Oslo"}
    turn_id = memory.turn_ids()[6]

    erasure = memory.erase(turn=turn_id)

    assert erasure["state"] == "done"
    assert memory.found("Turku") == NOTHING
    assert memory.titles("superseded") == set()
    assert "Ann lives in Oslo" in memory.titles()
    assert memory.homes() >= {"Ann: home: Oslo", "Gil: home: Doha"}
    assert memory.findings() == []
    certificate = erasure["certificate"]
    assert certificate["counts"]["turns"] == 1
    assert certificate["probe"]["hits"] == {"message": 0, "event": 0, "node": 0}
    assert certificate["probe"]["terms"] > 0
    assert memory.verify(erasure["erasure_id"], ids=[turn_id], receipt_ids=["r7"]) == {
        "valid": True,
        "signed": True,
        "complete": True,
        "ids": [{"name": turn_id, "erased": True, "absent": True}],
        "receipt_ids": [{"name": "r7", "erased": True, "absent": True}],
    }


def test_a_block_that_keeps_turns_is_derived_anew_and_an_emptied_one_goes(memory: Eraser) -> None:
    turns = memory.turn_ids()
    blocks = [row.block_id for row in memory.sql("SELECT block_id FROM blocks ORDER BY sequence")]
    memory.ask(turn=turns[0])
    memory.run(queue="upkeep")
    states = memory.sql("SELECT status FROM block_states WHERE block_id = :id", id=blocks[0])
    assert [row.status for row in states] == ["pending"]
    layers = memory.sql("SELECT content FROM block_layers WHERE block_id = :id", id=blocks[0])
    assert len(layers) == 3
    assert not any("Oslo" in row.content for row in layers)
    assert all("Rome" in row.content for row in layers)
    memory.run()
    shown = memory.client.get(f"{READ}/blocks", params={"scope": "namespace"}).json()
    assert "Oslo" not in str(shown)
    assert memory.findings() == []

    memory.erase(turn=turns[1])

    left = [row.block_id for row in memory.sql("SELECT block_id FROM blocks ORDER BY sequence")]
    assert left == blocks[1:]
    assert memory.findings() == []
    memory.say("Hal lives in Nice", "Ida lives in Metz")
    memory.run()
    assert memory.homes() >= {"Hal: home: Nice", "Ida: home: Metz"}
    assert memory.findings() == []


def test_a_dry_run_counts_and_changes_nothing(memory: Eraser) -> None:
    before = memory.readings()
    answer = memory.plan(thread="main")
    assert answer.status_code == 200
    assert answer.json() == {
        "dry_run": True,
        "counts": {
            "turns": 8,
            "messages": 8,
            "request_receipts": 8,
            "blocks": 4,
            "events": 8,
        },
    }
    assert memory.readings() == before
    assert memory.sql("SELECT 1 FROM erasures") == []


def test_an_erased_event_leaves_its_turn(memory: Eraser) -> None:
    (row,) = memory.sql("SELECT event_id FROM events WHERE title LIKE 'Eve %'")

    erasure = memory.erase(event=row.event_id)

    assert memory.found("Bern") == {"raw": 1, "events": 0, "nodes": 0}
    assert memory.client.get(f"{READ}/events/{row.event_id}").status_code == 404
    assert memory.verify(erasure["erasure_id"], ids=[row.event_id])["valid"]
    assert memory.findings() == []


def test_an_erased_thread_is_not_known_any_more(memory: Eraser) -> None:
    memory.erase(thread="main")
    threads = memory.client.get(f"{READ}/threads").json()["items"]
    assert threads == []
    assert memory.client.get(f"{READ}/graph").json()["nodes"] == []
    assert memory.findings() == []
    again = memory.ask(thread="main")
    assert (again.status_code, again.json()["duplicate"], again.json()["state"]) == (
        202,
        True,
        "done",
    )
    assert memory.ask(thread="never").status_code == 404


def test_an_erased_namespace_is_as_if_it_never_was(memory: Eraser, settings: Settings) -> None:
    memory.reprocess("extract")
    memory.run()
    memory.client.post(f"{HOME}/exports")
    memory.run()
    answer = memory.client.delete(HOME)
    assert answer.status_code == 202
    memory.run()
    erasure = memory.erasure(answer.json()["erasure_id"])
    assert erasure["state"] == "done"
    assert erasure["certificate"]["counts"]["turns"] == 8
    assert memory.client.get(HOME).status_code == 404
    assert memory.verify(erasure["erasure_id"], receipt_ids=["r1", "r8"])["valid"]
    assert tables_with_rows(settings, memory.tenant_id) == {
        "tenants",
        "api_keys",
        "audit_log",
        "jobs",
        "model_calls",
        "erasures",
        "erasure_keys",
        "tombstones",
    }
    assert memory.client.delete(HOME).json()["erasure_id"] == erasure["erasure_id"]
    assert memory.client.delete(f"{HOME}-other").status_code == 404
    memory.posted = 10
    memory.say("Joy lives in Oban", "Kim lives in Pisa")
    memory.run()
    assert memory.homes() == {"Joy: home: Oban", "Kim: home: Pisa"}
    assert memory.findings() == []


def test_a_late_use_of_what_was_erased_is_refused(memory: Eraser) -> None:
    found = memory.client.post(f"{READ}/events/search", json={"query": "Eve Bern"}).json()
    batch, ref = found["batch_id"], found["items"][0]["evidence_ref"]
    judged = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    memory.client.post(f"/v1/batches/{batch}/assessment", json=judged)
    memory.erase(event=ref.removeprefix("event:"))
    use = {"evidence_refs": [ref], "receipt_id": "late"}
    answer = memory.client.post(f"/v1/batches/{batch}/use", json=use)
    assert (answer.status_code, answer.json()["code"]) == (409, "not_adopted")
    empty = memory.client.post(f"/v1/batches/{batch}/use", json=use | {"evidence_refs": []})
    assert empty.status_code == 200
    assert memory.findings() == []


def test_a_tail_of_which_nothing_is_left_is_not_open(memory: Eraser) -> None:
    memory.say("Hal lives in Nice")
    memory.erase(turn=memory.turn_ids()[8])
    (thread,) = memory.client.get(f"{READ}/threads").json()["items"]
    assert thread["open_tail_turns"] == 0
    memory.posted = 9
    memory.say("Ida lives in Metz", "Jan lives in Graz")
    memory.run()
    assert memory.homes() >= {"Ida: home: Metz", "Jan: home: Graz"}
    assert memory.findings() == []


def test_a_gap_in_the_open_tail_is_sealed_over(memory: Eraser) -> None:
    memory.client.patch(HOME, json={"block_turn_size": 4})
    memory.say("Hal lives in Nice", "Ida lives in Metz")
    memory.erase(turn=memory.turn_ids()[8])
    memory.say("Jan lives in Graz", "Kim lives in Pisa")
    memory.run()
    assert memory.homes() >= {"Ida: home: Metz", "Jan: home: Graz", "Kim: home: Pisa"}
    assert memory.findings() == []


def tables_with_rows(settings: Settings, tenant_id: str) -> set[str]:
    """Return the tables in which a tenant has any row."""
    engine = owner_engine(settings)
    with engine.connect() as connection:
        tables = connection.execute(
            text(
                "SELECT table_name FROM information_schema.columns "
                "WHERE table_schema = 'public' AND column_name = 'tenant_id'"
            )
        ).scalars()
        found = {
            table
            for table in tables
            if connection.execute(
                text(f"SELECT 1 FROM {table} WHERE tenant_id = :t"),  # noqa: S608 - names of our own schema
                {"t": tenant_id},
            ).first()
        }
    engine.dispose()
    return found
