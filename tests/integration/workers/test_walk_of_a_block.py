from __future__ import annotations

from sqlalchemy import text

from shared.domain.jobs import JobKind
from shared.store.blocks import summaries_of
from shared.store.graph import live_version, load_state, recent_nodes
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from tests.integration.workers.conftest import (
    NAMESPACE,
    NOTHING,
    SUMMARY,
    World,
    event_reply,
    extraction,
    reply,
)

DOG = ("I have a dog called Rex.", "What a good name for a dog.")


def _projected(world: World, event_id: str) -> dict[str, object]:
    return {
        "reason": "a person",
        "nodes": [
            {
                "ref": "ann",
                "name": "Ann",
                "type": "person",
                "aliases": [],
                "tags": [],
                "metadataProvenance": {"name": [event_id], "aliases": [], "tags": []},
                "sourceEventIds": [event_id],
                "facts": [
                    {
                        "key": "dog",
                        "value": "Rex",
                        "mode": "state",
                        "sourceEventIds": [event_id],
                    }
                ],
            }
        ],
        "edges": [],
    }


def test_a_block_walks_from_summary_over_events_to_the_graph(world: World) -> None:
    block = world.say(DOG)
    source = world.message_ids(block)[0]
    world.script(extract=lambda _task: reply(extraction(event_reply(source))))
    assert world.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert world.block(block.block_id).status == "pending"
    assert world.run(block, JobKind.EXTRACT) == "succeeded"
    assert world.block(block.block_id).status == "ready"
    (event,) = world.events(block)
    assert event.source_message_ids == (source,)
    assert event.formed_turn == block.formed_turn
    world.script(project=lambda _task: reply(_projected(world, event.event_id)))
    assert world.run(block, JobKind.PROJECT) == "succeeded"
    with world.database.read(world.tenant_id) as tx:
        version = live_version(tx, NAMESPACE)
        assert version is not None
        state = load_state(tx, recent_nodes(tx, version, limit=5))
        words = bm25_search(tx, NAMESPACE, DocumentKind.NODE, {"rex": 1.0})
        found = bm25_search(tx, NAMESPACE, DocumentKind.EVENT, {"rex": 1.0})
        summary = summaries_of(tx, [block.block_id], version=1)[block.block_id]
    assert [node.name for node in state.nodes] == ["Ann"]
    assert [fact.value for fact in state.facts] == ["Rex"]
    assert [hit.document_id for hit in words] == [state.nodes[0].id]
    assert [hit.document_id for hit in found] == [event.event_id]
    assert summary.title == SUMMARY["title"]
    assert [queue for queue, _, _ in world.rung] == ["extract", "project"]


def test_no_connection_is_held_while_a_model_thinks(world: World) -> None:
    block = world.say(DOG)
    held: list[int] = []

    def slow(_task: object) -> object:
        held.append(world.database.engine.pool.checkedout())  # type: ignore[attr-defined] # a queue pool
        return reply(SUMMARY)

    world.script(summarize=slow)
    world.run(block, JobKind.SUMMARIZE)
    assert held == [0]


def test_a_block_with_nothing_to_extract_is_ready_after_its_summary(world: World) -> None:
    block = world.say(("Hello!", "Hello!"))
    world.script(summarize=lambda _task: reply({**SUMMARY, "shouldExtract": False}))
    assert world.run(block, JobKind.SUMMARIZE) == "succeeded"
    assert world.block(block.block_id).status == "ready"
    assert world.job(block, JobKind.EXTRACT).state == "succeeded_empty"
    assert world.rung == []


def test_an_explicit_valid_empty_extraction_makes_the_block_ready_and_is_final(
    world: World,
) -> None:
    block = world.say(DOG)
    world.script(extract=lambda _task: reply(NOTHING))
    world.run(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.EXTRACT) == "succeeded_empty"
    assert world.block(block.block_id).status == "ready"
    assert world.job(block, JobKind.EXTRACT).result["why"] == "only greetings"
    assert world.job(block, JobKind.PROJECT) is None


def test_a_switched_off_extraction_is_recorded_as_skipped_and_the_block_is_ready(
    world: World,
) -> None:
    world.policy(stages={"extract": False})
    block = world.say(DOG)
    world.run(block, JobKind.SUMMARIZE)
    assert world.block(block.block_id).status == "ready"
    assert world.job(block, JobKind.EXTRACT).state == "skipped"


def test_a_switched_off_projection_is_recorded_as_skipped(world: World) -> None:
    world.policy(stages={"project": False})
    block = world.say(DOG)
    source = world.message_ids(block)[0]
    world.script(extract=lambda _task: reply(extraction(event_reply(source))))
    world.run(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.EXTRACT) == "succeeded"
    assert world.job(block, JobKind.PROJECT).state == "skipped"


def test_a_long_block_is_summarised_in_parts_with_the_same_rules(world: World) -> None:
    block = world.say(("word " * 3_000, "Noted."))
    deps = world.with_settings(model_input_tokens=1_000)
    assert world.run(block, JobKind.SUMMARIZE, deps=deps) == "succeeded"
    tasks = world.model.tasks
    assert len(tasks) == 4
    said = "".join(m.content for t in tasks for m in t.input.messages if m.role == "user")  # type: ignore[attr-defined] # a summarize input
    assert said == "word " * 3_000


def test_every_call_is_counted_with_its_outcome(world: World) -> None:
    block = world.say(DOG)
    replies = iter([reply("no json"), reply(SUMMARY)])
    world.script(summarize=lambda _task: next(replies))
    world.run(block, JobKind.SUMMARIZE)
    with world.database.read(world.tenant_id) as tx:
        rows = tx.connection.execute(text("SELECT call, outcome FROM model_calls ORDER BY call"))
        assert [tuple(row) for row in rows] == [(1, "malformed"), (2, "accepted")]
