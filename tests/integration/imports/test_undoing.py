"""A commit writes all of an import, and its undo leaves memory as it was before, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shared.store.verify import verify_tenant
from tests.integration.imports.world import NS, Json, World, export, memory

SAID = (
    "My name is Dana and I live in Oslo.",
    "I have a tortoise called Tilly.",
    "I work at Acme as a nurse.",
    "I drink my coffee black.",
    "Orion uses pnpm and Mara leads the design of Orion.",
)
QUERIES = ("tortoise", "Oslo Dana", "Orion pnpm", "coffee", "Acme", "Mara")


def answers(page: Json, actions: Mapping[int, str]) -> list[Json]:
    """Answer each candidate; an action about an event takes the candidate's best match."""
    return [
        {
            "candidate_index": index,
            "action": action,
            "existing_event_ids": []
            if action in ("ADD", "IGNORE")
            else [page["candidates"][index]["matches"][0]["event_id"]],
        }
        for index, action in actions.items()
    ]


def five(world: World) -> tuple[Json, Json]:
    """Import five candidates over what was said: ADD 2, MERGE 1, SUPERSEDE 1, CONFLICT 1."""
    page = world.decided(
        memory("Plays the cello", "Dana plays the cello in the Oslo orchestra."),
        memory("Mara moved to Bergen", "Mara, who leads Orion, moved to Bergen."),
        memory("Drinks coffee black", "Dana drinks coffee black, two cups each morning."),
        memory("Lives in Bergen", "Dana lives in Bergen, no longer in Oslo."),
        memory("Works at Globex", "Dana works at Globex as a nurse, not at Acme."),
    )
    done = world.confirm(
        page["import_id"],
        *answers(page, {0: "ADD", 1: "ADD", 2: "MERGE", 3: "SUPERSEDE", 4: "CONFLICT"}),
    )
    world.run_jobs()
    return page, done


def findings(world: World) -> list[str]:
    with world.database.read(world.tenant.tenant_id) as tx:
        return [f"{one.check}: {one.subject}" for one in verify_tenant(tx)]


def named(world: World) -> set[str]:
    return {one["name"] for one in world.get(f"/v1/retrieval/{NS}/graph")["nodes"]}


def test_imp_05_undo_leaves_every_reader_what_it_had_before(world: World) -> None:
    world.say(*SAID)
    before = world.everything(*QUERIES)
    page, done = five(world)
    assert done["actions"] == {"ADD": 2, "MERGE": 1, "SUPERSEDE": 1, "CONFLICT": 1, "IGNORE": 0}
    assert len(done["superseded_event_ids"]) == 2
    during = world.everything(*QUERIES)
    assert during["events"] != before["events"]
    assert during["graph"] != before["graph"]
    assert world.search("cello")[0]["title"] == "Plays the cello"
    assert findings(world) == []

    undone = world.undo(page["import_id"])
    assert not undone["already_undone"]
    assert sorted(undone["removed_event_ids"]) == sorted(done["event_ids"])
    assert undone["restored_event_ids"] == done["superseded_event_ids"]
    after = world.everything(*QUERIES)
    for part, was in before.items():
        assert after[part] == was, part
    assert json.dumps(after) == json.dumps(before)
    assert world.search("cello") == []
    assert findings(world) == []

    # What stays is the import's own page, and the audit.
    told = world.page(page["import_id"])
    assert told["status"] == "undone"
    assert told["source_block"]["status"] == "undone"
    assert "cello" in told["source_block"]["text"]
    log = world.get("/v1/audit-log", subject=page["import_id"])["items"]
    actions = [one["action"] for one in log]
    assert actions == ["import_undone", "import_committed", "import_begun"]

    again = world.undo(page["import_id"])
    assert again["already_undone"]
    assert world.everything(*QUERIES) == before


