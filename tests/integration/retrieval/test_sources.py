from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.domain.events import EventTime
from shared.domain.graph import FactMode, NodeType, RecordStatus, Stance
from shared.domain.graph_proposed import Proposal, ProposedEdge, ProposedFact, ProposedNode
from tests.integration.retrieval.world import NS, World


def test_a_raw_hit_stands_with_its_neighbours_and_says_who_said_it(world: World) -> None:
    world.say("Where is the telescope?", "In the attic.")
    world.say("Thanks.", "You are welcome.")
    reply = world.ask("raw/search", {"query": "telescope"})
    hit = reply["items"][0]
    assert (hit["role"], hit["message"]["content"]) == ("user", "Where is the telescope?")
    assert hit["evidence_ref"] == f"raw:{hit['message_id']}"
    assert hit["nearby"]["before"] is None
    assert hit["nearby"]["after"]["content"] == "In the attic."
    assert hit["matched_words"] == ["telescope"]
    assert reply["items"][1]["message"]["content"] == "In the attic."
    assert reply["items"][1]["match_reason"] == (
        "Stands beside a message that matches. Follows a matching question."
    )
    assert sum(hit["signals"].values()) == pytest.approx(hit["rank_score"], abs=1e-3)


def test_who_speaks_and_a_told_time_count_for_a_raw_hit(world: World) -> None:
    for name, said in (
        ("Ann", "I saw the comet."),
        ("Bo", "I saw the comet yesterday."),
        ("Ann", "I saw the comet yesterday."),
    ):
        messages = [{"role": "user", "name": name, "content": said}]
        world.say(thread_id=f"t{len(world.rows('turns'))}", messages=messages)
    items = world.ask("raw/search", {"query": "When did Ann see the comet?"})["items"]
    assert [(item["name"], item["message"]["content"]) for item in items] == [
        ("Ann", "I saw the comet yesterday."),
        ("Ann", "I saw the comet."),
        ("Bo", "I saw the comet yesterday."),
    ]
    assert "Said by Ann" in items[0]["match_reason"]
    assert "Tells a time" in items[0]["match_reason"]


def test_a_sealed_hit_names_its_block_and_keeps_its_ref(world: World) -> None:
    world.say("The telescope is in the attic.", "Noted.")
    tail = world.ask("raw/search", {"query": "telescope"})["items"][0]
    block = world.seal()
    sealed = world.ask("raw/search", {"query": "telescope"})["items"][0]
    assert sealed["evidence_ref"] == tail["evidence_ref"]
    assert (tail["in_open_tail"], sealed["in_open_tail"]) == (True, False)
    assert (sealed["block_id"], sealed["turn_range"]) == (block, [1, 1])


def test_session_scope_keeps_to_the_thread_and_says_when_it_hid_all(world: World) -> None:
    world.say("The telescope is in the attic.", "Noted.", thread_id="one")
    world.say("Nothing of note.", "Right.", thread_id="two")
    body = {"query": "telescope", "scope": "session", "thread_id": "one"}
    assert len(world.ask("raw/search", body)["items"]) == 2
    reply = world.ask("raw/search", body | {"thread_id": "two"})
    assert (reply["items"], reply["empty_reason"]) == ([], "filtered_out")


def test_times_are_shown_in_the_zone_they_were_given_in(world: World) -> None:
    world.say("The power went out.", "Stay warm.", occurred_at="2026-11-20T23:40:00-05:00")
    hit = world.ask("raw/search", {"query": "power"})["items"][0]
    assert hit["source_time"] == "2026-11-20T23:40:00-05:00"


def test_a_long_message_is_cut_around_what_matches(world: World) -> None:
    world.say("word " * 400 + "the telescope is here " + "word " * 400, "Noted.")
    message = world.ask("raw/search", {"query": "telescope"})["items"][0]["message"]
    assert message["is_excerpt"] is True
    assert "telescope" in message["content"]
    assert len(message["content"]) <= 500


def test_a_turn_receipt_tells_each_stage(world: World) -> None:
    turn = world.say("The roof leaks.", "Noted.")["turn_id"]
    receipt = world.see(f"turns/{turn}/receipt")
    assert receipt["stored"]["state"] == "succeeded"
    assert len(receipt["stored"]["message_ids"]) == 2
    assert [receipt[s]["state"] for s in ("sealed", "summarised", "events", "graph")] == [
        "waiting"
    ] * 4
    assert receipt["searchable_since"] is None
    block = world.seal()
    receipt = world.see(f"turns/{turn}/receipt")
    assert (receipt["sealed"]["block_id"], receipt["summarised"]["state"]) == (block, "available")
    assert receipt["summarised"]["attempt"] == 0
    world.make_ready(block)
    event = world.event(block, "Roof leaks")
    receipt = world.see(f"turns/{turn}/receipt")
    assert (receipt["events"]["n"], receipt["events"]["event_ids"]) == (1, [event])
    assert receipt["searchable_since"] is not None


def test_a_turn_receipt_shows_a_stage_that_failed(world: World) -> None:
    turn = world.say("The roof leaks.", "Noted.")["turn_id"]
    world.seal()
    (job,) = world.get("/v1/jobs", kind="summarize").json()["items"]
    assert world.post(f"/v1/jobs/{job['job_id']}/cancel").status_code == 200
    receipt = world.see(f"turns/{turn}/receipt")
    told = receipt["summarised"]
    assert (told["state"], told["job_id"], told["max_attempts"]) == (
        "cancelled",
        job["job_id"],
        3,
    )
    assert (receipt["events"]["state"], receipt["searchable_since"]) == ("waiting", None)


