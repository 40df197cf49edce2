"""Curating an event: nothing is lost, everything is audited, and each change can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from shared.domain.events import Criticality, EventTime, Quote
from shared.ids import Prefix, new_id
from shared.store.database import Database
from tests.integration.curation.curating import CURATION, Curating
from tests.integration.retrieval.world import NS, SAID_AT, World
from tests.support.databases import Tenant


@pytest.fixture
def event(world: World) -> str:
    return world.event(world.block("The roof leaks.", "Noted."), "Roof leaks")


def _ids(cards: list[dict[str, Any]]) -> list[str]:
    return [card["event_id"] for card in cards]


def _homes(world: World) -> Iterator[list[str]]:
    """Where an event about the roof shows: search, list, timeline, context."""
    yield _ids(world.ask("events/search", {"query": "roof"})["items"])
    yield _ids(world.see("events")["items"])
    yield [item["event"]["event_id"] for item in world.see("timeline")["items"]]
    yield _ids(world.ask("context", {"thread_id": "new", "query": "roof"})["activated"]["events"])


def test_conf_07_retract_and_undo(curating: Curating) -> None:
    world = curating.world
    first = world.event(world.block("Mara lives in Bern."), "Mara lives in Bern")
    later = EventTime(mentioned_at=SAID_AT + timedelta(days=30), zone="UTC")
    second = world.event(world.block("Mara lives in Rome."), "Mara lives in Rome", time=later)
    curating.states("Mara", "home", ("Bern", first), ("Rome", second))
    graph = world.ask("graph/search", {"query": "Mara"})["items"]
    assert graph[0]["current_state"] == "home: Rome"

    forgotten = curating.curate(second, status="forgotten", reason="wrong person")
    assert (forgotten["status"], forgotten["weight"]) == ("forgotten", 0.0)
    assert second not in _ids(world.ask("events/search", {"query": "Rome Mara"})["items"])
    assert world.post(f"/v1/retrieval/{NS}/events/{second}/expand").status_code == 404
    activated = world.ask("context", {"thread_id": "new", "query": "Rome Mara"})["activated"]
    assert "Rome" not in activated["text"]
    now = world.ask("graph/search", {"query": "Mara"})["items"][0]
    assert now["current_state"] == "home: Bern"

    log = world.get("/v1/audit-log", subject=second).json()["items"]
    assert [entry["action"] for entry in log] == ["event_curated"]
    assert log[0]["detail"]["reason"] == "wrong person"
    assert None not in (log[0]["key_id"], log[0]["created_at"])

    restored = curating.curate(second, status="active", reason="undo")
    assert (restored["status"], restored["curation_revision"]) == ("active", 2)
    assert world.ask("graph/search", {"query": "Mara"})["items"] == graph
    trail = world.see(f"events/{second}")["curation"]
    assert [(one["reason"], one["after"]["status"]) for one in trail] == [
        ("undo", "active"),
        ("wrong person", "forgotten"),
    ]


def test_every_read_follows_and_comes_back_as_it_was(curating: Curating, event: str) -> None:
    world = curating.world
    before = world.see(f"events/{event}")
    assert list(_homes(world)) == [[event]] * 4
    for status in ("forgotten", "archived"):
        curating.curate(event, status=status)
        assert list(_homes(world)) == [[]] * 4
    curating.curate(event, status="active")
    assert list(_homes(world)) == [[event]] * 4
    after = world.see(f"events/{event}")
    moved = {name for name in after if after[name] != before[name]}
    assert moved == {"curation", "curation_revision"}


def test_what_was_superseded_comes_back_superseded(curating: Curating, event: str) -> None:
    world = curating.world
    newer = world.event(world.block("The roof is mended."), "Roof mended")
    world.supersede(event, newer)
    assert curating.curate(event, status="active")["changed"] is False
    curating.curate(event, status="forgotten")
    back = curating.curate(event, status="active")
    assert (back["status"], back["superseded_by"]) == ("superseded", newer)
    assert back["weight"] <= 0.1


def test_pin_and_criticality_move_the_weight_and_can_be_taken_back(
    curating: Curating, event: str
) -> None:
    world = curating.world
    for number in range(30):
        world.say(f"Something else {number}.", "Fine.", thread_id="other")
    faded = world.see(f"events/{event}")["weight"]
    assert faded < 0.02
    assert curating.curate(event, pinned=True)["weight"] == 1.0
    assert curating.curate(event, pinned=False)["weight"] == faded
    assert curating.curate(event, criticality="identity")["weight"] == 0.9
    assert world.see(f"events/{event}")["criticality"] == "identity"
    assert curating.curate(event, criticality="routine")["weight"] == faded
    # Reading, and curating, is no use: only a receipt counts.
    assert world.see(f"events/{event}")["mention_count"] == 1


def test_a_repeated_change_is_no_change(curating: Curating, event: str) -> None:
    assert curating.curate(event, pinned=True)["changed"] is True
    again = curating.curate(event, pinned=True)
    assert (again["changed"], again["audit_id"], again["curation_revision"]) == (False, None, 1)
    assert len(curating.world.see(f"events/{event}")["curation"]) == 1


def test_only_a_curator_sees_what_is_forgotten(curating: Curating, event: str) -> None:
    world = curating.world
    curating.curate(event, status="forgotten")
    forgotten = world.see("events", statuses="forgotten")["items"]
    assert [(card["event_id"], card["weight"]) for card in forgotten] == [(event, 0.0)]
    assert len(world.see("timeline", statuses=["forgotten", "archived"])["items"]) == 1
    assert world.see(f"events/{event}")["status"] == "forgotten"
    reader = curating.key("read")
    for path in ("events", "timeline"):
        asked = world.get(f"/v1/retrieval/{NS}/{path}", headers=reader, statuses="forgotten")
        assert (asked.status_code, asked.json()["code"]) == (403, "forbidden")
    gone = world.get(f"/v1/retrieval/{NS}/events/{event}", headers=reader)
    never = world.get(f"/v1/retrieval/{NS}/events/{new_id(Prefix.EVENT)}", headers=reader)
    assert gone.status_code == never.status_code == 404
    assert gone.json()["detail"] == never.json()["detail"]


def test_a_stale_revision_is_409_and_changes_nothing(curating: Curating, event: str) -> None:
    curating.curate(event, pinned=True, expected_revision=0)
    stale = curating.patch(event, status="forgotten", expected_revision=0)
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_revision")
    assert curating.world.see(f"events/{event}")["status"] == "active"


def test_of_two_curators_at_once_one_is_told_to_read_again(curating: Curating, event: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(curating.patch, event, status=status, expected_revision=0)
            for status in ("forgotten", "archived") * 4
        ]
    codes = sorted(one.result().status_code for one in asked)
    assert codes == [200] + [409] * 7
    assert len(curating.world.see(f"events/{event}")["curation"]) == 1


def test_changes_of_different_things_at_once_all_hold(curating: Curating, event: str) -> None:
    bodies: list[dict[str, Any]] = [
        {"pinned": True},
        {"criticality": "safety"},
        {"status": "archived"},
    ]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda body: curating.patch(event, **body).status_code, bodies))
    assert answers == [200, 200, 200]
    now = curating.world.see(f"events/{event}")
    assert (now["pinned"], now["criticality"], now["status"]) == (True, "safety", "archived")
    assert now["curation_revision"] == 3


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"reason": "why"}, ""),
        ({"status": "superseded"}, "/status"),
        ({"title": "Another"}, "/title"),
        ({"summary": "Another"}, "/summary"),
        ({"pinned": "perhaps"}, "/pinned"),
        ({"criticality": "grave"}, "/criticality"),
        ({"pinned": True, "reason": "x" * 501}, "/reason"),
        ({"pinned": True, "expected_revision": -1}, "/expected_revision"),
    ],
)
def test_what_cannot_be_curated_is_422_naming_the_field(
    curating: Curating, event: str, body: dict[str, Any], pointer: str
) -> None:
    answer = curating.patch(event, **body)
    assert answer.status_code == 422
    assert pointer in {error["pointer"] for error in answer.json()["errors"]}


def test_a_reason_is_kept_redacted(curating: Curating, event: str) -> None:
    curating.curate(event, pinned=True, reason="holds api_key=abcdef123456 of mine")
    kept = curating.world.see(f"events/{event}")["curation"][0]["reason"]
    assert "abcdef123456" not in kept
    rows = [row for row in curating.world.rows("audit_log") if row["subject"] == event]
    assert "abcdef123456" not in str(rows)


def test_curating_needs_its_permission(curating: Curating, event: str) -> None:
    for permissions in (["read", "use", "ingest", "erase"],):
        answer = curating.patch(event, headers=curating.key(*permissions), pinned=True)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert curating.patch(event, headers=curating.key("curate"), pinned=True).status_code == 200


def test_an_event_beyond_reach_is_404_as_if_it_never_was(
    curating: Curating, event: str, database: Database, other_tenant: Tenant
) -> None:
    world = curating.world
    stranger = World(world.http, database, other_tenant)
    stranger.begin()
    before = world.rows("events")
    narrow = curating.key("curate", namespaces=["project:elsewhere"])
    answers = [
        curating.patch(event, headers=stranger.headers, status="forgotten"),
        curating.patch(new_id(Prefix.EVENT), headers=stranger.headers, status="forgotten"),
        curating.patch(event, headers=narrow, status="forgotten"),
        curating.patch(new_id(Prefix.EVENT), headers=narrow, status="forgotten"),
    ]
    assert [one.status_code for one in answers] == [404] * 4
    bodies = [{k: v for k, v in one.json().items() if k != "request_id"} for one in answers]
    assert bodies[0] == bodies[1]
    assert bodies[2] == bodies[3]
    assert world.rows("events") == before
    wrong = world.http.patch(
        f"{CURATION}/events/{new_id(Prefix.NODE)}", json={"pinned": True}, headers=world.headers
    )
    assert (wrong.status_code, wrong.json()["code"]) == (422, "wrong_id_type")


def test_a_late_derivation_cannot_wake_a_forgotten_event(curating: Curating, event: str) -> None:
    """A use recorded after forgetting counts nothing, and comes back to nothing counted."""
    world = curating.world
    batch = world.ask("events/search", {"query": "roof"})["batch_id"]
    ref = f"event:{event}"
    judged = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    assert world.post(f"/v1/batches/{batch}/assessment", judged).status_code == 200
    curating.curate(event, status="forgotten")
    used = world.post(
        f"/v1/batches/{batch}/use", {"evidence_refs": [ref], "receipt_id": "after"}
    ).json()
    assert used["events"] == []
    assert curating.curate(event, status="active")["status"] == "active"
    assert world.see(f"events/{event}")["mention_count"] == 1


def test_lists_filter_by_type_thread_and_status(curating: Curating) -> None:
    world = curating.world
    one = world.event(world.block("Mara likes tea.", thread_id="a"), "Likes tea")
    two = world.event(
        world.block("Mara likes rye.", thread_id="b"), "Likes rye", criticality=Criticality.SAFETY
    )
    curating.curate(two, status="archived")
    assert _ids(world.see("events", thread_id="a")["items"]) == [one]
    assert _ids(world.see("events", thread_id="b")["items"]) == []
    every = ["active", "superseded", "forgotten", "archived"]
    assert _ids(world.see("events", thread_id="b", statuses=every)["items"]) == [two]
    assert _ids(world.see("events", event_types="other")["items"]) == [one]
    assert _ids(world.see("events", event_types="decision")["items"]) == []
    wrong = world.get(f"/v1/retrieval/{NS}/events", event_types="rumour")
    assert wrong.status_code == 422


def test_the_graph_is_searched_as_it_is_seen(curating: Curating) -> None:
    """A projection may write a node's words anew while an event is forgotten; restoring tells."""
    world = curating.world
    bern = world.event(world.block("Mara lives in Bern."), "Mara lives in Bern")
    rye = world.event(world.block("Mara likes rye."), "Mara likes rye")
    curating.states("Mara", "home", ("Bern", bern))
    curating.curate(bern, status="forgotten")
    curating.states("Mara", "likes", ("rye", rye))
    assert world.ask("graph/search", {"query": "Bern"})["items"] == []
    words = {row["term"] for row in world.rows("search_postings") if row["kind"] == "node"}
    assert "bern" not in words
    curating.curate(bern, status="active")
    assert world.ask("graph/search", {"query": "Bern"})["items"][0]["name"] == "Mara"