def test_an_undone_block_is_found_on_no_page_but_the_imports_own(world: World) -> None:
    world.say(*SAID)
    page, done = five(world)
    block_id, home = done["source_block_id"], f"/v1/retrieval/{NS}"
    world.post(f"{home}/blocks/{block_id}/expand", {"level": 5})
    world.undo(page["import_id"])
    world.post(f"{home}/blocks/{block_id}/expand", {"level": 5}, expect=404)
    world.get(f"{home}/events/{done['event_ids'][0]}", expect=404)
    shown = world.everything("cello orchestra", "Bergen")
    assert [one["thread_id"] for one in shown["threads"]["items"]] == ["main"]
    assert shown["counts"]["blocks"] == {"pending": 0, "ready": 1}
    assert shown["counts"]["block_count"] == 1
    assert "cello" not in json.dumps({key: one for key, one in shown.items() if "cello" not in key})


def test_an_undone_file_can_be_imported_again(world: World) -> None:
    world.say(*SAID)
    page, done = five(world)
    world.undo(page["import_id"])
    again, redone = five(world)
    assert redone["event_ids"] != done["event_ids"]
    assert world.page(again["import_id"])["status"] == "committed"
    assert findings(world) == []


def test_turns_after_an_import_go_on_as_without_it(world: World) -> None:
    world.say(*SAID[:2])
    turns = world.get(f"/v1/namespaces/{NS}")["turn_count"]
    page, done = five(world)
    # An import is no turn: the clock of weights stands.
    assert world.get(f"/v1/namespaces/{NS}")["turn_count"] == turns
    formed = {one["event_id"]: one["formed_turn"] for one in world.rows("events")}
    assert {formed[one] for one in done["event_ids"]} == {turns}
    world.say("I bought a red kayak.", thread_id="later")
    world.undo(page["import_id"])
    world.say("My sister is called Ida.", thread_id="later")
    assert world.get(f"/v1/namespaces/{NS}")["block_count"] == 3
    assert findings(world) == []


def test_what_was_said_since_of_the_same_things_stays_in_the_graph(world: World) -> None:
    world.say(*SAID)
    page, _ = five(world)
    assert "Globex" in named(world)
    world.say("Mara works at Initech.", thread_id="later")
    world.undo(page["import_id"])
    assert {"Mara", "Initech", "Acme"} <= named(world)
    assert not {"Globex", "Bergen"} & named(world)
    assert findings(world) == []


def test_an_undo_names_what_came_later_and_rests_on_the_import(world: World) -> None:
    world.say(*SAID)
    page, done = five(world)
    cello = next(
        one["event_id"]
        for one in world.page(page["import_id"])["candidates"]
        if one["title"] == "Plays the cello"
    )
    # Used: an answer rested on it.
    found = world.post(f"/v1/retrieval/{NS}/events/search", {"query": "cello orchestra"})
    ref = f"event:{cello}"
    verdict = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    world.post(f"/v1/batches/{found['batch_id']}/assessment", verdict)
    use = {"evidence_refs": [ref], "receipt_id": "answer-1"}
    world.post(f"/v1/batches/{found['batch_id']}/use", use)
    # Superseded: a later import replaces it.
    later = world.decided(memory("Sold the cello", "Dana sold the cello and left the orchestra."))
    index = [one["event_id"] for one in later["candidates"][0]["matches"]].index(cello)
    target = later["candidates"][0]["matches"][index]["event_id"]
    newer = world.confirm(
        later["import_id"],
        {"candidate_index": 0, "action": "SUPERSEDE", "existing_event_ids": [target]},
    )
    before = world.everything(*QUERIES)
    refused = world.undo(page["import_id"], expect=409)
    assert refused["code"] == "import_has_dependants"
    kinds = {one["code"]: one["message"] for one in refused["errors"]}
    assert kinds["used"].startswith("answer-1")
    assert kinds["supersedes"].startswith(newer["event_ids"][0])
    assert world.everything(*QUERIES) == before
    assert world.page(page["import_id"])["status"] == "committed"
    assert done["event_ids"]


