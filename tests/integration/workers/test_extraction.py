from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.domain.jobs import FailureClass, JobKind
from shared.store.blocks import BlockRow
from shared.store.events import StoredEvent, events_by_id, links_of
from tests.integration.workers.conftest import World, event_reply, extraction, reply
from workers.models.inputs import ExtractInput
from workers.models.port import ModelError

DOG = ("I am Ann and I have a dog called Rex.", "What a good name for a dog.")


def _ready_to_extract(world: World, *pairs: tuple[str, str], thread_id: str = "main") -> BlockRow:
    block = world.say(*pairs, thread_id=thread_id)
    world.run(block, JobKind.SUMMARIZE)
    return block


def _extracted(world: World, block: BlockRow, **changes: Any) -> StoredEvent:
    source = world.message_ids(block)[0]
    world.script(extract=lambda _task: reply(extraction(event_reply(source, **changes))))
    assert world.run(block, JobKind.EXTRACT) == "succeeded"
    return world.events(block)[-1]


def test_an_event_without_a_legal_source_is_refused_after_one_repair(world: World) -> None:
    block = _ready_to_extract(world, DOG)
    world.script(extract=lambda _task: reply(extraction(event_reply("msg_foreign"))))
    assert world.run(block, JobKind.EXTRACT) == "JobRetried"
    asked = [task for task in world.model.tasks if task.kind == "extract"]
    assert len(asked) == 2
    assert "no_legal_source" in asked[1].prompt.user
    assert world.events(block) == []


def test_no_valid_event_in_the_last_attempt_degrades_the_job_and_leaves_the_block_unready(
    world: World,
) -> None:
    block = _ready_to_extract(world, DOG)
    world.script(extract=lambda _task: reply(extraction(event_reply("msg_foreign"))))
    states = world.run_until_final(block, JobKind.EXTRACT)
    assert states == ["JobRetried", "JobRetried", "degraded"]
    job = world.job(block, JobKind.EXTRACT)
    assert (job.state, job.reason) == ("degraded", "no_valid_event")
    assert "no_legal_source" in {one["code"] for one in job.rejections}
    assert world.block(block.block_id).status == "pending"
    assert len([task for task in world.model.tasks if task.kind == "extract"]) == 6


def test_a_dead_extraction_leaves_its_block_unready_and_later_blocks_go_on(world: World) -> None:
    def away(_task: object) -> Any:
        raise ModelError(FailureClass.PERMANENT, "http_401", "as scripted")

    block = _ready_to_extract(world, DOG)
    world.script(extract=away)
    assert world.run(block, JobKind.EXTRACT) == "JobDied"
    later = _ready_to_extract(world, ("My cat is Tom.", "Noted."))
    _extracted(world, later, title="Ann's cat is Tom", summary="The cat is Tom.")
    assert world.block(block.block_id).status == "pending"
    ready = world.block(later.block_id)
    assert (ready.status, ready.anchor_position) == ("ready", 1)


def test_some_refused_events_degrade_the_job_and_the_block_is_ready(world: World) -> None:
    block = _ready_to_extract(world, DOG)
    source = world.message_ids(block)[0]
    bad = event_reply(source, title="Zorblax quuxed", summary="Frobnicated gizmos", temporal={})
    world.script(extract=lambda _task: reply(extraction(event_reply(source), bad)))
    assert world.run(block, JobKind.EXTRACT) == "degraded"
    assert world.block(block.block_id).status == "ready"
    assert len(world.events(block)) == 1
    (rejection,) = world.job(block, JobKind.EXTRACT).rejections
    assert rejection["code"] == "ungrounded"
    assert world.job(block, JobKind.PROJECT) is not None


def test_a_repair_never_loses_events_that_held_already(world: World) -> None:
    block = _ready_to_extract(world, DOG)
    source = world.message_ids(block)[0]
    bad = event_reply("msg_foreign", title="Another thing", summary="Another thing.")
    nothing = {"shouldExtract": False, "reason": "on second thoughts", "events": []}
    replies = iter([reply(extraction(event_reply(source), bad)), reply(nothing)])
    world.script(extract=lambda _task: next(replies))
    assert world.run(block, JobKind.EXTRACT) == "degraded"
    assert len(world.events(block)) == 1


def test_the_same_fact_said_again_is_a_second_source_and_not_a_second_event(
    world: World,
) -> None:
    first = _ready_to_extract(world, DOG)
    event = _extracted(world, first)
    second = _ready_to_extract(world, DOG, thread_id="later")
    source = world.message_ids(second)[0]
    world.script(extract=lambda _task: reply(extraction(event_reply(source))))
    assert world.run(second, JobKind.EXTRACT) == "succeeded"
    assert world.events(second) == []
    assert world.block(second.block_id).status == "ready"
    with world.database.read(world.tenant_id) as tx:
        known = events_by_id(tx, [event.event_id])[event.event_id]
    assert set(known.source_message_ids) == {*event.source_message_ids, source}
    assert world.job(second, JobKind.EXTRACT).result["repeated"] == 1


