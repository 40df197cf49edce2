from __future__ import annotations

import re
from typing import Any

from shared.settings import Settings
from shared.store.database import QueueDatabase
from shared.store.exports import expire_exports
from tests.integration.erasure.eraser import Eraser
from tests.integration.exports.packing import exported, lines_of, restored
from tests.integration.reprocess.memory import HOME, READ


def all_readings(memory: Eraser) -> dict[str, Any]:
    """Return what readers see, with context, histories and turn receipts."""
    found = memory.readings()
    client = memory.client
    found["context"] = client.post(f"{READ}/context", json={"thread_id": "other"}).json()
    found["own context"] = client.post(f"{READ}/context", json={"thread_id": "main"}).json()
    found["raw"] = client.post(f"{READ}/raw/search", json={"query": "Oslo"}).json()["items"]
    found["threads"] = client.get(f"{READ}/threads").json()
    for node in found["graph"]["nodes"]:
        node_id = node["node_id"]
        found[f"history {node_id}"] = client.get(f"{READ}/graph/nodes/{node_id}/history").json()
    for turn_id in memory.turn_ids():
        receipt = client.get(f"{READ}/turns/{turn_id}/receipt").json()
        found[f"receipt {turn_id}"] = {
            "stored": receipt["stored"],
            "sealed": receipt["sealed"],
            "events": receipt["events"]["event_ids"],
        }
    return found


def use_something(memory: Eraser) -> None:
    """Search, judge and use an event."""
    post = memory.client.post
    found = post(f"{READ}/events/search", json={"query": "Eve"}).json()
    ref = found["items"][0]["evidence_ref"]
    judged = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    post(f"/v1/batches/{found['batch_id']}/assessment", json=judged)
    used = post(
        f"/v1/batches/{found['batch_id']}/use",
        json={"evidence_refs": [ref], "receipt_id": "used-1"},
    )
    assert used.status_code in (200, 201), used.text


def test_a_restored_namespace_reads_as_the_one_exported(memory: Eraser, elsewhere: Eraser) -> None:
    use_something(memory)
    memory.say("Hal lives in Nice")
    memory.client.patch(HOME, json={"language": "en"})
    bundle = exported(memory)

    answer = restored(elsewhere, bundle, key="once")

    assert answer.status_code == 201, answer.text
    assert answer.json()["ids"] == "kept"
    assert answer.json()["counts"]["turn"] == 9
    assert all_readings(elsewhere) == all_readings(memory)
    assert elsewhere.findings() == []
    for table in ("events", "use_receipts", "use_receipt_events", "block_summaries", "facts"):
        count = f"SELECT count(*) AS n FROM {table}"  # noqa: S608 - a constant
        assert elsewhere.sql(count)[0].n == memory.sql(count)[0].n > 0
    policy = elsewhere.client.get(HOME).json()["overrides"]
    assert policy == memory.client.get(HOME).json()["overrides"]
    again = restored(elsewhere, bundle, key="once")
    assert (again.status_code, again.json()["duplicate"]) == (201, True)
    full = restored(elsewhere, bundle)
    assert (full.status_code, full.json()["code"]) == (409, "namespace_not_empty")
    # It goes on where it stood: a replay is known, a new turn is sealed and projected.
    elsewhere.posted = 0
    elsewhere.say("Ann lives in Oslo")
    assert len(elsewhere.turn_ids()) == 9
    elsewhere.posted = 9
    elsewhere.say("Ida lives in Metz")
    elsewhere.run()
    assert elsewhere.homes() >= {"Hal: home: Nice", "Ida: home: Metz"}
    assert elsewhere.findings() == []


def test_beside_its_origin_every_id_is_new_and_in_order(memory: Eraser) -> None:
    use_something(memory)
    bundle = exported(memory)
    other = f"{HOME}-copy"
    answer = restored(memory, bundle, home=other)
    assert answer.status_code == 201, answer.text
    assert answer.json()["ids"] == "new"
    assert memory.findings() == []
    ids = re.compile(r"[a-z]{3}_[0-9a-f]{32}")
    for path in ("events", "timeline", "graph", "blocks?scope=namespace"):
        origin, copy = (memory.client.get(f"{read}/{path}").text for read in (READ, f"{READ}-copy"))
        assert set(ids.findall(copy)).isdisjoint(ids.findall(origin))
        copy = copy.replace("project:again-copy", "project:again")
        assert ids.sub("id", copy) == ids.sub("id", origin)


