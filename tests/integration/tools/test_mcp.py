from __future__ import annotations

from typing import Any

import pytest
from mcp import Client

from retrieval.tools.manifest import DATA_NOTICE, GUIDE, TOOLS
from tests.integration.retrieval.world import NS, World
from tests.integration.tools.agent import content_of, over_mcp

NAMES = [tool.name for tool in TOOLS]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_lists_the_tools_of_the_manifest(
    served: str, world: World, mode: str
) -> None:
    async def script(agent: Client) -> Any:
        return await agent.list_tools(), agent.instructions

    listed, instructions = over_mcp(served, world.tenant.admin_key, script, mode=mode)
    assert [tool.name for tool in listed.tools] == NAMES
    assert instructions == GUIDE
    for listed_tool, tool in zip(listed.tools, TOOLS, strict=True):
        assert listed_tool.description == tool.description
        assert "namespace" in listed_tool.input_schema["required"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_gate_is_walked_over_streamable_http(served: str, world: World, mode: str) -> None:
    block = world.block("We decided to use pnpm in Orion.")
    event = world.event(block, "Orion uses pnpm", "The team decided to use pnpm in Orion.")

    async def script(agent: Client) -> Any:
        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            given = {"namespace": NS, "thread_id": "asks", **arguments}
            return content_of(await agent.call_tool(name, given))

        found = await call("memory_search_events", query="pnpm in Orion")
        weak = await call("memory_assess", verdict="partial", missing="the decision's words")
        whole = await call("memory_expand_event", event_id=event)
        strong = await call(
            "memory_assess",
            verdict="sufficient",
            evidence_refs=[whole["evidence_ref"]],
            fit="it says so",
            next_strategy="answer",
        )
        used = await call("memory_record_use", evidence_refs=[whole["evidence_ref"]])
        return found, weak, whole, strong, used

    found, weak, whole, strong, used = over_mcp(served, world.tenant.admin_key, script, mode=mode)
    assert found["data_notice"] == DATA_NOTICE
    assert found["items"][0]["event_id"] == event
    assert (weak["batch_id"], weak["verdict"]) == (found["batch_id"], "partial")
    assert whole["event"]["source_messages"][0]["content"] == "We decided to use pnpm in Orion."
    assert (strong["batch_id"], strong["verdict"]) == (whole["batch_id"], "sufficient")
    assert [one["event_id"] for one in used["events"]] == [event]
    assert used["batch_id"] == whole["batch_id"]
