from __future__ import annotations

from tests.integration.retrieval.world import World


def test_blocks_are_ranked_by_what_their_messages_say_and_make_a_batch(world: World) -> None:
    world.block("The telescope is in the attic.", "Behind the old telescope box?")
    other = world.block("We had soup.", "With a telescope on the table, once.", thread_id="b")
    world.block("The rent is due on Monday.", "Noted.", thread_id="c")

    reply = world.ask("blocks/search", {"query": "Where is the telescope?"})

    first, second = reply["items"]
    assert first["block"]["thread_id"] == "main"
    assert second["block_id"] == other
    assert first["evidence_ref"] == f"block:{first['block_id']}:level:{first['block']['level']}"
    assert first["rank_score"] >= second["rank_score"] > 0
    assert "telescope" in first["messages"][0]["match_reason"]
    assessed = world.post(
        f"/v1/batches/{reply['batch_id']}/assessment",
        {
            "verdict": "sufficient",
            "evidence_refs": [first["evidence_ref"]],
            "fit": "says it",
            "next_strategy": "answer",
        },
    )
    assert assessed.json()["evidence_refs"] == [first["evidence_ref"]]


def test_a_block_that_is_not_ready_is_found_as_its_messages(world: World) -> None:
    block_id = world.block("The telescope is in the attic.", "Noted.", ready=False)
    [hit] = world.ask("blocks/search", {"query": "telescope"})["items"]
    assert (hit["block_id"], hit["status"], hit["block"]["level"]) == (block_id, "pending", 5)
    assert "The telescope is in the attic." in hit["block"]["content"]


def test_a_search_of_blocks_says_when_only_the_open_tail_matches(world: World) -> None:
    world.block("The rent is due on Monday.", "Noted.", occurred_at="2026-02-01T10:00:00Z")
    world.say("The telescope is in the attic.", "Noted.")
    reply = world.ask("blocks/search", {"query": "telescope"})
    assert (reply["items"], reply["empty_reason"]) == ([], "open_tail_pending")
    assert "raw" in reply["next_step"]


def test_a_session_search_keeps_to_the_blocks_of_its_thread(world: World) -> None:
    world.block("The telescope is in the attic.", "Noted.")
    own = world.block("The telescope was sold.", "Noted.", thread_id="b")
    asked = {"query": "telescope", "scope": "session", "thread_id": "b"}
    assert [hit["block_id"] for hit in world.ask("blocks/search", asked)["items"]] == [own]
