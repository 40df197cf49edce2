from __future__ import annotations

import pytest

from tests.integration.retrieval.world import NS, World


def _standings(world: World, **query: object) -> list[dict[str, object]]:
    items: list[dict[str, object]] = world.see("threads/main/blocks", **query)["items"]
    return items


def test_a_thread_shows_its_blocks_newest_first_as_context_gives_them(world: World) -> None:
    for index in range(6):
        world.block(f"Part {index} of the story.", "Go on.")
    shown = _standings(world)
    given = world.see("blocks", thread_id="main")["items"]
    for key in ("block_id", "level", "age", "tokens", "turn_range", "label"):
        assert [one[key] for one in shown] == [one[key] for one in reversed(given)], key
    assert [one["weight"] for one in shown[:3]] == [1.0, 0.7408, 0.5488]
    assert shown[-1]["anchor"] == {"level": 5, "position": 1}
    assert shown[0]["title"] == "Part 5 of the story."
    assert all(0 < one["tokens"] <= one["source_tokens"] for one in shown[:2])  # type: ignore[operator] # figures of JSON


def test_pages_of_blocks_hold_what_the_whole_list_holds(world: World) -> None:
    for index in range(5):
        world.block(f"Part {index}.", "Go on.")
    whole = world.see("threads/main/blocks")
    first = world.see("threads/main/blocks", limit=2)
    second = world.see("threads/main/blocks", limit=2, cursor=first["next_cursor"])
    third = world.see("threads/main/blocks", limit=2, cursor=second["next_cursor"])
    assert first["items"] + second["items"] + third["items"] == whole["items"]
    assert third["next_cursor"] is None


def test_unready_blocks_and_the_open_tail_are_shown_as_what_was_said(world: World) -> None:
    world.block("Sealed and summarised.", "Yes.")
    waiting = world.block("Sealed and waiting.", "Yes.", ready=False)
    world.say("Still open.", "Yes.")
    shown = world.see("threads/main/blocks")
    assert [message["content"] for message in shown["open_tail"]] == ["Still open.", "Yes."]
    assert (shown["open_tail_turns"], shown["ready_block_count"]) == (1, 1)
    unready = shown["items"][0]
    assert (unready["block_id"], unready["status"], unready["level"]) == (waiting, "pending", 5)
    assert (unready["anchor"], unready["weight"], unready["age"]) == (None, None, None)
    assert shown["items"][1]["age"] == 0
    levels = world.see(f"blocks/{waiting}")["levels"]
    assert [one["level"] for one in levels] == [3, 4, 5]


def test_looking_at_every_level_anchors_nothing_and_makes_no_batch(world: World) -> None:
    first = world.block("The first part of it.", "Yes.")
    for index in range(4):
        world.block(f"Later part {index}.", "Yes.")
    tables = ("block_states", "batches", "batch_items")
    before = {table: world.rows(table) for table in tables}
    record = world.see(f"blocks/{first}")
    assert {table: world.rows(table) for table in tables} == before
    assert [one["level"] for one in record["levels"]] == [0, 1, 2, 3, 4, 5]
    assert record["levels"][0]["content"] == "The first part of it.\nTags: tag"
    assert record["levels"][5]["content"] == "user: The first part of it.\n\nassistant: Yes."
    assert record["levels"][5]["share"] == 1.0
    assert record["blocks_since_anchor"] == 4
    here = record["curve"][4]
    assert (here["blocks"], here["level"]) == (4, record["level"])
    assert here["weight"] == record["weight"]
    assert record["curve"][-1]["level"] == 0


def test_an_expansion_by_a_person_says_so(world: World) -> None:
    block = world.block("The first part.", "Yes.")
    for index in range(5):
        world.block(f"Later part {index}.", "Yes.")
    world.ask(f"blocks/{block}/expand", {"level": 4, "by": "user"})
    record = world.see(f"blocks/{block}")
    assert (record["level"], record["lifted_by"]) == (4, "user")
    assert record["anchor"] == {"level": 4, "position": 6}
    assert (record["age"], record["blocks_since_anchor"]) == (5, 0)
    world.ask(f"blocks/{block}/expand")
    assert world.see(f"blocks/{block}")["lifted_by"] == "agent"
    answer = world.post(f"/v1/retrieval/{NS}/blocks/{block}/expand", {"by": "nobody"})
    assert answer.status_code == 422


@pytest.mark.parametrize("cursor", ["YWJj", "LTE", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_a_cursor_of_another_list_is_422(world: World, cursor: str) -> None:
    world.block("One.", "Two.")
    answer = world.get(f"/v1/retrieval/{NS}/threads/main/blocks", cursor=cursor)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/query/cursor")


def test_a_thread_that_never_was_is_404(world: World) -> None:
    world.begin()
    assert world.get(f"/v1/retrieval/{NS}/threads/nowhere/blocks").status_code == 404
