"""Text stored before a rule of redaction existed: masked on every way out, and reported."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.events import Quote
from shared.store.verify import verify_tenant
from tests.integration.curation.curating import Curating
from tests.integration.retrieval.world import World

SECRET = "ghp_" + "FICTIVE00000000000000000000000000000"


@pytest.fixture
def legacy(curating: Curating) -> str:
    """An event, a fact and a quote that no redaction has seen, in conflict with another event."""
    world = curating.world
    block = world.block("The deploy key is stored.")
    message = world.rows("messages")[-1]["message_id"]
    event = world.event(
        block,
        f"Deploy key is {SECRET}",
        f"Deploy key is {SECRET}",
        narrative=f"They said {SECRET}",
        quotes=(Quote(message, f"key {SECRET}"),),
    )
    curating.states("Deploy", "key", (SECRET, event))
    other = world.event(world.block("The deploy key is gone."), "Deploy key is gone")
    curating.contradict(event, other)
    return event


def _everything(curating: Curating, event: str) -> list[Any]:
    world = curating.world
    ask = {"query": "deploy key", "thread_id": "ask"}
    found = world.ask("events/search", ask)
    ref = f"event:{event}"
    judged = {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"}
    assessed = world.post(f"/v1/batches/{found['batch_id']}/assessment", judged).json()
    world.post(f"/v1/batches/{found['batch_id']}/use", {"evidence_refs": [ref], "receipt_id": "u"})
    node = world.see("graph")["nodes"][0]["node_id"]
    return [
        found,
        assessed,
        world.ask(f"events/{event}/expand", {}),
        world.ask("context", {"thread_id": "new", "query": "deploy key"}),
        world.see("events"),
        world.see("timeline"),
        world.see(f"events/{event}"),
        world.ask("graph/search", ask),
        world.ask(f"graph/nodes/{node}/expand", {}),
        world.see(f"graph/nodes/{node}/history"),
        world.see("graph"),
        world.see("usage-audit"),
        world.see("threads/ask/batches"),
        curating.conflicts(),
        curating.curate(event, pinned=True),
    ]


def test_sec_07_it_is_masked_on_every_way_out(curating: Curating, legacy: str) -> None:
    answers = _everything(curating, legacy)
    assert legacy in str(answers[0])
    assert [answer for answer in answers if SECRET in str(answer)] == []


def test_sec_07_it_is_reported_for_cleanup(world: World, legacy: str) -> None:
    with world.database.read(world.tenant.tenant_id) as tx:
        found = [one for one in verify_tenant(tx) if one.check == "text_is_redacted"]
    assert legacy in {one.subject for one in found}
    assert {one.subject[:3] for one in found} == {"evt", "fct"}
    assert SECRET not in str(found)