def test_what_was_set_aside_before_its_projection_is_projected_once_it_is_restored(
    curating: Curating, event: str
) -> None:
    world = curating.world
    curating.curate(event, status="forgotten")
    before = len(world.rows("jobs"))
    curating.curate(event, status="archived")
    assert len(world.rows("jobs")) == before
    curating.curate(event, status="active")
    (added,) = [row for row in world.rows("jobs") if row["kind"] == "project"]
    assert (added["subject"], added["state"]) == (
        world.see(f"events/{event}")["block_id"],
        "available",
    )


def test_nothing_is_projected_where_the_policy_switched_it_off(
    curating: Curating, event: str
) -> None:
    world = curating.world
    world.begin(stages={"project": False})
    curating.curate(event, status="forgotten")
    curating.curate(event, status="active")
    assert [row for row in world.rows("jobs") if row["kind"] == "project"] == []


def test_history_tells_what_was_believed_since_when_and_on_which_quotes(
    curating: Curating,
) -> None:
    world = curating.world
    homes = ("Bern", "Rome", "Oslo")
    told: list[tuple[str, str]] = []
    for number, home in enumerate(homes):
        said = EventTime(mentioned_at=SAID_AT + timedelta(days=number), zone="UTC")
        block = world.block(f"Mara lives in {home}.", thread_id=home)
        message = world.rows("messages")[-1]["message_id"]
        quotes = (Quote(message, f"lives in {home}"),)
        told.append((home, world.event(block, f"Lives in {home}", time=said, quotes=quotes)))
    curating.states("Mara", "home", *told)
    node = world.see("graph")["nodes"][0]["node_id"]
    whole = world.see(f"graph/nodes/{node}/history")
    assert [one["fact"]["value"] for one in whole["items"]] == list(homes)
    assert [one["is_current"] for one in whole["items"]] == [False, False, True]
    for (home, event_id), one in zip(told, whole["items"], strict=True):
        assert one["grounds"][0]["event_id"] == event_id
        assert one["grounds"][0]["quotes"][0]["text"] == f"lives in {home}"
        assert one["valid_from"].startswith("2026-03-0")
        assert one["recorded_at"]
    assert whole["items"][0]["valid_until"] == whole["items"][1]["valid_from"]
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = world.see(f"graph/nodes/{node}/history", **query)
        seen += page["items"]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == whole["items"]
    held = world.ask("graph/search", {"query": "Mara", "at": "2026-03-02T12:00:00Z"})["items"]
    assert held[0]["current_state"] == "home: Rome"
    curating.curate(told[1][1], status="forgotten")
    left = world.see(f"graph/nodes/{node}/history")["items"]
    assert [one["fact"]["value"] for one in left] == ["Bern", "Oslo"]
    assert left[0]["valid_until"] == left[1]["valid_from"]


