"""Only the use of assessed evidence reinforces, once, and reading changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from shared.clock import FixedClock
from tests.integration.retrieval.world import NS, World

SUFFICIENT = {"verdict": "sufficient", "fit": "direct", "missing": "", "next_strategy": "answer"}


@pytest.fixture
def garden(world: World) -> tuple[World, str]:
    block = world.block("The garden gate is green.", "Noted.")
    return world, world.event(block, "The garden gate is green")


def _search(world: World, query: str = "garden gate", **fields: Any) -> Any:
    return world.ask("events/search", {"query": query, **fields})


def _assess(world: World, batch: str, refs: list[str], **fields: Any) -> Any:
    answer = world.post(
        f"/v1/batches/{batch}/assessment", {**SUFFICIENT, "evidence_refs": refs, **fields}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def _use(world: World, batch: str, refs: list[str], receipt: str = "u1", **fields: Any) -> Any:
    return world.post(
        f"/v1/batches/{batch}/use", {"evidence_refs": refs, "receipt_id": receipt, **fields}
    )


def test_gate_03_only_the_first_use_counts(garden: tuple[World, str]) -> None:
    world, event = garden
    before = world.rows("events")
    for _ in range(5):
        batch = _search(world)["batch_id"]
        world.ask("context", {"thread_id": "other", "query": "garden"})
        world.ask("raw/search", {"query": "garden"})
        world.ask(f"events/{event}/expand")
        world.ask("graph/search", {"query": "garden"})
        world.see("blocks", scope="namespace")
    assert world.rows("events") == before
    ref = f"event:{event}"
    assert _assess(world, batch, [ref])["verdict"] == "sufficient"
    assert world.rows("events") == before
    first = _use(world, batch, [ref]).json()
    assert first["duplicate"] is False
    assert [(one["event_id"], one["n"]) for one in first["events"]] == [(event, 2)]
    assert first["events"][0]["weight"] >= first["events"][0]["weight_before"]
    again = _use(world, batch, [ref]).json()
    assert again == first | {"duplicate": True}
    assert world.rows("events")[0]["mention_count"] == 2
    assert world.rows("events")[0]["last_adopted_turn"] == 1


def test_adoption_sets_the_clock_to_the_present_turn(garden: tuple[World, str]) -> None:
    world, event = garden
    for index in range(4):
        world.say(f"Something else, part {index}.", "Yes.", thread_id="later")
    batch = _search(world)["batch_id"]
    _assess(world, batch, [f"event:{event}"])
    used = _use(world, batch, [f"event:{event}"]).json()["events"][0]
    assert used["weight_before"] == pytest.approx(0.548812, abs=1e-6)
    assert used["weight"] == 1.0
    assert world.rows("events")[0]["last_adopted_turn"] == 5


def test_gate_04_a_use_without_a_sufficient_assessment_is_refused(
    garden: tuple[World, str], wall: FixedClock
) -> None:
    world, event = garden
    ref = f"event:{event}"
    before = world.rows("events")
    batch = _search(world)["batch_id"]
    refused = _use(world, batch, [ref])
    assert (refused.status_code, refused.json()["code"]) == (409, "not_assessed")
    _assess(world, batch, [ref], verdict="partial")
    refused = _use(world, batch, [ref])
    assert (refused.status_code, refused.json()["code"]) == (409, "not_adopted")
    _assess(world, batch, [ref])
    refused = _use(world, batch, [ref, "event:evt_unknown", " "])
    assert (refused.status_code, refused.json()["code"]) == (409, "not_adopted")
    assert [(e["pointer"], e["code"]) for e in refused.json()["errors"]] == [
        ("/evidence_refs/1", "not_in_batch"),
        ("/evidence_refs/2", "invalid_ref"),
    ]
    wall.instant += timedelta(seconds=86_401)
    refused = _use(world, batch, [ref])
    assert (refused.status_code, refused.json()["code"]) == (409, "batch_expired")
    judged = world.post(f"/v1/batches/{batch}/assessment", SUFFICIENT)
    assert (judged.status_code, judged.json()["code"]) == (409, "batch_expired")
    assert world.rows("events") == before
    assert world.rows("use_receipts") == []


def test_the_last_assessment_of_a_batch_counts(garden: tuple[World, str]) -> None:
    world, event = garden
    batch = _search(world)["batch_id"]
    _assess(world, batch, [f"event:{event}"])
    _assess(world, batch, [f"event:{event}"], verdict="wrong")
    assert _use(world, batch, [f"event:{event}"]).json()["code"] == "not_adopted"


def test_a_recorded_batch_is_closed(garden: tuple[World, str]) -> None:
    world, event = garden
    batch = _search(world)["batch_id"]
    _assess(world, batch, [f"event:{event}"])
    assert _use(world, batch, [f"event:{event}"]).status_code == 200
    other = _use(world, batch, [f"event:{event}"], receipt="u2")
    assert (other.status_code, other.json()["code"]) == (409, "batch_recorded")
    judged = world.post(f"/v1/batches/{batch}/assessment", SUFFICIENT)
    assert (judged.status_code, judged.json()["code"]) == (409, "batch_recorded")


def test_a_receipt_id_means_one_content(garden: tuple[World, str]) -> None:
    world, event = garden
    batch = _search(world)["batch_id"]
    assert _use(world, batch, []).status_code == 200
    conflict = _use(world, batch, [f"event:{event}"])
    assert (conflict.status_code, conflict.json()["code"]) == (409, "receipt_conflict")
    other = _search(world)["batch_id"]
    conflict = _use(world, other, [])
    assert (conflict.status_code, conflict.json()["code"]) == (409, "receipt_conflict")


def test_uses_at_the_same_moment_count_once(garden: tuple[World, str]) -> None:
    world, event = garden
    ref = f"event:{event}"
    batch = _search(world)["batch_id"]
    _assess(world, batch, [ref])
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: _use(world, batch, [ref]), range(6)))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert sorted(answer.json()["duplicate"] for answer in answers) == [False] + [True] * 5
    assert world.rows("events")[0]["mention_count"] == 2
    batches = [_search(world)["batch_id"] for _ in range(4)]
    for one in batches:
        _assess(world, one, [ref])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda one: _use(world, one, [ref], receipt="u2"), batches))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {a.json()["code"] for a in answers if a.status_code == 409} == {"receipt_conflict"}
    assert world.rows("events")[0]["mention_count"] == 3


def test_the_idempotency_key_stands_for_a_receipt_id(garden: tuple[World, str]) -> None:
    world, _ = garden
    path = f"/v1/batches/{_search(world)['batch_id']}/use"
    missing = world.post(path, {"evidence_refs": []})
    assert (missing.status_code, missing.json()["errors"][0]["pointer"]) == (422, "/receipt_id")
    headers = world.headers | {"Idempotency-Key": "k1"}
    first = world.post(path, {"evidence_refs": []}, headers=headers).json()
    again = world.post(path, {"evidence_refs": []}, headers=headers).json()
    assert (first["receipt_id"], again) == ("k1", first | {"duplicate": True})


def test_an_empty_use_writes_a_receipt_and_reinforces_nothing(garden: tuple[World, str]) -> None:
    world, _ = garden
    before = world.rows("events")
    batch = _search(world, "nothing of the sort")["batch_id"]
    used = _use(world, batch, [], answer={"thread_id": "main", "turn_receipt_id": "t9"}).json()
    assert (used["events"], used["evidence_refs"]) == ([], [])
    assert world.rows("events") == before
    (receipt,) = world.rows("use_receipts")
    assert receipt["audit"]["answer"] == {"thread_id": "main", "turn_receipt_id": "t9"}


def test_an_event_behind_two_refs_counts_once_and_raw_refs_count_nothing(
    garden: tuple[World, str],
) -> None:
    world, event = garden
    batch = world.ask("raw/search", {"query": "garden gate"})
    ref = batch["items"][0]["evidence_ref"]
    _assess(world, batch["batch_id"], [ref])
    assert _use(world, batch["batch_id"], [ref]).json()["events"] == []
    batch = _search(world)["batch_id"]
    ref = f"event:{event}"
    _assess(world, batch, [ref])
    used = _use(world, batch, [ref, ref], receipt="u2").json()
    assert used["duplicate_evidence_refs"] == [ref]
    assert [one["n"] for one in used["events"]] == [2]
    (_, receipt) = sorted(world.rows("use_receipts"), key=lambda row: row["receipt_id"])
    assert receipt["audit"]["verdict"] == "sufficient"
    assert receipt["audit"]["citations"][0]["event_id"] == event


def test_an_assessment_takes_any_json_and_refuses_unknown_fields(
    garden: tuple[World, str],
) -> None:
    world, event = garden
    batch = _search(world)["batch_id"]
    odd = {"verdict": 7, "evidence_refs": {"a": 1}, "fit": [], "missing": None}
    answer = world.post(f"/v1/batches/{batch}/assessment", odd | {"next_strategy": {"x": []}})
    assert answer.status_code == 200
    assert (answer.json()["verdict"], answer.json()["next_strategy"]) == (
        "partial",
        "search_events",
    )
    refs = [f"event:{event}", 3, f"event:{event}", "event:evt_other"]
    answer = world.post(f"/v1/batches/{batch}/assessment", {"evidence_refs": refs}).json()
    assert [(r["input_index"], r["reason"]) for r in answer["rejected_evidence_refs"]] == [
        (1, "invalid_ref"),
        (2, "duplicate"),
        (3, "not_in_batch"),
    ]
    unknown = world.post(f"/v1/batches/{batch}/assessment", {"confidence": 1})
    assert unknown.status_code == 422
    assert unknown.json()["errors"][0]["pointer"] == "/confidence"


def test_advisories_stand_beside_a_sufficient_verdict(garden: tuple[World, str]) -> None:
    world, event = garden
    world.block("The shed is red.", "Noted.", ready=False)
    batch = _search(world, thread_id="asks")["batch_id"]
    judged = _assess(world, batch, [f"event:{event}"], question="When did Wanda paint it?")
    assert judged["verdict"] == "sufficient"
    assert [one["code"] for one in judged["advisories"]] == [
        "no_derivable_date",
        "term_not_cited",
        "evidence_pending",
    ]
    assert judged["advisories"][1]["terms"] == ["Wanda"]
    batch = _search(world, thread_id="asks")["batch_id"]
    judged = _assess(world, batch, [f"event:{event}"])
    assert judged["question"] == "garden gate"
    assert [one["code"] for one in judged["advisories"]] == ["evidence_pending", "no_new_refs"]


def test_a_key_without_use_may_assess_but_not_record(garden: tuple[World, str]) -> None:
    world, event = garden
    answer = world.post("/v1/keys", {"label": "reader", "permissions": ["read"]})
    assert answer.status_code == 201, answer.text
    reader = {"Authorization": f"Bearer {answer.json()['key']}"}
    batch = world.post(
        f"/v1/retrieval/{NS}/events/search", {"query": "garden"}, headers=reader
    ).json()["batch_id"]
    body = {**SUFFICIENT, "evidence_refs": [f"event:{event}"]}
    judged = world.post(f"/v1/batches/{batch}/assessment", body, headers=reader)
    assert judged.status_code == 200
    used = world.post(
        f"/v1/batches/{batch}/use", {"evidence_refs": [], "receipt_id": "u1"}, headers=reader
    )
    assert (used.status_code, used.json()["code"]) == (403, "forbidden")
