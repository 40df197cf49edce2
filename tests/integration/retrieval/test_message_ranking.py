from __future__ import annotations

from typing import Any

from tests.integration.retrieval.world import World


def _say(world: World, turn: int, *said: tuple[str, str]) -> Any:
    roles = ("user", "assistant")
    messages = [
        {"role": roles[place % 2], "name": name, "content": content}
        for place, (name, content) in enumerate(said)
    ]
    return world.say(messages=messages, occurred_at=f"2026-03-{turn:02d}T10:00:00Z")


def test_an_event_that_was_taken_from_a_message_makes_it_findable(world: World) -> None:
    block = world.block("I put it up there.", "Noted.")
    world.event(block, "The telescope is stored in the attic")
    [hit] = world.ask("raw/search", {"query": "telescope"})["items"]
    assert hit["message"]["content"] == "I put it up there."
    assert hit["match_reason"].startswith("An event taken from it matches.")
    assert hit["signals"]["events"] > 0
    assert hit["matched_words"] == []


def test_a_forgotten_event_makes_nothing_findable(world: World) -> None:
    block = world.block("I put it up there.", "Noted.")
    world.forget(world.event(block, "The telescope is stored in the attic"))
    assert world.ask("raw/search", {"query": "telescope"})["items"] == []


def test_an_answer_that_is_likely_not_there_is_told_beside_the_verdict(world: World) -> None:
    _say(world, 1, ("Ann", "My dog is brown."), ("Bo", "What a good dog."))
    _say(world, 9, ("Ann", "What is new?"), ("Bo", "My telescope has a new lens from Riga."))
    for question, expected in (
        ("Where does the lens of Ann's telescope come from?", True),
        ("Where does the lens of Bo's telescope come from?", False),
    ):
        reply = world.ask("raw/search", {"query": question})
        ref = reply["items"][0]["evidence_ref"]
        judged = world.post(
            f"/v1/batches/{reply['batch_id']}/assessment",
            {
                "verdict": "sufficient",
                "evidence_refs": [ref],
                "fit": "says it",
                "next_strategy": "answer",
            },
        ).json()
        assert judged["verdict"] == "sufficient"
        codes = [advisory["code"] for advisory in judged["advisories"]]
        assert ("likely_unanswerable" in codes) is expected, question


def test_searching_messages_and_blocks_changes_no_event(world: World) -> None:
    block = world.block("The garden gate is green.", "Noted.")
    world.event(block, "The garden gate is green")
    before = [world.rows(table) for table in ("events", "blocks", "block_states", "messages")]
    for _ in range(5):
        world.ask("raw/search", {"query": "garden gate"})
        world.ask("blocks/search", {"query": "garden gate"})
    after = [world.rows(table) for table in ("events", "blocks", "block_states", "messages")]
    assert after == before
