"""The ten steps of docs/walk.md, top to bottom, over HTTP with a real worker."""

import pytest

from tests.acceptance.memory import Memory, at_minute, turn

THREAD = "orion"
TURNS = [
    ("We decided to use pnpm as the package manager of Orion.", "Orion uses pnpm, noted."),
    ("Mara works at the Harbour Institute and leads the design.", "Good to know."),
    ("Yesterday we finished the first prototype of Orion.", "Congratulations!"),
    ("I am allergic to peanuts, so never suggest a recipe with them.", "Understood."),
]


def bodies() -> list[dict[str, object]]:
    return [
        turn(f"walk-{n}", user, assistant, thread_id=THREAD, occurred_at=at_minute(n))
        for n, (user, assistant) in enumerate(TURNS)
    ]


def test_a_turn_walks_from_its_post_to_the_receipt_of_its_use(memory: Memory) -> None:
    memory.begin(block_turn_size=len(TURNS))

    # 1: stored, durable when the answer leaves
    answers = [memory.post(f"{memory.written}/turns", body) for body in bodies()[:-1]]
    first = answers[0]
    assert (first["thread_id"], first["sequence"], first["duplicate"]) == (THREAD, 1, False)
    assert [answer["open_tail_turns"] for answer in answers] == [1, 2, 3]
    assert [answer["sealed_block_ids"] for answer in answers] == [[], [], []]

    # 2: in the open tail, findable at once
    said = [message["content"] for message in memory.context(THREAD)["open_tail"]]
    assert said == [text for pair in TURNS[:-1] for text in pair]
    hit = memory.search_raw("package manager pnpm")["items"][0]
    assert hit["message"]["content"] == TURNS[0][0]
    assert hit["in_open_tail"] is True
    receipt = memory.turn_receipt(first["turn_id"])
    assert receipt["stored"]["state"] == "succeeded"
    assert receipt["stored"]["searchable_since"]
    assert receipt["sealed"]["state"] == "waiting"
    assert receipt["searchable_since"] is None

    # 3: sealed, by count alone, with a job in the same transaction
    last = memory.post(f"{memory.written}/turns", bodies()[-1])
    assert last["open_tail_turns"] == 0
    [block_id] = last["sealed_block_ids"]
    assert memory.context(THREAD)["open_tail"] == []
    jobs = {job["kind"]: job for job in memory.jobs()}
    assert jobs["summarize"]["subject"] == block_id
    sealed = memory.turn_receipt(first["turn_id"])["sealed"]
    assert (sealed["state"], sealed["block_id"]) == ("succeeded", block_id)

    # 4-6: summarised, told as events, in the graph
    jobs = {job["kind"]: job for job in memory.settled_jobs()}
    assert {kind: job["state"] for kind, job in jobs.items()} == {
        "summarize": "succeeded",
        "extract": "succeeded",
        "project": "succeeded",
    }
    assert memory.block_status(THREAD) == {block_id: "ready"}
    receipt = memory.turn_receipt(first["turn_id"])
    stages = ("stored", "sealed", "summarised", "events", "graph")
    assert [receipt[stage]["state"] for stage in stages] == ["succeeded"] * 5
    assert receipt["events"]["n"] >= 1
    assert receipt["searchable_since"] >= receipt["stored"]["searchable_since"]
    node = memory.search_graph("Mara")["items"][0]
    assert node["name"] == "Mara"
    assert node["timeline"][0]["title"].startswith("Mara works at the Harbour Institute")

    # 7 and 8: found by a search, shown as items of a batch
    memory.turn("later-1", "How is the weather?", thread_id="smalltalk")
    memory.turn("later-2", "And tomorrow?", thread_id="smalltalk")
    found = memory.search_events("Which package manager does Orion use?", thread_id=THREAD)
    best = found["items"][0]
    assert best["event_id"] in receipt["events"]["event_ids"]
    assert best["evidence_ref"] == f"event:{best['event_id']}"
    assert found["empty_reason"] is None
    assert best["weight"] < 1, "two turns have passed since it was said"

    # 9: judged by the gate
    assessment = memory.assess(
        found["batch_id"], "sufficient", [best["evidence_ref"]], strategy="answer"
    )
    assert assessment["verdict"] == "sufficient"
    assert assessment["evidence_refs"] == [best["evidence_ref"]]
    assert assessment["rejected_evidence_refs"] == []

    # 10: used: a receipt, and exactly this event reinforced
    used = memory.use(found["batch_id"], [best["evidence_ref"]], "answer-1")
    assert [event["event_id"] for event in used["events"]] == [best["event_id"]]
    assert used["events"][0]["n"] == 2
    again = memory.search_events("Which package manager does Orion use?")["items"][0]
    assert again["event_id"] == best["event_id"]
    assert best["weight"] < again["weight"] == pytest.approx(1)


def test_replays_get_the_first_answer_again_and_change_nothing(memory: Memory) -> None:
    memory.begin(block_turn_size=2)
    first = [memory.post(f"{memory.written}/turns", body) for body in bodies()]
    memory.settled_jobs()
    state = memory.get(memory.written)

    again = [memory.post(f"{memory.written}/turns", body, expect=(200, 201)) for body in bodies()]

    assert [answer["duplicate"] for answer in again] == [True] * len(again)
    assert again == [answer | {"duplicate": True} for answer in first]
    assert memory.get(memory.written) == state


def test_searching_changes_no_weight(memory: Memory) -> None:
    memory.begin(block_turn_size=len(TURNS))
    for body in bodies():
        memory.post(f"{memory.written}/turns", body)
    memory.settled_jobs()
    memory.turn("later", "How is the weather?", thread_id="smalltalk")
    before = memory.search_events("Orion package manager")["items"]
    assert before

    for _ in range(3):
        memory.search_events("Orion package manager")
        memory.context(THREAD, query="Orion package manager")

    after = memory.search_events("Orion package manager")["items"]
    assert [(e["event_id"], e["weight"]) for e in after] == [
        (e["event_id"], e["weight"]) for e in before
    ]