def test_a_bundle_names_no_tenant_and_no_key(memory: Eraser) -> None:
    use_something(memory)
    text = str(lines_of(exported(memory)))
    assert memory.tenant_id not in text
    assert "key_" not in text
    assert "tenant" not in text


def test_what_was_erased_stays_erased(memory: Eraser) -> None:
    before = exported(memory)
    turn_id = memory.turn_ids()[6]
    memory.erase(turn=turn_id)
    refused = restored(memory, before, home=f"{HOME}-copy")
    assert (refused.status_code, refused.json()["code"]) == (409, "bundle_erased")
    assert memory.client.get(f"{HOME}-copy").status_code == 404

    after = exported(memory)
    assert "Turku" not in str(lines_of(after))
    answer = restored(memory, after, home=f"{HOME}-copy")
    assert answer.status_code == 201, answer.text
    replay = memory.client.post(
        f"{HOME}-copy/turns",
        json={
            "receipt_id": "r7",
            "thread_id": "main",
            "messages": [{"role": "user", "content": "Ann lives in Turku."}],
        },
    )
    assert replay.json() == {"duplicate": True, "erased": True}
    assert memory.findings() == []


def test_an_erasure_withdraws_the_bundles_that_hold_it(memory: Eraser) -> None:
    exported(memory)
    (row,) = memory.sql("SELECT export_id FROM exports")
    memory.erase(turn=memory.turn_ids()[0])
    view = memory.client.get(f"/v1/exports/{row.export_id}").json()
    assert (view["state"], view["bundle"]) == ("withdrawn", None)
    fetched = memory.client.get(f"/v1/exports/{row.export_id}/bundle")
    assert (fetched.status_code, fetched.json()["code"]) == (409, "export_not_ready")
    assert memory.sql("SELECT 1 FROM export_chunks") == []


def test_an_unready_block_is_derived_after_the_restore(memory: Eraser, elsewhere: Eraser) -> None:
    memory.say("Hal lives in Nice", "Ida lives in Metz")
    begun = memory.client.post(f"{HOME}/exports").json()
    memory.run(queue="upkeep")
    bundle = memory.client.get(f"/v1/exports/{begun['export_id']}/bundle").content
    assert restored(elsewhere, bundle).status_code == 201
    assert "Hal: home: Nice" not in elsewhere.homes()
    elsewhere.run()
    assert elsewhere.homes() >= {"Hal: home: Nice", "Ida: home: Metz", "Ann: home: Turku"}
    assert elsewhere.findings() == []


def test_a_bundle_is_let_go_after_its_time(memory: Eraser, settings: Settings) -> None:
    exported(memory)
    memory.sql("UPDATE exports SET expires_at = now() - interval '1 second'")
    queue = QueueDatabase(settings)
    with queue.transaction() as tx:
        assert expire_exports(tx, most=100) == 1
        assert expire_exports(tx, most=100) == 0
    queue.close()
    assert memory.sql("SELECT state FROM exports")[0].state == "expired"
    assert memory.sql("SELECT 1 FROM export_chunks") == []


def test_a_namespace_with_imports_travels_without_the_undone_import(
    memory: Eraser, elsewhere: Eraser
) -> None:
    for title in ("Likes green tea", "Likes loud music"):
        file = f'{{"candidates": [{{"title": "{title}", "summary": "{title} a lot."}}]}}'
        begun = memory.client.post(f"{HOME}/imports", json={"text": file}).json()
        memory.run()
        path = f"/v1/imports/{begun['import_id']}"
        done = memory.client.post(f"{path}/confirm", json={"ignore_unanswered": True})
        assert done.status_code == 200, done.text
        memory.run()
    assert memory.client.post(f"{path}/undo").status_code == 200
    bundle = exported(memory)
    assert "loud music" not in str(lines_of(bundle))
    answer = restored(elsewhere, bundle)
    assert answer.status_code == 201, answer.text
    assert elsewhere.found("green tea") == memory.found("green tea")
    assert elsewhere.titles() == memory.titles() - {"Likes loud music"}
    assert elsewhere.findings() == []
