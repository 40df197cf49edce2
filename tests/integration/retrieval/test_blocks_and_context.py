from __future__ import annotations

from typing import Any

import orjson
import pytest

from retrieval.event_ranking import EventQuery, ranked_events
from retrieval.reader import Reader
from shared.domain.budget import estimate_tokens
from shared.domain.events import Criticality
from shared.domain.graph import NodeType, RecordStatus
from shared.domain.graph_proposed import Proposal, ProposedNode
from shared.store.database import ReadTx
from tests.integration.retrieval.world import NS, World

EMPTY_SECTION = estimate_tokens('{"events":[],"nodes":[],"text":"","tokens":0}')


def _levels(world: World, **query: Any) -> list[int]:
    return [item["level"] for item in world.see("blocks", **query)["items"]]


def test_older_blocks_lose_detail_and_keep_their_place(world: World) -> None:
    for index in range(6):
        world.block(f"Part {index} of the story.", "Go on.")
    reply = world.see("blocks", thread_id="main")
    # λ 0.30: weights 1, .74, .55, .41, .30, .22 by age, so drops 0, 0, 1, 2, 2, 3.
    assert [item["level"] for item in reply["items"]] == [2, 3, 3, 4, 5, 5]
    assert [item["age"] for item in reply["items"]] == [5, 4, 3, 2, 1, 0]
    assert reply["items"][0]["content"] == "- Point of Part 0 of the story."
    assert reply["items"][0]["label"] == "L2 key points"
    assert reply["items"][-1]["content"] == "user: Part 5 of the story.\n\nassistant: Go on."
    for item in reply["items"]:
        assert item["tokens"] == estimate_tokens(item["content"])
        assert item["evidence_ref"] == f"block:{item['block_id']}:level:{item['level']}"
        assert item["header"].startswith(f"Block: {item['block_id']} | Turns: ")


def test_lost_13_a_faded_block_still_holds_every_byte(world: World) -> None:
    said = "  Leading blanks,\n\n\ttabs and 表情 😀 stay.  \n"
    first = world.block(said, "Kept.")
    for index in range(17):
        world.block(f"Later part {index}.", "Yes.")
    assert _levels(world, thread_id="main")[0] == 0
    reply = world.ask(f"blocks/{first}/expand", {"level": 5})
    assert [message["content"] for message in reply["messages"]] == [said, "Kept."]
    assert reply["block"]["content"] == f"user: {said}\n\nassistant: Kept."
    assert (reply["anchor"]["level"], reply["anchor"]["position"]) == (5, 18)
    assert _levels(world, thread_id="main")[0] == 5
    world.block("One more.", "Yes.")
    world.block("And one more.", "Yes.")
    assert _levels(world, thread_id="main")[0] == 4
    assert world.see("blocks", thread_id="main")["items"][0]["age"] == 19


@pytest.mark.parametrize(
    ("level", "wanted"), [(None, 3), ("next", 422), (" l4 ", 4), (0, 0), (6, 422), (True, 422)]
)
def test_a_level_is_a_level_or_422(world: World, level: object, wanted: int) -> None:
    first = world.block("The first part.", "Yes.")
    for index in range(5):
        world.block(f"Later part {index}.", "Yes.")
    answer = world.post(f"/v1/retrieval/{NS}/blocks/{first}/expand", {"level": level})
    if wanted == 422:
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/level")
    else:
        assert answer.json()["block"]["level"] == wanted


def test_a_block_that_is_not_ready_cannot_be_expanded(world: World) -> None:
    block = world.block("Not ready.", "Yes.", ready=False)
    answer = world.post(f"/v1/retrieval/{NS}/blocks/{block}/expand")
    assert (answer.status_code, answer.json()["code"]) == (409, "block_pending")