def test_a_correction_supersedes_the_offered_event_and_links_it(world: World) -> None:
    first = _ready_to_extract(world, DOG)
    event = _extracted(world, first)
    second = _ready_to_extract(
        world, ("My dog Rex is called Max now.", "Noted."), thread_id="later"
    )
    newer = _extracted(
        world,
        second,
        title="Ann's dog is called Max",
        summary="The dog Rex is called Max now.",
        temporal={"supersedesEventIds": [event.event_id], "participants": ["Ann"]},
    )
    with world.database.read(world.tenant_id) as tx:
        older = events_by_id(tx, [event.event_id])[event.event_id]
        links = {
            (one.event_id, one.kind, one.other_event_id) for one in links_of(tx, [older.event_id])
        }
    assert (older.status, older.superseded_by) == ("superseded", newer.event_id)
    assert links == {(newer.event_id, "supersedes", older.event_id)}


def test_a_conflict_is_linked_both_ways(world: World) -> None:
    event = _extracted(world, _ready_to_extract(world, DOG))
    second = _ready_to_extract(world, ("Ann has no dog.", "I see."), thread_id="later")
    newer = _extracted(
        world,
        second,
        title="Ann has no dog",
        summary="Ann has no dog.",
        temporal={"conflictsWithEventIds": [event.event_id], "participants": ["Ann"]},
    )
    with world.database.read(world.tenant_id) as tx:
        links = {(one.event_id, one.other_event_id) for one in links_of(tx, [event.event_id])}
    assert links == {(newer.event_id, event.event_id), (event.event_id, newer.event_id)}


def test_an_event_that_was_not_offered_is_never_superseded(world: World) -> None:
    event = _extracted(world, _ready_to_extract(world, DOG))
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(
            text("UPDATE events SET status = 'forgotten', status_before = 'active'")
        )
    second = _ready_to_extract(world, ("Rex is called Max now.", "Noted."), thread_id="later")
    _extracted(
        world,
        second,
        title="Rex is called Max",
        summary="Rex is called Max now.",
        temporal={"supersedesEventIds": [event.event_id]},
    )
    with world.database.read(world.tenant_id) as tx:
        assert events_by_id(tx, [event.event_id])[event.event_id].status == "forgotten"


def test_the_extractor_sees_neighbours_and_a_bounded_timeline_of_visible_events(
    world: World,
) -> None:
    first = _ready_to_extract(world, DOG)
    event = _extracted(world, first)
    second = _ready_to_extract(world, ("Rex barks a lot.", "Poor you."))
    _extracted(world, second, title="Rex barks a lot", summary="Rex barks a lot.")
    shown = [task.input for task in world.model.tasks if task.kind == "extract"][-1]
    assert isinstance(shown, ExtractInput)
    assert shown.previous is not None
    assert (shown.previous.block_id, shown.following) == (first.block_id, None)
    assert [item.event_id for item in shown.timeline] == [event.event_id]
    assert set(shown.allowed_source_message_ids) == set(world.message_ids(second))


def test_parts_of_a_long_block_share_legal_ids_and_their_events_are_merged(world: World) -> None:
    block = _ready_to_extract(world, (f"My dog is Rex. {'word ' * 2_400}", "Noted."))
    source = world.message_ids(block)[0]
    world.script(extract=lambda _task: reply(extraction(event_reply(source))))
    deps = world.with_settings(model_input_tokens=1_000)
    assert world.run(block, JobKind.EXTRACT, deps=deps) == "succeeded"
    inputs = [t.input for t in world.model.tasks if isinstance(t.input, ExtractInput)]
    assert len(inputs) > 2
    assert {one.allowed_source_message_ids for one in inputs} == {tuple(world.message_ids(block))}
    assert len(world.events(block)) == 1


@pytest.mark.parametrize("kind", [JobKind.SUMMARIZE, JobKind.EXTRACT])
def test_a_job_whose_block_is_gone_is_cancelled(world: World, kind: JobKind) -> None:
    block = _ready_to_extract(world, DOG)
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(
            text(
                "UPDATE jobs SET kind = :k, subject = 'blk_gone', state = 'available', "
                "scheduled_at = now(), finalized_at = NULL WHERE kind = 'extract'"
            ),
            {"k": kind.value},
        )
        job_id = tx.connection.execute(
            text("SELECT job_id FROM jobs WHERE subject = 'blk_gone'")
        ).scalar_one()
    from workers.runner import run_job  # noqa: PLC0415 - beside its one use

    assert run_job(world.tenant_id, job_id, world.deps) == "cancelled"
    assert block.block_id
