"""A thread's retrieval as one transcript, for a model that must say what is uncertain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from retrieval.transcript import SETTLED, UNCERTAIN
from shared.clock import FixedClock
from shared.store.database import Database
from tests.integration.curation.curating import Curating
from tests.integration.retrieval.world import NS, World
from tests.support.databases import Tenant

PATH = f"/v1/retrieval/{NS}/threads/ask/batches"


def _search(world: World, query: str, thread_id: str | None = "ask") -> Any:
    body = {"query": query} | ({} if thread_id is None else {"thread_id": thread_id})
    return world.ask("events/search", body)


def _judge(world: World, batch: str, verdict: str, *refs: str, **more: str) -> None:
    strategy = "answer" if verdict == "sufficient" else "search_raw_memory"
    body = {"verdict": verdict, "evidence_refs": list(refs), "next_strategy": strategy, **more}
    assert world.post(f"/v1/batches/{batch}/assessment", body).status_code == 200


def test_batches_and_assessments_are_told_in_order(world: World) -> None:
    event = world.event(world.block("The roof leaks."), "Roof leaks")
    first = _search(world, "roof")
    _judge(world, first["batch_id"], "partial", f"event:{event}", missing="since when")
    expanded = world.ask(f"events/{event}/expand", {"thread_id": "ask"})
    _search(world, "roof", thread_id="another")

    told = world.see("threads/ask/batches")
    assert [one["tool"] for one in told["items"]] == ["memory_search_events", "memory_expand_event"]
    assert [one["batch_id"] for one in told["items"]] == [first["batch_id"], expanded["batch_id"]]
    assert told["items"][0]["items"][0]["title"] == "Roof leaks"
    (judged,) = told["items"][0]["assessments"]
    assert (judged["verdict"], judged["missing"]) == ("partial", "since when")
    assert told["items"][1]["assessments"] == []
    assert (told["is_sufficient"], told["instruction"]) == (False, UNCERTAIN)
    assert told["text"].endswith(UNCERTAIN)
    lines = told["text"].splitlines()
    assert lines[1].startswith("1. memory_search_events for 'roof': event:")
    assert "judged partial; missing: since when" in lines[2]


def test_sufficient_evidence_is_told_as_such_with_what_was_used(world: World) -> None:
    event = world.event(world.block("The roof leaks."), "Roof leaks")
    batch = _search(world, "roof")["batch_id"]
    ref = f"event:{event}"
    _judge(world, batch, "wrong")
    _judge(world, batch, "sufficient", ref, fit="says so")
    world.post(f"/v1/batches/{batch}/use", {"evidence_refs": [ref], "receipt_id": "u1"})
    told = world.see("threads/ask/batches")
    (one,) = told["items"]
    assert [judged["verdict"] for judged in one["assessments"]] == ["wrong", "sufficient"]
    assert (one["state"], one["used"]) == ("recorded", [ref])
    assert one["use_receipt_id"].startswith("rcp_")
    assert (told["is_sufficient"], told["instruction"]) == (True, SETTLED)


def test_the_transcript_is_paged_oldest_first_and_can_begin_later(world: World) -> None:
    world.begin()
    batches = [_search(world, f"roof {number}")["batch_id"] for number in range(5)]
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = world.see("threads/ask/batches", **query)
        seen += [one["batch_id"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == batches
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert world.see("threads/ask/batches", since=later)["items"] == []
    assert len(world.see("threads/ask/batches", since="2020-01-01T00:00:00Z")["items"]) == 5
    assert world.get(PATH, since="yesterday").status_code == 422
    assert world.get(PATH, since="2020-01-01").json()["code"] == "naive_time"


def test_searches_without_a_thread_have_a_transcript_of_their_own(world: World) -> None:
    world.begin()
    alone = _search(world, "roof", thread_id=None)["batch_id"]
    _search(world, "roof")
    told = world.see("threads/unthreaded/batches")
    assert [one["batch_id"] for one in told["items"]] == [alone]


def test_queries_are_kept_and_told_redacted(world: World) -> None:
    world.begin()
    _search(world, "why does password=hunter2hunter2 fail")
    told = world.see("threads/ask/batches")
    assert "hunter2" not in str(told)
    assert "hunter2" not in str(world.rows("batches"))


def test_an_expired_batch_stays_in_the_transcript(world: World, wall: FixedClock) -> None:
    world.begin()
    _search(world, "roof")
    wall.instant += timedelta(days=2)
    (one,) = world.see("threads/ask/batches")["items"]
    assert (one["state"], one["is_expired"]) == ("open", True)


def test_a_forgotten_event_is_named_no_more(curating: Curating) -> None:
    world = curating.world
    event = world.event(world.block("The roof leaks."), "Roof leaks")
    _search(world, "roof")
    curating.curate(event, status="forgotten")
    told = world.see("threads/ask/batches")
    assert told["items"][0]["items"] == [
        {
            "evidence_ref": f"event:{event}",
            "rank_score": told["items"][0]["items"][0]["rank_score"],
            "title": None,
        }
    ]
    assert "Roof leaks" not in told["text"]


def test_a_transcript_beyond_reach_is_404_or_empty(
    curating: Curating, database: Database, other_tenant: Tenant
) -> None:
    world = curating.world
    world.begin()
    _search(world, "roof")
    stranger = World(world.http, database, other_tenant)
    assert stranger.get(PATH).status_code == 404
    stranger.begin()
    assert stranger.get(PATH).json()["items"] == []
    narrow = curating.key("read", namespaces=["project:elsewhere"])
    assert world.get(PATH, headers=narrow).status_code == 404
    assert world.get(PATH, headers=curating.key("ingest")).status_code == 403