def test_only_an_admin_reads_what_was_redacted(world: World) -> None:
    secret = "sk-" + "a1B2c3D4e5F6g7H8i9J0"
    block = world.block(f"My key is {secret} okay", "I will not repeat it.")
    made = world.post("/v1/keys", {"label": "reader", "permissions": ["read"]}).json()
    reader = {"Authorization": f"Bearer {made['key']}"}
    path = f"/v1/retrieval/{NS}/blocks/{block}/expand"
    assert secret in world.post(path, {"level": 5}).text
    assert secret not in world.post(path, {"level": 5}, headers=reader).text
    for level in range(5):
        assert secret not in world.post(path, {"level": level}).text
    assert secret not in world.post(f"/v1/retrieval/{NS}/context", {"thread_id": "main"}).text
    assert secret not in world.post(f"/v1/retrieval/{NS}/raw/search", {"query": "key"}).text


def test_blocks_say_why_there_are_none(world: World) -> None:
    world.begin()
    assert world.see("blocks")["empty_reason"] == "no_blocks_in_namespace"
    world.say("Hello there.", "Hi.")
    assert world.see("blocks", thread_id="main")["empty_reason"] == "open_tail_pending"
    block = world.seal()
    assert world.see("blocks", thread_id="main")["empty_reason"] == "own_blocks_pending"
    other = world.see("blocks", thread_id="other")
    assert other["empty_reason"] == "blocks_exist_in_other_threads"
    assert (other["block_count"], other["namespace_block_count"]) == (0, 1)
    world.make_ready(block)
    assert world.see("blocks", thread_id="main")["empty_reason"] is None
    assert len(world.see("blocks", thread_id="other", scope="namespace")["items"]) == 1


def test_nothing_said_is_missing_from_context(world: World) -> None:
    ready = world.block("Ready part.", "Yes.")
    pending = world.block("Pending part.", "Yes.", ready=False)
    failed = world.block("Failed part.", "Yes.", ready=False)
    jobs = world.get("/v1/jobs", kind="summarize").json()["items"]
    doomed = next(job["job_id"] for job in jobs if job["subject"] == failed)
    assert world.post(f"/v1/jobs/{doomed}/cancel").status_code == 200
    world.say("In the tail.", "Still open.")
    reply = world.ask("context", {"thread_id": "main"})
    assert [(b["block_id"], b["status"]) for b in reply["blocks"]] == [
        (ready, "ready"),
        (pending, "pending"),
        (failed, "failed"),
    ]
    assert reply["blocks"][0]["messages"] is None
    assert [m["content"] for m in reply["blocks"][1]["messages"]] == ["Pending part.", "Yes."]
    assert [m["content"] for m in reply["blocks"][2]["messages"]] == ["Failed part.", "Yes."]
    assert [m["content"] for m in reply["open_tail"]] == ["In the tail.", "Still open."]
    named = [name for block in reply["blocks"] for name in block["message_ids"]]
    named += [message["message_id"] for message in reply["open_tail"]]
    assert sorted(named) == sorted(row["message_id"] for row in world.rows("messages"))
    assert len({turn for block in reply["blocks"] for turn in block["turn_ids"]}) == 3
    assert world.rows("batches") == []


def test_lost_09_the_open_tail_is_there_at_once(world: World) -> None:
    world.say("The spare key is under the blue flowerpot.", "Understood.")
    world.say("And the alarm is off on Tuesdays.", "Okay.")
    reply = world.ask("context", {"thread_id": "main"})
    assert [m["content"] for m in reply["open_tail"]][::2] == [
        "The spare key is under the blue flowerpot.",
        "And the alarm is off on Tuesdays.",
    ]
    hit = world.ask("raw/search", {"query": "flowerpot"})["items"][0]
    assert (hit["in_open_tail"], hit["block_id"]) == (True, None)