def test_a_timeline_has_both_bounds_and_both_orders(world: World) -> None:
    days = [SAID_AT + timedelta(days=number) for number in range(4)]
    events = [
        world.event(
            world.block(f"Day {number}."),
            f"Day {number}",
            time=EventTime(mentioned_at=day, zone="UTC"),
        )
        for number, day in enumerate(days)
    ]

    def listed(**query: Any) -> list[str]:
        found: list[str] = []
        query = {"limit": 1, **query}
        while True:
            page = world.see("timeline", **query)
            found += [item["event"]["event_id"] for item in page["items"]]
            if page["next_cursor"] is None:
                return found
            query["cursor"] = page["next_cursor"]

    assert listed() == events
    assert listed(order="newest") == events[::-1]
    bounds = {"from": days[1].isoformat(), "to": days[2].isoformat()}
    assert listed(**bounds) == events[1:3]
    assert listed(**{"to": "2026-03-02", "timezone": "UTC"}) == events[:2]
    wrong = world.get(
        f"/v1/retrieval/{NS}/timeline", **{"from": bounds["to"], "to": bounds["from"]}
    )
    assert (wrong.status_code, wrong.json()["code"]) == (422, "inverted_window")
    bad = world.get(f"/v1/retrieval/{NS}/timeline", cursor="bm90IGEgcGxhY2U")
    assert (bad.status_code, bad.json()["code"]) == (422, "invalid_cursor")
