"""Contradictions: both sides are shown, a person settles them, and every decision can be undone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from shared.domain.events import EventTime, Quote
from shared.ids import Prefix, new_id
from shared.store.database import Database
from tests.integration.curation.curating import CURATION, Curating
from tests.integration.retrieval.world import NS, SAID_AT, World
from tests.support.databases import Tenant


class Dispute(NamedTuple):
    """Two events that contradict each other, the older first, and their conflict."""

    older: str
    newer: str
    conflict_id: str


@pytest.fixture
def dispute(curating: Curating) -> Dispute:
    world = curating.world
    places = ("Bern", "Rome")
    events = []
    for number, place in enumerate(places):
        block = world.block(f"Mara lives in {place}.", thread_id=place)
        said = EventTime(mentioned_at=SAID_AT + timedelta(days=number), zone="Europe/Zurich")
        message = world.rows("messages")[-1]["message_id"]
        quotes = (Quote(message, f"Mara lives in {place}"),)
        events.append(world.event(block, f"Mara lives in {place}", time=said, quotes=quotes))
    curating.states("Mara", "home", (places[0], events[0]), (places[1], events[1]))
    curating.contradict(*events)
    (conflict,) = curating.conflicts()
    return Dispute(events[0], events[1], conflict["conflict_id"])


def _state(world: World) -> str:
    return str(world.ask("graph/search", {"query": "Mara"})["items"][0]["current_state"])


def _standing(world: World, event_id: str) -> dict[str, Any]:
    detail = world.see(f"events/{event_id}")
    names = ("status", "superseded_by", "weight", "links", "pinned", "criticality")
    return {name: detail[name] for name in names}


def _advisories(world: World, event_id: str) -> set[str]:
    batch = world.ask(f"events/{event_id}/expand", {})["batch_id"]
    judged = {
        "verdict": "sufficient",
        "evidence_refs": [f"event:{event_id}"],
        "next_strategy": "answer",
        "question": "Where does Mara live?",
    }
    reply = world.post(f"/v1/batches/{batch}/assessment", judged).json()
    return {one["code"] for one in reply["advisories"]}


def test_an_open_conflict_shows_both_quotes_and_their_sources(
    curating: Curating, dispute: Dispute
) -> None:
    (conflict,) = curating.conflicts()
    assert conflict["conflict_id"].startswith("cfl_")
    assert (conflict["state"], conflict["closed_reason"], conflict["resolution"]) == (
        "open",
        None,
        None,
    )
    assert [side["event_id"] for side in conflict["events"]] == [dispute.older, dispute.newer]
    for side, place in zip(conflict["events"], ("Bern", "Rome"), strict=True):
        assert side["quotes"][0]["text"] == f"Mara lives in {place}"
        assert side["source_messages"][0]["content"] == f"Mara lives in {place}."
        assert side["source_messages"][0]["thread_id"] == place
        assert side["mentioned_at"].endswith("+01:00")
    assert "cited_conflict" in _advisories(curating.world, dispute.older)
    assert "[disputed]" in _state(curating.world)


def test_said_again_it_is_the_same_conflict(curating: Curating, dispute: Dispute) -> None:
    curating.contradict(dispute.newer, dispute.older)
    assert [one["conflict_id"] for one in curating.conflicts()] == [dispute.conflict_id]


@pytest.mark.parametrize("kept_is_newer", [True, False])
def test_keeping_one_side_supersedes_the_other_and_reopening_restores_all(
    curating: Curating, dispute: Dispute, kept_is_newer: bool
) -> None:
    world = curating.world
    kept, lost = dispute.newer, dispute.older
    place = "Rome"
    if not kept_is_newer:
        kept, lost, place = lost, kept, "Bern"
    before = [_standing(world, one) for one in (kept, lost)]
    state, timeline = _state(world), world.see("timeline")

    settled = curating.settle(dispute.conflict_id, keep=kept, reason="she said so")
    assert (settled["state"], settled["changed"]) == ("resolved", True)
    assert settled["resolution"]["keep"] == kept
    assert settled["resolution"]["reason"] == "she said so"
    after = _standing(world, lost)
    assert (after["status"], after["superseded_by"]) == ("superseded", kept)
    assert after["weight"] <= 0.1
    assert _standing(world, kept)["links"]["supersedes"] == [lost]
    assert _state(world) == f"home: {place}"
    found = world.ask("events/search", {"query": "Mara lives"})["items"]
    assert [card["event_id"] for card in found] == [kept, lost]
    assert "cited_conflict" not in _advisories(world, kept)
    assert curating.conflicts() == []
    assert [one["conflict_id"] for one in curating.conflicts(state="resolved")] == [
        dispute.conflict_id
    ]

    again = curating.settle(dispute.conflict_id, reopen=True, reason="not so sure")
    assert (again["state"], again["resolution"], again["revision"]) == ("open", None, 2)
    assert [_standing(world, one) for one in (kept, lost)] == before
    assert _state(world) == state
    assert world.see("timeline") == timeline
    assert "cited_conflict" in _advisories(world, kept)


def test_keeping_both_closes_it_and_both_stay_active(curating: Curating, dispute: Dispute) -> None:
    world = curating.world
    settled = curating.settle(dispute.conflict_id, keep="both")
    assert settled["resolution"]["keep"] == "both"
    for one in (dispute.older, dispute.newer):
        assert _standing(world, one)["status"] == "active"
        assert "cited_conflict" not in _advisories(world, one)
    assert "[disputed]" not in _state(world)
    curating.settle(dispute.conflict_id, reopen=True)
    assert "[disputed]" in _state(world)


def test_a_settled_conflict_is_not_opened_again_by_a_derivation(
    curating: Curating, dispute: Dispute
) -> None:
    curating.settle(dispute.conflict_id, keep="both")
    curating.contradict(dispute.older, dispute.newer)
    assert curating.conflicts() == []
    assert "conflicts_with" not in curating.world.see(f"events/{dispute.older}")["links"]


def test_a_decision_is_audited_for_the_conflict_and_for_both_events(
    curating: Curating, dispute: Dispute
) -> None:
    world = curating.world
    curating.settle(dispute.conflict_id, keep=dispute.newer, reason="asked her")
    curating.settle(dispute.conflict_id, reopen=True)
    for subject in dispute.conflict_id, dispute.older, dispute.newer:
        log = world.get("/v1/audit-log", subject=subject).json()["items"]
        assert [one["action"] for one in log] == ["conflict_reopened", "conflict_resolved"]
        assert log[1]["detail"]["reason"] == "asked her"
    trail = world.see(f"events/{dispute.older}")["curation"]
    assert [(one["action"], one["after"]) for one in trail] == [
        ("conflict_reopened", {"status": "active"}),
        ("conflict_resolved", {"status": "superseded"}),
    ]
    assert trail[0]["conflict_id"] == dispute.conflict_id


def test_forgetting_a_side_closes_the_conflict_and_restoring_opens_it(
    curating: Curating, dispute: Dispute
) -> None:
    for status in ("forgotten", "archived"):
        curating.curate(dispute.older, status=status)
        assert curating.conflicts() == []
        (closed,) = curating.conflicts(state="closed")
        assert closed["closed_reason"] == f"event_{status}"
        refused = curating.resolve(dispute.conflict_id, keep=dispute.newer)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict_closed")
        assert "cited_conflict" not in _advisories(curating.world, dispute.newer)
    curating.curate(dispute.older, status="active")
    assert len(curating.conflicts()) == 1


def test_a_side_that_something_else_superseded_closes_the_conflict(
    curating: Curating, dispute: Dispute
) -> None:
    world = curating.world
    third = world.event(world.block("Mara lives in Oslo.", thread_id="Oslo"), "Mara lives in Oslo")
    world.supersede(dispute.newer, third)
    (closed,) = curating.conflicts(state="closed")
    assert closed["closed_reason"] == "event_superseded"
    assert "cited_conflict" not in _advisories(world, dispute.older)


def test_a_removed_event_leaves_the_conflict_closed_with_that_reason(
    curating: Curating, dispute: Dispute, owner_rows: Any
) -> None:
    owner_rows(curating.world.tenant.tenant_id, dispute.newer)
    (closed,) = curating.conflicts(state="closed")
    assert closed["closed_reason"] == "event_removed"
    gone = closed["events"][1]
    assert (gone["title"], gone["quotes"], gone["source_messages"]) == (None, [], [])
    refused = curating.resolve(dispute.conflict_id, keep=dispute.older)
    assert refused.json()["code"] == "conflict_closed"


def test_another_decision_needs_a_reopening_first(curating: Curating, dispute: Dispute) -> None:
    curating.settle(dispute.conflict_id, keep=dispute.newer)
    assert curating.settle(dispute.conflict_id, keep=dispute.newer)["changed"] is False
    other = curating.resolve(dispute.conflict_id, keep=dispute.older)
    assert (other.status_code, other.json()["code"]) == (409, "conflict_resolved")
    stale = curating.resolve(dispute.conflict_id, reopen=True, expected_revision=0)
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_revision")
    assert curating.settle(dispute.conflict_id, reopen=True)["changed"] is True
    assert curating.settle(dispute.conflict_id, reopen=True)["changed"] is False


def test_a_receipt_gets_the_first_answer_again(curating: Curating, dispute: Dispute) -> None:
    world = curating.world
    url = f"{CURATION}/conflicts/{dispute.conflict_id}/resolve"
    body = {"keep": "both", "receipt_id": "decide-1"}
    first, again = world.post(url, body).json(), world.post(url, body).json()
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert (again["changed"], again["revision"]) == (True, 1)
    other = world.post(url, {"reopen": True, "receipt_id": "decide-1"})
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")
    headers = {**world.headers, "Idempotency-Key": "decide-2"}
    assert world.post(url, {"reopen": True}, headers=headers).json()["changed"] is True
    assert world.post(url, {"reopen": True}, headers=headers).json()["duplicate"] is True
    kept = [row["answer"] for row in world.rows("request_receipts") if "resolve" in str(row)]
    assert "Mara" not in str(kept)


def test_of_two_decisions_at_once_one_counts(curating: Curating, dispute: Dispute) -> None:
    sides = (dispute.older, dispute.newer) * 3
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(lambda kept: curating.resolve(dispute.conflict_id, keep=kept), sides)
        )
    changed = [one for one in answers if one.status_code == 200 and one.json()["changed"]]
    assert len(changed) == 1
    assert {one.status_code for one in answers} == {200, 409}
    standing = [_standing(curating.world, one)["status"] for one in (dispute.older, dispute.newer)]
    assert sorted(standing) == ["active", "superseded"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"keep": "neither"},
        {"keep": new_id(Prefix.EVENT)},
        {"keep": "both", "reopen": True},
        {"keep": "both", "because": "so"},
        {"keep": "both", "reason": "x" * 501},
        {"keep": ["both"]},
    ],
)
def test_a_decision_that_is_none_is_422(
    curating: Curating, dispute: Dispute, body: dict[str, Any]
) -> None:
    assert curating.resolve(dispute.conflict_id, **body).status_code == 422
    assert curating.conflicts()[0]["revision"] == 0


def test_conflicts_are_paged_and_filtered(curating: Curating, dispute: Dispute) -> None:
    world = curating.world
    for number in range(4):
        block = world.block(f"Mara lives in place {number}.", thread_id=f"t{number}")
        curating.contradict(dispute.older, world.event(block, f"Mara lives in place {number}"))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = world.get(f"{CURATION}/conflicts", **query).json()
        seen += [one["conflict_id"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)
    assert len(curating.conflicts(event_id=dispute.newer)) == 1
    assert len(curating.conflicts(event_id=dispute.older)) == 5
    assert len(curating.conflicts(state="all")) == 5
    assert world.get(f"{CURATION}/conflicts", state="odd").status_code == 422
    assert world.get(f"{CURATION}/conflicts", event_id=new_id(Prefix.NODE)).status_code == 422


def test_conflicts_beyond_reach_are_404(
    curating: Curating, dispute: Dispute, database: Database, other_tenant: Tenant
) -> None:
    world = curating.world
    stranger = World(world.http, database, other_tenant)
    stranger.begin()
    assert stranger.get(f"{CURATION}/conflicts").json()["items"] == []
    narrow = curating.key("curate", namespaces=["project:elsewhere"])
    never = new_id(Prefix.CONFLICT)
    for headers in (stranger.headers, narrow):
        theirs, nobodys = (
            world.post(f"{CURATION}/conflicts/{one}/resolve", {"keep": "both"}, headers=headers)
            for one in (dispute.conflict_id, never)
        )
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.json()["detail"] == nobodys.json()["detail"]
    assert world.get(f"{CURATION}/conflicts", headers=narrow).status_code == 404
    assert world.get(f"{CURATION}/conflicts", headers=curating.key("read")).status_code == 403
    assert len(curating.conflicts()) == 1
    elsewhere = f"/v1/namespaces/project:other/curation/conflicts/{dispute.conflict_id}/resolve"
    world.http.put("/v1/namespaces/project:other", json={}, headers=world.headers)
    assert world.post(elsewhere, {"keep": "both"}).status_code == 404


def test_a_decision_holds_in_a_version_beside_the_live_one(
    curating: Curating, dispute: Dispute
) -> None:
    """Switching to a derivation that carries both events over keeps what a person decided."""
    world = curating.world
    begun = world.post(f"/v1/namespaces/{NS}/reprocess", {"stages": ["extract"]})
    assert begun.status_code == 202, begun.text
    with world.database.write(world.tenant.tenant_id) as tx:
        tx.connection.exec_driver_sql(
            "INSERT INTO carried_events (tenant_id, event_id, derivation_version, namespace)"
            " SELECT tenant_id, event_id, 2, namespace FROM events"
        )
    curating.settle(dispute.conflict_id, keep=dispute.older)
    carried = {row["event_id"]: row["superseded_by"] for row in world.rows("carried_events")}
    assert carried == {dispute.older: None, dispute.newer: dispute.older}
    curating.settle(dispute.conflict_id, reopen=True)
    assert {row["superseded_by"] for row in world.rows("carried_events")} == {None}