def test_a_later_message_that_says_it_again_is_a_dependant(world: World) -> None:
    page = world.decided(memory("Dana has a tortoise called Tilly"))
    done = world.confirm(page["import_id"])
    world.script(
        extract=lambda task: {
            "shouldExtract": True,
            "reason": "a fact",
            "events": [
                {
                    "title": "Dana has a tortoise called Tilly",
                    "summary": "Dana has a tortoise called Tilly.",
                    "sourceMessageIds": list(task.input.allowed_source_message_ids)[:1],
                    "scope": "user",
                    "criticality": "routine",
                    "tags": [],
                    "quotes": [],
                    "temporal": {"eventType": "other", "participants": ["Dana"]},
                }
            ],
        }
    )
    world.say("As I said, Dana has a tortoise called Tilly.")
    refused = world.undo(page["import_id"], expect=409)
    assert [one["code"] for one in refused["errors"]] == ["said_again"]
    assert done["event_ids"]


def test_a_commit_looks_at_its_own_targets_alone(world: World) -> None:
    world.say(*SAID)
    page = world.decided(
        memory("Lives in Bergen", "Dana lives in Bergen, no longer in Oslo."),
        memory("Plays the cello", "Dana plays the cello."),
    )
    decisions = answers(page, {0: "SUPERSEDE", 1: "ADD"})
    target = decisions[0]["existing_event_ids"][0]
    # Another change of the namespace does not matter.
    world.say("I bought a red kayak.", thread_id="later")
    answer = world.http.patch(
        f"/v1/namespaces/{NS}/curation/events/{target}",
        json={"status": "forgotten", "reason": "test"},
        headers=world.tenant.headers,
    )
    answer.raise_for_status()
    before = world.everything(*QUERIES)
    refused = world.confirm(page["import_id"], *decisions, expect=409)
    assert refused["code"] == "stale_targets"
    assert [one["pointer"] for one in refused["errors"]] == ["/candidates/0"]
    assert target in refused["errors"][0]["message"]
    assert world.everything(*QUERIES) == before
    again = [{"candidate_index": 0, "action": "ADD"}, decisions[1]]
    assert len(world.confirm(page["import_id"], *again)["event_ids"]) == 2


def test_answers_that_cannot_hold_are_refused_by_name(world: World) -> None:
    world.say(*SAID[:2])
    page = world.decided(memory("Has a tortoise called Tilly and a cat"))
    match = page["candidates"][0]["matches"][0]["event_id"]
    wrong: list[tuple[list[Json], str, str]] = [
        (
            [{"candidate_index": 0, "action": "MERGE"}],
            "/decisions/0/existing_event_ids",
            "target_required",
        ),
        (
            [{"candidate_index": 0, "action": "ADD", "existing_event_ids": [match]}],
            "/decisions/0/existing_event_ids",
            "target_not_allowed",
        ),
        (
            [{"candidate_index": 0, "action": "MERGE", "existing_event_ids": ["evt_x"]}],
            "/decisions/0/existing_event_ids/0",
            "illegal_target",
        ),
        (
            [{"candidate_index": 9, "action": "ADD"}],
            "/decisions/0/candidate_index",
            "unknown_candidate",
        ),
        (
            [{"candidate_index": 0, "action": "ADD"}] * 2,
            "/decisions/1/candidate_index",
            "repeated_candidate",
        ),
    ]
    for decisions, pointer, code in wrong:
        refused = world.confirm(page["import_id"], *decisions, expect=422)
        assert (refused["errors"][0]["pointer"], refused["errors"][0]["code"]) == (pointer, code)
    world.undo(page["import_id"], expect=409)


def test_a_second_confirmation_writes_nothing(world: World) -> None:
    page = world.decided(memory("Plays the cello"))
    path, key = f"/v1/imports/{page['import_id']}/confirm", {"Idempotency-Key": "once"}
    first = world.post(path, {"decisions": []}, 200, **key)
    assert world.post(path, {"decisions": []}, 200, **key) == first | {"duplicate": True}
    assert world.confirm(page["import_id"], expect=409)["code"] == "import_committed"
    world.undo(page["import_id"])
    assert world.confirm(page["import_id"], expect=409)["code"] == "import_undone"


