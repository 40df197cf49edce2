"""The chain of a use: answer turn, verdict, selected memories, source messages."""

from __future__ import annotations

from typing import Any

import pytest

from shared.ids import Prefix, new_id
from shared.store.database import Database
from tests.integration.curation.curating import Curating
from tests.integration.retrieval.world import NS, World
from tests.support.databases import Tenant

AUDIT = f"/v1/retrieval/{NS}/usage-audit"


@pytest.fixture
def event(world: World) -> str:
    return world.event(world.block("The roof leaks at the north end."), "Roof leaks")


def _use(
    world: World, event_id: str, receipt_id: str, *, thread_id: str = "ask", **answer: Any
) -> str:
    """Search, assess and use one event; return the batch."""
    body = {"query": "roof", "thread_id": thread_id}
    batch: str = world.ask("events/search", body)["batch_id"]
    ref = f"event:{event_id}"
    judged = {
        "verdict": "sufficient",
        "evidence_refs": [ref],
        "fit": "says where",
        "next_strategy": "answer",
        "question": "Where does the roof leak?",
    }
    assert world.post(f"/v1/batches/{batch}/assessment", judged).status_code == 200
    used: dict[str, Any] = {"evidence_refs": [ref], "receipt_id": receipt_id}
    if answer:
        used["answer"] = answer
    assert world.post(f"/v1/batches/{batch}/use", used).status_code == 200
    return batch


def test_a_use_is_told_from_the_answer_down_to_the_messages(world: World, event: str) -> None:
    batch = _use(world, event, "u1", thread_id="ask", turn_receipt_id="answer-1")
    (waiting,) = world.see("usage-audit")["items"]
    assert waiting["answer"] == {
        "thread_id": None,
        "turn_receipt_id": "answer-1",
        "turn_id": None,
        "turn": None,
        "occurred_at": None,
    }
    turn = world.say("Where does it leak?", "North.", thread_id="ask", receipt_id="answer-1")
    (use,) = world.see("usage-audit")["items"]
    assert (use["answer"]["turn_id"], use["answer"]["thread_id"]) == (turn["turn_id"], "ask")
    assert (use["batch_id"], use["tool"], use["query"], use["thread_id"]) == (
        batch,
        "memory_search_events",
        "roof",
        "ask",
    )
    assert use["assessment"] == {
        "verdict": "sufficient",
        "question": "Where does the roof leak?",
        "fit": "says where",
        "missing": "",
        "next_strategy": "answer",
    }
    (selected,) = use["events"]
    assert (selected["event_id"], selected["title"], selected["status"]) == (
        event,
        "Roof leaks",
        "active",
    )
    assert selected["is_reinforced"] is True
    (source,) = use["source_messages"]
    assert selected["message_ids"] == [source["message_id"]]
    assert source["content"] == "The roof leaks at the north end."


def test_the_answer_is_a_turn_of_the_thread_it_names(world: World, event: str) -> None:
    _use(world, event, "u1", turn_receipt_id="answer-1")
    _use(world, event, "u2", turn_receipt_id="answer-2")
    _use(world, event, "u3")
    world.say("Where?", "North.", thread_id="elsewhere", receipt_id="answer-2")
    third, second, first = world.see("usage-audit")["items"]
    assert (third["answer"], first["answer"]["turn_id"]) == (None, None)
    assert second["answer"]["thread_id"] == "elsewhere"


def test_an_answer_in_another_thread_than_it_says_is_not_that_turn(
    world: World, event: str
) -> None:
    batch = world.ask("events/search", {"query": "roof"})["batch_id"]
    answer = {"thread_id": "ask", "turn_receipt_id": "answer-1"}
    body = {"evidence_refs": [], "receipt_id": "u1", "answer": answer}
    assert world.post(f"/v1/batches/{batch}/use", body).status_code == 200
    world.say("Where?", "North.", thread_id="elsewhere", receipt_id="answer-1")
    (use,) = world.see("usage-audit")["items"]
    assert (use["answer"]["thread_id"], use["answer"]["turn_id"]) == ("ask", None)
    assert (use["events"], use["assessment"]["verdict"]) == ([], None)


def test_uses_are_filtered_and_paged_newest_first(world: World, event: str) -> None:
    other = world.event(world.block("The roof is red."), "Roof is red")
    batches = [_use(world, event, f"u{n}", thread_id="a") for n in range(3)]
    last = _use(world, other, "u9", thread_id="b", turn_receipt_id="answer-9")
    turn = world.say("Red?", "Yes.", thread_id="c", receipt_id="answer-9")

    def found(**query: str) -> list[str]:
        return [use["batch_id"] for use in world.see("usage-audit", **query)["items"]]

    assert found() == [last, *reversed(batches)]
    assert found(event_id=other) == [last]
    assert found(thread_id="b") == found(turn_id=turn["turn_id"]) == [last]
    assert found(batch_id=batches[0]) == [batches[0]]
    assert found(event_id=event, thread_id="b") == []
    assert found(turn_id=new_id(Prefix.TURN)) == []
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 3}
    while True:
        page = world.see("usage-audit", **query)
        seen += [use["batch_id"] for use in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == [last, *reversed(batches)]


def test_raw_evidence_shows_its_message_and_expiry_takes_nothing(world: World) -> None:
    world.say("The key is under the pot.", "Noted.")
    found = world.ask("raw/search", {"query": "key"})
    ref = found["items"][0]["evidence_ref"]
    judged = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    world.post(f"/v1/batches/{found['batch_id']}/assessment", judged)
    used = world.post(
        f"/v1/batches/{found['batch_id']}/use", {"evidence_refs": [ref], "receipt_id": "u1"}
    )
    assert used.status_code == 200, used.text
    (use,) = world.see("usage-audit")["items"]
    assert (use["evidence_refs"], use["events"]) == ([ref], [])
    assert use["source_messages"][0]["content"] == "The key is under the pot."


def test_the_title_of_what_was_forgotten_since_is_for_curators(
    curating: Curating, event: str
) -> None:
    world = curating.world
    _use(world, event, "u1")
    curating.curate(event, status="forgotten")
    (mine,) = world.see("usage-audit")["items"]
    (theirs,) = world.get(AUDIT, headers=curating.key("read")).json()["items"]
    assert (mine["events"][0]["title"], mine["events"][0]["status"]) == ("Roof leaks", "forgotten")
    assert (theirs["events"][0]["title"], theirs["events"][0]["status"]) == (None, "forgotten")


def test_uses_beyond_reach_are_404_or_nothing(
    curating: Curating, event: str, database: Database, other_tenant: Tenant
) -> None:
    world = curating.world
    batch = _use(world, event, "u1", turn_receipt_id="answer-1")
    turn = world.say("Where?", "North.", receipt_id="answer-1")
    stranger = World(world.http, database, other_tenant)
    assert stranger.get(AUDIT).status_code == 404
    stranger.begin()
    for query in ({}, {"batch_id": batch}, {"event_id": event}, {"turn_id": turn["turn_id"]}):
        assert stranger.get(AUDIT, **query).json() == {"items": [], "next_cursor": None}
    narrow = curating.key("read", namespaces=["project:elsewhere"])
    assert world.get(AUDIT, headers=narrow).status_code == 404
    assert world.get(AUDIT, headers=curating.key("ingest")).status_code == 403
    assert world.get(AUDIT, event_id=batch).status_code == 422
    assert world.get(AUDIT, thread_id="a/b").status_code == 422