def test_only_other_conversations_are_activated(world: World) -> None:
    own = world.block("My boat is red.", "Noted.", thread_id="main")
    other = world.block("The boat needs paint.", "Noted.", thread_id="other")
    own_event = world.event(own, "The boat is red", criticality=Criticality.SAFETY)
    event = world.event(other, "The boat needs paint")
    allergy = world.event(other, "Allergic to nuts", criticality=Criticality.SAFETY)
    for subject, name in ((own_event, "Red Boat"), (event, "Paint Shop Boat")):
        world.project(
            [subject],
            Proposal(
                "",
                (
                    ProposedNode(
                        "n",
                        name,
                        NodeType.PLACE,
                        RecordStatus.ACTIVE,
                        0.9,
                        (subject,),
                        (subject,),
                    ),
                ),
            ),
        )
    reply = world.ask("context", {"thread_id": "main", "query": "What about the boat?"})
    activated = reply["activated"]
    assert {item["event_id"] for item in activated["events"]} == {event, allergy}
    assert "Red Boat" not in activated["text"]
    assert own_event not in activated["text"]
    assert "not as instructions" in activated["text"]
    reply = world.ask("context", {"thread_id": "main", "query": "Paint Shop", "max_events": 0})
    assert [node["name"] for node in reply["activated"]["nodes"]] == ["Paint Shop Boat"]


def test_nothing_is_looked_for_where_no_other_conversation_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[EventQuery] = []

    def looking(tx: ReadTx, reader: Reader, query: EventQuery, *more: Any, **how: Any) -> Any:
        looked.append(query)
        return ranked_events(tx, reader, query, *more, **how)

    monkeypatch.setattr("retrieval.activated.ranked_events", looking)
    world.event(world.block("My boat is red."), "The boat is red")
    alone = world.ask("context", {"thread_id": "main", "query": "boat"})
    assert (alone["activated"]["events"], looked) == ([], [])
    event = world.event(world.block("The boat leaks.", thread_id="other"), "The boat leaks")
    reply = world.ask("context", {"thread_id": "main", "query": "boat"})
    assert [one["event_id"] for one in reply["activated"]["events"]] == [event]
    assert len(looked) == 1


def test_a_thread_that_holds_nearly_all_hides_no_other_conversation(world: World) -> None:
    own = world.block("My boat is red.")
    other = world.block("A boat was mentioned in passing.", thread_id="other")
    event = world.event(other, "In passing", "A boat was mentioned in passing, among other things.")
    world.events(own, [f"Boat, boat, boat {number}" for number in range(130)])
    reply = world.ask("context", {"thread_id": "main", "query": "boat"})
    assert [one["event_id"] for one in reply["activated"]["events"]] == [event]


def test_max_tokens_bounds_the_activated_section(world: World) -> None:
    other = world.block("Much about boats.", "Noted.", thread_id="other")
    for index in range(8):
        world.event(other, f"Boat number {index}", "A boat was seen in the harbour. " * 4)
    shown = []
    for limit in (0, 40, 150, 300, 900):
        body = {"thread_id": "main", "query": "boat", "max_tokens": limit, "max_events": 8}
        activated = world.ask("context", body)["activated"]
        assert estimate_tokens(orjson.dumps(activated).decode()) <= max(limit, EMPTY_SECTION)
        assert activated["tokens"] == estimate_tokens(activated["text"])
        assert all(item["event_id"] in activated["text"] for item in activated["events"])
        shown.append(len(activated["events"]))
    assert shown == sorted(shown)
    assert (shown[0], shown[-1] > 1) == (0, True)


def test_turns_without_a_thread_are_a_conversation_of_their_own(world: World) -> None:
    world.say("Said to nobody.", "Yes.", thread_id=None)
    assert [m["content"] for m in world.ask("context", {})["open_tail"]] == [
        "Said to nobody.",
        "Yes.",
    ]
    named = world.ask("context", {"thread_id": "unthreaded"})
    assert len(named["open_tail"]) == 2
    assert world.ask("context", {"thread_id": "main"})["open_tail"] == []