def test_conflicts_stand_in_both_directions_and_go_with_the_import(world: World) -> None:
    world.say(*SAID)
    page, _ = five(world)
    rows = [one for one in world.rows("event_links") if one["kind"] == "conflicts_with"]
    pairs = {(one["event_id"], one["other_event_id"]) for one in rows}
    assert pairs == {(other, one) for one, other in pairs}
    assert pairs != set()
    world.undo(page["import_id"])
    left = [one for one in world.rows("event_links") if one["kind"] == "conflicts_with"]
    assert left == []


def test_times_that_nobody_knows_do_not_stop_a_reader(world: World) -> None:
    odd: dict[str, Any] = {"happenedStart": "2026-02-30", "mentionedAt": "last week"}
    page = world.decided(
        memory("Plays the cello"),
        memory("Ran a marathon", "Ran the Oslo marathon.", temporal=odd),
        memory(
            "Far away",
            "A plan for the end of time.",
            temporal={"happenedStart": "9999-12-31", "precision": "day", "basis": "explicit"},
        ),
        memory(
            "Moved in",
            "Moved into the flat.",
            temporal={"happenedStart": "2024-05", "precision": "day", "basis": "explicit"},
        ),
    )
    times = {one["title"]: one["time"] for one in page["candidates"]}
    assert times["Ran a marathon"]["original_text"] == "2026-02-30"
    assert times["Far away"]["precision"] == "unknown"
    assert times["Moved in"]["precision"] == "month"
    done = world.confirm(page["import_id"], ignore_unanswered=True)
    world.run_jobs()
    assert len(done["event_ids"]) == 4
    shown = world.everything("marathon", "cello", "flat")
    assert len(shown["events"]["items"]) == 4
    assert "Moved in" in json.dumps(shown["timeline"])
    mentioned = {"mentioned": {"from": "2020-01-01T00:00:00Z", "to": "2030-01-01T00:00:00Z"}}
    body = {"query": "cello", **mentioned}
    filtered = world.post(f"/v1/retrieval/{NS}/events/search", body)
    assert filtered["items"] == []


def test_an_import_without_projection_waits_for_the_stage(world: World) -> None:
    world.begin(stages={"project": False})
    page = world.decided(memory("Mara leads Orion"))
    world.confirm(page["import_id"])
    counts = world.get(f"/v1/namespaces/{NS}")["counts"]
    assert counts["jobs"]["project"] == {"skipped": 1}
    world.undo(page["import_id"])
    assert world.event_ids() == {}


def test_an_undo_before_the_projection_ends_its_job(world: World) -> None:
    page = world.decided(memory("Mara leads Orion"))
    done = world.confirm(page["import_id"])
    world.undo(page["import_id"])
    job = world.get(f"/v1/jobs/{done['job_id']}")
    assert (job["state"], job["reason"]) == ("cancelled", "import_undone")
    assert world.due() == []


def test_export_text_is_kept_whole(world: World) -> None:
    text = export(memory("Plays the cello", quotes=["I play the cello"]))
    begun = world.import_text(text)
    world.run_jobs()
    world.confirm(begun["import_id"])
    (row,) = world.rows("messages")
    assert row["content"] == text
    assert row["thread_id"].startswith("external-import:")
    assert findings(world) == []


def test_a_batch_from_before_an_undo_reinforces_nothing_of_it(world: World) -> None:
    page = world.decided(memory("Plays the cello", "Dana plays the cello in an orchestra."))
    done = world.confirm(page["import_id"])
    found = world.post(f"/v1/retrieval/{NS}/events/search", {"query": "cello orchestra"})
    ref = f"event:{done['event_ids'][0]}"
    verdict = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    world.post(f"/v1/batches/{found['batch_id']}/assessment", verdict)
    world.undo(page["import_id"])
    use = {"evidence_refs": [ref], "receipt_id": "answer-late"}
    answer = world.http.post(
        f"/v1/batches/{found['batch_id']}/use", json=use, headers=world.tenant.headers
    )
    assert answer.status_code < 500
    assert answer.json().get("reinforced", []) == []
    assert findings(world) == []
