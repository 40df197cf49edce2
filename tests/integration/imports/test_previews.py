"""What an import shows before anything is written: candidates, matches, decisions, and doubts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.imports.world import NS, World, export, memory


def decide(action: str, confidence: float = 0.95, targets: Any = None) -> Any:
    def say(task: Any) -> dict[str, Any]:
        offered = [match.event_id for match in task.input.matches]
        return {
            "action": action,
            "existingEventIds": offered[:1] if targets is None else targets,
            "confidence": confidence,
            "reason": "as the script says",
            "mergedCandidate": None,
        }

    return say


def test_imp_01_fenced_text_is_read_and_a_date_of_unknown_basis_dropped(world: World) -> None:
    temporal = {
        "originalText": "some time next spring",
        "happenedStart": "2027-03-01",
        "precision": "unknown",
        "basis": "unknown",
    }
    candidate = memory(
        "Loft conversion",
        "Considering a loft conversion some time next spring.",
        memoryKind="event",
        category="project",
        temporal=temporal,
    )
    begun = world.import_text(f"Here you go:\n```json\n{export(candidate)}\n```")
    assert (begun["status"], begun["candidates"], begun["undecided"]) == ("processing", 1, 1)
    world.run_jobs()
    page = world.page(begun["import_id"])
    assert page["status"] == "ready"
    (shown,) = page["candidates"]
    assert shown["time"]["happened_start"] is None
    assert shown["time"]["precision"] == "unknown"
    assert shown["time"]["original_text"] == "some time next spring"
    assert shown["decision"]["action"] == "ADD"
    # A preview alone: the namespace has begun, and holds nothing.
    assert world.event_ids() == {}
    assert world.get(f"/v1/retrieval/{NS}/blocks", scope="namespace")["items"] == []


def test_imp_02_exact_repetitions_meet_no_model_and_the_same_file_twice_adds_nothing(
    world: World,
) -> None:
    text = export(
        memory("Plays the cello", "Plays the cello on Sundays."),
        memory("Plays the  cello ", "plays the cello on sundays."),
    )
    first = world.import_text(text)
    world.run_jobs()
    page = world.page(first["import_id"])
    assert [one["decision"]["action"] for one in page["candidates"]] == ["ADD", "IGNORE"]
    world.confirm(first["import_id"])
    world.run_jobs()
    asked = len(world.model.tasks)

    again = world.import_text(text)
    assert (again["status"], again["undecided"]) == ("ready", 0)
    page = world.page(again["import_id"])
    assert [one["decision"]["confidence"] for one in page["candidates"]] == [1.0, 1.0]
    done = world.confirm(again["import_id"])
    assert done["event_ids"] == []
    assert done["source_block_id"] is None
    assert len(world.model.tasks) == asked
    assert list(world.event_ids()) == ["Plays the cello"]


def test_two_previews_of_one_file_add_it_once(world: World) -> None:
    text = export(memory("Plays the cello", "Plays the cello on Sundays."))
    one, other = world.import_text(text), world.import_text(text)
    world.run_jobs()
    assert len(world.confirm(one["import_id"])["event_ids"]) == 1
    late = world.confirm(other["import_id"])
    assert late["event_ids"] == []
    assert late["actions"]["IGNORE"] == 1


def test_imp_04_a_doubtful_decision_waits_for_a_person_and_changes_nothing(world: World) -> None:
    world.say("I have a tortoise called Tilly.")
    before = world.everything("tortoise")
    world.script(import_decide=decide("SUPERSEDE", 0.4))
    page = world.decided(memory("Has no pets but a tortoise"))
    assert page["status"] == "awaiting_confirmation"
    (shown,) = page["candidates"]
    assert shown["requires_confirmation"]
    assert shown["decision"]["action"] == "SUPERSEDE"
    assert shown["matches"][0]["event_id"] == shown["decision"]["existing_event_ids"][0]
    refused = world.confirm(page["import_id"], expect=409)
    assert refused["code"] == "confirmation_required"
    assert refused["errors"][0]["pointer"] == "/candidates/0"
    # Looked at again, by whomever, it is the same pending decision.
    assert world.page(page["import_id"]) == page
    assert world.everything("tortoise") == before
    left = world.confirm(page["import_id"], ignore_unanswered=True)
    assert left["actions"]["IGNORE"] == 1
    assert left["event_ids"] == []


def test_dup_06_a_position_instead_of_an_id_waits_for_a_person(world: World) -> None:
    world.say("I drink my coffee black.")
    world.script(import_decide=decide("MERGE", 0.95, ["3"]))
    page = world.decided(memory("Drinks coffee black", "Drinks black coffee each morning."))
    (shown,) = page["candidates"]
    assert shown["matches"] != []
    assert shown["decision"]["action"] == "IGNORE"
    assert shown["decision"]["proposed"] == "MERGE"
    assert shown["decision"]["rejected_event_ids"] == ["3"]
    assert shown["requires_confirmation"]
    assert page["status"] == "awaiting_confirmation"


def test_imp_06_what_a_model_recovered_waits_whatever_its_confidence(world: World) -> None:
    broken = "memories: - likes hiking - {title: 'Broken', summary: 'quote never closed"
    world.script(
        import_recover=lambda _task: {"candidates": [memory("Likes hiking", "Likes hiking.")]},
        import_decide=decide("ADD", 0.99),
    )
    begun = world.import_text(broken)
    assert (begun["status"], begun["candidates"]) == ("extracting", 0)
    world.run_jobs()
    page = world.page(begun["import_id"])
    assert page["is_recovered"]
    assert page["source"] == "recovered"
    assert page["status"] == "awaiting_confirmation"
    assert page["candidates"][0]["requires_confirmation"]
    done = world.confirm(
        begun["import_id"], {"candidate_index": 0, "action": "ADD", "existing_event_ids": []}
    )
    # The original text stays, as the source that the event cites.
    page = world.page(begun["import_id"])
    assert page["source_block"]["block_id"] == done["source_block_id"]
    assert page["source_block"]["text"] == broken
    assert world.search("hiking")[0]["title"] == "Likes hiking"


def test_the_rules_recover_plain_notes_without_a_model(world: World) -> None:
    begun = world.import_text("What I know:\n- likes hiking\n- works at Acme in Oslo\n- {broken")
    world.run_jobs()
    page = world.page(begun["import_id"])
    assert [one["summary"] for one in page["candidates"]] == [
        "likes hiking",
        "works at Acme in Oslo",
    ]
    assert page["progress"]["awaiting_confirmation"] == 2


def test_nothing_recovered_is_a_failure_that_can_be_retried(world: World) -> None:
    world.script(import_recover=lambda _task: {"candidates": []})
    begun = world.import_text("no json here {")
    world.run_jobs()
    page = world.page(begun["import_id"])
    assert page["status"] == "failed"
    assert page["jobs"][0]["reason"] == "nothing_recovered"
    assert world.confirm(begun["import_id"], expect=409)["code"] == "import_not_ready"
    world.post(f"/v1/jobs/{page['jobs'][0]['job_id']}/retry")
    assert world.page(begun["import_id"])["status"] == "extracting"
    world.script(import_recover=lambda _task: {"candidates": [memory("Likes tea")]})
    world.run_jobs()
    assert world.page(begun["import_id"])["status"] == "awaiting_confirmation"


def test_imp_07_a_mem0_list_keeps_where_it_came_from_and_when_it_was_said(world: World) -> None:
    mem0 = {
        "results": [
            {
                "id": "3f0",
                "memory": "Prefers stone tiles",
                "created_at": "2025-06-01T00:00:00-07:00",
                "metadata": {"topic": "kitchen"},
            },
            {"id": "3f1", "memory": "", "created_at": None},
        ]
    }
    begun = world.post(f"/v1/namespaces/{NS}/imports", {"json": mem0}, expect=202)
    assert begun["skipped"] == [{"index": 1, "code": "empty"}]
    world.run_jobs()
    page = world.page(begun["import_id"])
    assert page["source"] == "mem0"
    (shown,) = page["candidates"]
    assert shown["provenance"] == "external:mem0:3f0"
    assert shown["time"]["mentioned_at"] == "2025-06-01T07:00:00+00:00"
    assert shown["time"]["happened_start"] is None
    done = world.confirm(begun["import_id"])
    event = world.get(f"/v1/retrieval/{NS}/events/{done['event_ids'][0]}")
    assert event["temporal"]["mentioned_at"].startswith("2025-06-01T00:00:00-07:00")
    assert event["temporal"]["happened_start"] is None


def test_what_the_file_says_of_ids_pins_and_counts_is_not_read(world: World) -> None:
    hostile = memory(
        "Likes tea",
        id="evt_00000000000000000000000000000000",
        pinned=True,
        mentionCount=900,
        status="forgotten",
        weight={"pinned": True},
        tenant_id="ten_other",
        namespace="global:everything",
    )
    page = world.decided(hostile)
    done = world.confirm(page["import_id"])
    (row,) = [one for one in world.rows("events") if one["event_id"] == done["event_ids"][0]]
    assert row["event_id"] != hostile["id"]
    assert (row["pinned"], row["mention_count"], row["status"]) == (False, 1, "active")
    assert row["namespace"] == NS


def test_secrets_of_the_file_are_seen_by_no_reader_and_no_model(world: World) -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz123456"
    page = world.decided(memory("Deploys by hand", f"Deploys with the key {key}."))
    done = world.confirm(page["import_id"])
    world.run_jobs()
    asked = [task.prompt.user for task in world.model.tasks]
    shown = json.dumps([world.page(page["import_id"]), world.everything("deploys"), asked])
    assert key not in shown
    assert "[REDACTED" in shown
    assert done["event_ids"]
    assert key not in json.dumps(world.rows("import_candidates"), default=str)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": "  "}, "unreadable_import"),
        ({"text": '{"schemaVersion": "other.v9", "candidates": []}'}, "unreadable_import"),
        ({"text": "{}", "source": "mem0"}, "unreadable_import"),
        ({"text": "{}", "json": {}}, "invalid_value"),
        ({}, "invalid_value"),
        ({"text": "{}", "top_k": 21}, None),
        ({"text": "{}", "tenant_id": "ten_x"}, None),
        ({"text": 7}, None),
    ],
)
def test_a_body_that_cannot_be_is_refused_by_name(
    world: World, body: dict[str, Any], code: str | None
) -> None:
    answer = world.post(f"/v1/namespaces/{NS}/imports", body, expect=422)
    assert answer["errors"]
    if code is not None:
        assert answer["errors"][0]["code"] == code
    assert world.rows("imports") == []


def test_a_repeated_request_gets_the_first_answer(world: World) -> None:
    body = {"text": export(memory("Likes tea"))}
    path = f"/v1/namespaces/{NS}/imports"
    one = world.post(path, body, 202, **{"Idempotency-Key": "k"})
    two = world.post(path, body, 202, **{"Idempotency-Key": "k"})
    assert two == one | {"duplicate": True}
    other = {"text": export(memory("Likes coffee"))}
    answer = world.post(path, other, 409, **{"Idempotency-Key": "k"})
    assert answer["code"] == "receipt_conflict"
    assert len(world.rows("imports")) == 1


def test_a_prompt_to_paste_is_there_in_two_languages(world: World) -> None:
    english = world.get("/v1/import-prompt", language="en")
    chinese = world.get("/v1/import-prompt", language="zh")
    for one in (english, chinese):
        assert one["format"] in one["prompt"]
        assert "coverageNote" in one["prompt"]
        assert "uncertainItems" in one["prompt"]
    assert "Guess no dates" in english["prompt"]
    assert "不要猜日期" in chinese["prompt"]
    world.get("/v1/import-prompt", expect=422, language="xx")


def test_json_06_a_decision_with_a_key_twice_and_no_number_waits_and_supersedes_nothing(
    world: World,
) -> None:
    world.say("I have a tortoise called Tilly.")
    before = world.everything("tortoise")

    def say(task: Any) -> str:
        offered = json.dumps([match.event_id for match in task.input.matches][:1])
        return (
            '{"action":"ADD","action":"SUPERSEDE","existingEventIds":'
            f'{offered},"confidence":NaN,"reason":"newer"}}'
        )

    world.script(import_decide=say)
    page = world.decided(memory("Has no pets but a tortoise"))
    (shown,) = page["candidates"]
    assert (shown.get("decision") or {}).get("action") != "SUPERSEDE"
    assert world.confirm(page["import_id"], expect=409)["code"] in (
        "confirmation_required",
        "import_not_ready",
    )
    assert world.everything("tortoise") == before
