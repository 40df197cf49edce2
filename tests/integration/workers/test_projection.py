from __future__ import annotations

from typing import Any

from sqlalchemy import text

from shared.domain.graph import GraphState
from shared.domain.jobs import JobKind
from shared.store.blocks import BlockRow
from shared.store.graph import live_version, load_state, recent_nodes
from tests.integration.workers.conftest import NAMESPACE, World, event_reply, extraction, reply
from workers.models.inputs import ProjectInput


def _with_event(
    world: World, words: str, *, thread_id: str = "main", **changes: Any
) -> tuple[BlockRow, str]:
    block = world.say((words, "I see."), thread_id=thread_id)
    source = world.message_ids(block)[0]
    made = event_reply(source, title=words, summary=words, **changes)
    world.script(extract=lambda _task: reply(extraction(made)))
    world.run(block, JobKind.SUMMARIZE)
    assert world.run(block, JobKind.EXTRACT) == "succeeded"
    return block, world.events(block)[0].event_id


def _node(name: str, event_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "ref": name,
        "name": name,
        "type": "person",
        "metadataProvenance": {"name": [event_id]},
        "sourceEventIds": [event_id],
        "facts": [],
        **changes,
    }


def _graph(world: World) -> GraphState:
    with world.database.read(world.tenant_id) as tx:
        version = live_version(tx, NAMESPACE)
        return load_state(tx, recent_nodes(tx, version, limit=50)) if version else GraphState()


def test_sound_items_are_stored_and_each_rejection_is_listed(world: World) -> None:
    block, event_id = _with_event(world, "Ann lives in Oslo")
    nodes = [_node("Ann", event_id), _node("Ghost", "evt_foreign")]
    edge = {
        "fromRef": "Ann",
        "toRef": "Ghost",
        "relation": "knows",
        "sourceEventIds": [event_id],
    }
    world.script(project=lambda _task: reply({"reason": "", "nodes": nodes, "edges": [edge]}))
    assert world.run(block, JobKind.PROJECT) == "degraded"
    assert [node.name for node in _graph(world).nodes] == ["Ann"]
    codes = {one["code"] for one in world.job(block, JobKind.PROJECT).rejections}
    assert codes == {"missing_name_provenance", "missing_end"}


def test_a_reply_of_which_nothing_is_left_fails_the_attempt_and_at_last_the_job(
    world: World,
) -> None:
    block, _ = _with_event(world, "Ann lives in Oslo")
    ghost = _node("Ghost", "evt_foreign")
    world.script(project=lambda _task: reply({"reason": "", "nodes": [ghost], "edges": []}))
    assert world.run_until_final(block, JobKind.PROJECT) == ["JobRetried", "JobRetried", "JobDied"]
    assert _graph(world).nodes == ()
    assert world.block(block.block_id).status == "ready"


def test_an_empty_proposal_is_a_valid_empty_end(world: World) -> None:
    block, _ = _with_event(world, "Ann lives in Oslo")
    world.script(project=lambda _task: reply({"reason": "nothing", "nodes": [], "edges": []}))
    assert world.run(block, JobKind.PROJECT) == "succeeded_empty"


def test_a_later_state_closes_the_earlier_one_whatever_the_order_of_arrival(
    world: World,
) -> None:
    facts = {"Oslo": "2026-01-01T10:00:00+01:00", "Rome": "2026-02-01T10:00:00+01:00"}
    blocks = {}
    for place in ("Rome", "Oslo"):
        block, event_id = _with_event(world, f"Ann lives in {place}", thread_id=place)
        with world.database.write(world.tenant_id) as tx:
            tx.connection.execute(
                text("UPDATE events SET updated_at = now() WHERE event_id = :e"), {"e": event_id}
            )
        fact = {"key": "home", "value": place, "mode": "state", "sourceEventIds": [event_id]}
        blocks[place] = (block, _node("Ann", event_id, facts=[fact]))
    for place, (block, node) in blocks.items():
        world.script(
            project=lambda _t, node=node: reply({"reason": "", "nodes": [node], "edges": []})  # type: ignore[misc] # bound now
        )
        assert world.run(block, JobKind.PROJECT) == "succeeded", place
    state = _graph(world)
    assert len(state.nodes) == 1
    assert {fact.value for fact in state.facts} == set(facts)
    assert len([fact for fact in state.facts if fact.status == "active"]) == 1


def test_known_nodes_that_the_events_name_are_shown_to_the_projector(world: World) -> None:
    first, event_id = _with_event(world, "Ann lives in Oslo")
    fact = {"key": "home", "value": "Oslo", "mode": "state", "sourceEventIds": [event_id]}
    node = _node("Ann", event_id, facts=[fact])
    world.script(project=lambda _task: reply({"reason": "", "nodes": [node], "edges": []}))
    world.run(first, JobKind.PROJECT)
    second, _ = _with_event(world, "Ann likes tea", thread_id="later")
    world.script(project=lambda _task: reply({"reason": "", "nodes": [], "edges": []}))
    world.run(second, JobKind.PROJECT)
    shown = world.model.tasks[-1].input
    assert isinstance(shown, ProjectInput)
    assert [(one.name, [f.value for f in one.facts]) for one in shown.nodes] == [("Ann", ["Oslo"])]


def test_events_forgotten_while_the_model_thought_are_not_projected(world: World) -> None:
    block, event_id = _with_event(world, "Ann lives in Oslo")

    def forgotten_meanwhile(_task: object) -> Any:
        with world.database.write(world.tenant_id) as tx:
            tx.connection.execute(
                text("UPDATE events SET status = 'forgotten', status_before = 'active'")
            )
        return reply({"reason": "", "nodes": [_node("Ann", event_id)], "edges": []})

    world.script(project=forgotten_meanwhile)
    assert world.run(block, JobKind.PROJECT) == "cancelled"
    assert _graph(world).nodes == ()


def test_projecting_the_same_events_twice_changes_nothing(world: World) -> None:
    block, event_id = _with_event(world, "Ann lives in Oslo")
    fact = {"key": "home", "value": "Oslo", "mode": "state", "sourceEventIds": [event_id]}
    node = _node("Ann", event_id, facts=[fact])
    world.script(project=lambda _task: reply({"reason": "", "nodes": [node], "edges": []}))
    world.run(block, JobKind.PROJECT)
    before = _graph(world)
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(
            text(
                "UPDATE jobs SET state = 'available', attempt = 0, finalized_at = NULL, "
                "scheduled_at = now() WHERE kind = 'project'"
            )
        )
    assert world.run(block, JobKind.PROJECT) == "succeeded"
    assert _graph(world) == before
