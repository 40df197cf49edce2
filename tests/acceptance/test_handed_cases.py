"""Situations that lost turns elsewhere, by the ids of the handed cases."""

import json
import socket
from urllib.parse import urlsplit

from tests.acceptance.memory import FINAL, SCRIPTED, Memory, at_minute, turn
from tests.support.stack import RunningSystem
from workers.models.port import TaskKind

ONLY_SUMMARIES = {"extract": False, "project": False}


def test_lost_08_an_accepted_turn_survives_the_crash_of_everything(
    system: RunningSystem, memory: Memory
) -> None:
    # A job that cannot end before the crash: that the crash comes first must not be luck.
    system.script.hang(TaskKind.SUMMARIZE)
    memory.begin(block_turn_size=1, **SCRIPTED)

    posted = memory.turn("crash-1", "We decided to move the archive to Bergen.")
    system.kill("api", "worker", "relay", "upkeep")
    system.start_broker_empty()
    system.script.follow_rules()
    system.start("api", "worker", "relay", "upkeep")

    receipt = memory.turn_receipt(posted["turn_id"])
    assert receipt["stored"]["state"] == "succeeded"
    assert receipt["sealed"]["block_id"] == posted["sealed_block_ids"][0]
    jobs = memory.settled_jobs()
    assert {job["state"] for job in jobs} <= FINAL
    assert {job["kind"]: job["state"] for job in jobs}["summarize"] == "succeeded"
    assert memory.search_raw("archive Bergen")["items"]


def test_lost_09_the_open_tail_is_in_context_and_search_at_once(memory: Memory) -> None:
    memory.begin(block_turn_size=6)
    said = [
        ("The spare key is under the blue flowerpot.", "Understood."),
        ("And the alarm is off on Tuesdays.", "Okay."),
    ]
    for number, (user, assistant) in enumerate(said):
        memory.turn(
            f"tail-{number}",
            user,
            assistant,
            occurred_at=f"2026-04-01T10:0{number}:00Z",
            timezone="UTC",
        )

    context = memory.context("main")

    assert context["blocks"] == []
    assert [m["content"] for m in context["open_tail"]] == [text for pair in said for text in pair]
    for query, (user, _) in zip(("spare key", "alarm Tuesdays"), said, strict=True):
        found = memory.search_raw(query)["items"][0]
        assert (found["message"]["content"], found["in_open_tail"]) == (user, True)


def test_lost_10_blocks_are_sealed_by_count_alone(memory: Memory) -> None:
    memory.begin(block_turn_size=6, stages=ONLY_SUMMARIES)
    bodies = [
        turn(
            f"bridge-{i}",
            f"Still on the same bridge design, detail number {i}.",
            f"Right, detail {i}.",
            occurred_at=at_minute(i, "2026-05-01T08:00:00+00:00"),
            timezone="UTC",
        )
        for i in range(100)
    ]

    answer = memory.post(f"{memory.written}/turns/batch", bodies, expect=200)

    assert [item["status"] for item in answer["items"]] == [201] * 100
    blocks = memory.context("main")["blocks"]
    assert [block["turn_range"] for block in blocks] == [
        [first, first + 5] for first in range(1, 97, 6)
    ]
    assert answer["items"][-1]["turn"]["open_tail_turns"] == 4
    assert len(memory.context("main")["open_tail"]) == 2 * 4


def test_lost_13_a_block_that_decayed_to_its_title_gives_its_source_back_byte_by_byte(
    memory: Memory,
) -> None:
    memory.begin(block_turn_size=4, stages=ONLY_SUMMARIES)
    odd = "  Zwei  Leerzeichen,\ttab, “quotes”, 表情 🙂, trailing blank \n\nand a new paragraph "
    pairs = [(f"{odd} {i}", f"Answer {i}: ok, thanks.\r\n") for i in range(40)]
    bodies = [
        turn(f"decay-{i}", user, assistant, occurred_at=at_minute(i))
        for i, (user, assistant) in enumerate(pairs)
    ]
    memory.post(f"{memory.written}/turns/batch", bodies[:4], expect=200)
    # Ready first, so that no later block overtakes it and ages it less.
    [first] = memory.wait_ready("main", blocks=1)
    memory.post(f"{memory.written}/turns/batch", bodies[4:], expect=200)
    memory.wait_ready("main", blocks=10)
    decayed = memory.blocks("main")["items"]
    assert (decayed[0]["block_id"], decayed[0]["level"], decayed[0]["age"]) == (first, 0, 9)
    assert decayed[-1]["level"] == 5

    expanded = memory.post(f"{memory.read}/blocks/{first}/expand", {"level": 5}, expect=200)

    said = [text for pair in pairs[:4] for text in pair]
    assert [message["content"] for message in expanded["messages"]] == said
    roles = ("user", "assistant") * 4
    assert expanded["block"]["content"] == "\n\n".join(
        f"{role}: {text}" for role, text in zip(roles, said, strict=True)
    )
    assert memory.blocks("main")["items"][0]["level"] == 5, "the reading anchors it anew"
    deeper = memory.blocks("main")["items"][1]
    step = memory.post(f"{memory.read}/blocks/{deeper['block_id']}/expand", {}, expect=200)
    assert step["block"]["level"] == deeper["level"] + 1, "without a level, one deeper"


def test_dup_02_a_retry_after_a_lost_answer_stores_nothing_twice(memory: Memory) -> None:
    memory.begin()
    body = turn("r7", "The codename of the spring release is Marmot.")
    post_and_hang_up(memory, body)

    again = memory.post(f"{memory.written}/turns", body)
    other = memory.http.post(
        f"{memory.written}/turns", json=turn("r7", "The codename is Badger, after all.")
    )

    assert again["duplicate"] is True
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")
    assert memory.get(memory.written)["turn_count"] == 1
    assert memory.search_raw("Badger")["items"] == []


def post_and_hang_up(memory: Memory, body: dict[str, object]) -> None:
    """Send a turn and drop the connection once it is stored, without reading the answer."""
    content = json.dumps(body).encode()
    address = urlsplit(memory.system.url)
    head = (
        f"POST {memory.written}/turns HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: Bearer {memory.tenant.admin_key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(head.encode() + content)
        memory.system.wait_until(
            lambda: memory.get(memory.written)["turn_count"] == 1, "the turn is stored"
        )