def test_a_turn_receipt_says_why_a_turn_gave_no_event(world: World) -> None:
    turn = world.say("Hello!", "Hi.")["turn_id"]
    world.make_ready(world.seal())
    receipt = world.see(f"turns/{turn}/receipt")
    assert receipt["graph"]["state"] == "succeeded_empty"
    events = receipt["events"]
    assert (events["n"], events["state"]) == (0, "succeeded")
    assert events["reason"] == "the block holds nothing to extract"


def test_threads_are_listed_with_their_counters(world: World) -> None:
    world.block("One.", "Two.", thread_id="a")
    world.say("Three.", "Four.", thread_id="b")
    items = world.see("threads")["items"]
    assert [(t["thread_id"], t["open_tail_turns"], t["ready_block_count"]) for t in items] == [
        ("a", 0, 1),
        ("b", 1, 0),
    ]


def _moved(world: World) -> tuple[str, str, str]:
    """Ann lived in Bern from May 2024 and lives in Rome since March 2025."""
    block = world.block("Ann moved house.", "Noted.")
    events = []
    for place, year, month in (("Bern", 2024, 5), ("Rome", 2025, 3)):
        said = datetime(year, month, 1, tzinfo=UTC)
        event = world.event(block, f"Ann lives in {place}", time=EventTime(mentioned_at=said))
        node = ProposedNode(
            "ann",
            "Ann",
            NodeType.PERSON,
            RecordStatus.ACTIVE,
            0.9,
            (event,),
            (event,),
            facts=(ProposedFact("home", FactMode.STATE, place, Stance.ASSERTED, 0.9, (event,)),),
        )
        city = ProposedNode(
            "city", place, NodeType.PLACE, RecordStatus.ACTIVE, 0.9, (event,), (event,)
        )
        edge = ProposedEdge("ann", "city", "lives in", "one", Stance.ASSERTED, 0.9, (event,))
        world.project([event], Proposal("", (node, city), (edge,)))
        events.append(event)
    nodes = world.see("graph")["nodes"]
    return next(n["node_id"] for n in nodes if n["name"] == "Ann"), events[0], events[1]


def test_the_graph_is_found_by_facts_and_shown_as_of_an_instant(world: World) -> None:
    ann, bern, rome = _moved(world)
    reply = world.ask("graph/search", {"query": "Ann home", "node_types": ["person"]})
    (card,) = reply["items"]
    assert (card["node_id"], card["current_state"]) == (ann, "home: Rome")
    assert "name" in card["matched_fields"]
    assert card["evidence_ref"] == f"graph-node:{ann}"
    body = {"query": "Ann home", "node_types": ["person"], "at": "2024-08-01T00:00:00Z"}
    (card,) = world.ask("graph/search", body)["items"]
    assert card["current_state"] == "home: Bern"
    (card,) = world.ask("graph/search", {"query": "Bern", "node_types": ["person"]})["items"]
    assert card["match_type"] == "historical"
    items = [row["event_ids"] for row in world.rows("batch_items")]
    assert all(set(ids) <= {bern, rome} for ids in items)


def test_a_node_is_read_whole_with_validity_and_history(world: World) -> None:
    ann, bern, rome = _moved(world)
    reply = world.ask(f"graph/nodes/{ann}/expand")
    node = reply["node"]
    assert reply["evidence_ref"] == f"graph-node:{ann}:expanded"
    assert [fact["value"] for fact in node["current_facts"]] == ["Rome"]
    (former,) = node["historical_facts"]
    assert (former["value"], former["status"]) == ("Bern", "superseded")
    assert former["valid_until"] == "2025-03-01T00:00:00+00:00"
    assert [edge["to_name"] for edge in node["current_edges"]] == ["Rome"]
    history = world.see(f"graph/nodes/{ann}/history")["items"]
    told = [item["fact"]["value"] for item in history if item["fact"]]
    assert told == ["Bern", "Rome"]
    assert [g["event_id"] for item in history for g in item["grounds"]] == [
        bern,
        bern,
        rome,
        rome,
    ]
    then = world.ask(f"graph/nodes/{ann}/expand", {"at": "2024-08-01T00:00:00Z"})["node"]
    assert [fact["value"] for fact in then["current_facts"]] == ["Bern"]


def test_a_closed_edge_reads_as_closed_from_its_other_end(world: World) -> None:
    _moved(world)
    nodes = world.see("graph")["nodes"]
    bern = next(node["node_id"] for node in nodes if node["name"] == "Bern")
    node = world.ask(f"graph/nodes/{bern}/expand")["node"]
    assert (node["current_edges"], len(node["historical_edges"])) == ([], 1)


def test_the_graph_is_drawn_page_by_page_with_each_edge_once(world: World) -> None:
    _moved(world)
    whole = world.see("graph")
    assert (len(whole["nodes"]), whole["node_count"]) == (3, 3)
    assert sorted((e["to_name"], e["is_current"]) for e in whole["edges"]) == [
        ("Bern", False),
        ("Rome", True),
    ]
    first = world.see("graph", limit=2)
    rest = world.see("graph", limit=2, cursor=first["next_cursor"])
    names = {node["name"] for node in (*first["nodes"], *rest["nodes"])}
    assert (names, rest["next_cursor"]) == ({"Ann", "Bern", "Rome"}, None)


def test_a_forgotten_events_value_leaves_the_graph_at_once(world: World) -> None:
    ann, _, rome = _moved(world)
    world.forget(rome)
    (card,) = world.ask("graph/search", {"query": "Ann", "node_types": ["person"]})["items"]
    assert card["current_state"] == "home: Bern"
    assert world.ask("graph/search", {"query": "Rome"})["items"] == []
    assert (
        "Rome"
        not in world.http.get(
            f"/v1/retrieval/{NS}/graph/nodes/{ann}/history", headers=world.headers
        ).text
    )
