"""Agents of both kinds walk the gate with the SDK's own client: over the network and on a desk."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from deploy.local.services import stratagate
from retrieval.tools.manifest import DATA_NOTICE, GUIDE, TOOLS
from tests.acceptance.memory import Memory
from tests.support.stack import ROOT, RunningSystem

Json = dict[str, Any]
Script = Callable[[Client], Awaitable[Any]]
THREAD = "desk"
QUESTION = "Which package manager does Orion use?"


def over_http(memory: Memory, script: Script, *, key: str | None = None, query: str = "") -> Any:
    """Run a script against /mcp of the running system."""

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {key or memory.tenant.admin_key}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(
                streamable_http_client(f"{memory.system.url}/mcp{query}", http_client=http_client)
            ) as agent,
        ):
            return await script(agent)

    return anyio.run(run)


def over_stdio(memory: Memory, script: Script, *words: str, key: str | None = None) -> Any:
    """Run a script against a process of `stratagate mcp`."""
    command, *arguments = stratagate("mcp", *words)
    environment = memory.system.environment
    process = StdioServerParameters(
        command=command,
        args=arguments,
        cwd=ROOT,
        env={
            **{name: value for name, value in environment.items() if name.startswith("STRATA")},
            "STRATAGATE_API_KEY": key or memory.tenant.admin_key,
        },
    )

    async def run() -> Any:
        async with Client(process) as agent:
            return await script(agent)

    return anyio.run(run)


def told(result: CallToolResult) -> Json:
    assert not result.is_error, result.content
    content: Json = result.structured_content or {}
    assert content
    return content


def refused(result: CallToolResult) -> tuple[int, str]:
    assert result.is_error, result.content
    problem: Json = result.structured_content or {}
    assert problem["remedy"]
    return problem["status"], problem["code"]


def remember(memory: Memory) -> None:
    """Tell a decision and wait until workers have made an event of it."""
    memory.begin(block_turn_size=2)
    memory.turn("one", "We decided to use pnpm in Orion.", thread_id="meeting")
    memory.turn("two", "Mara works at the Harbour Institute.", thread_id="meeting")
    memory.settled_jobs()


def walk(**always: str) -> Script:
    """The walk of an agent: search, judge, look closer, judge, record."""

    async def script(agent: Client) -> Json:
        async def call(name: str, **arguments: Any) -> Json:
            return told(await agent.call_tool(name, {**always, **arguments}))

        listed = await agent.list_tools()
        found = await call("memory_search_events", query=QUESTION)
        event = found["items"][0]
        weak = await call(
            "memory_assess",
            verdict="partial",
            evidence_refs=[event["evidence_ref"]],
            missing="the words of the decision",
            next_strategy="expand_event",
            question=QUESTION,
        )
        whole = await call("memory_expand_event", event_id=event["event_id"])
        strong = await call(
            "memory_assess",
            verdict="sufficient",
            evidence_refs=[whole["evidence_ref"]],
            fit="the message itself says so",
            next_strategy="answer",
            question=QUESTION,
        )
        used = await call("memory_record_use", evidence_refs=strong["evidence_refs"])
        return {
            "instructions": agent.instructions,
            "tools": [tool.name for tool in listed.tools],
            "found": found,
            "weak": weak,
            "whole": whole,
            "strong": strong,
            "used": used,
        }

    return script


def check_walk(memory: Memory, seen: Json) -> None:
    assert seen["instructions"] == GUIDE
    assert seen["tools"] == [tool.name for tool in TOOLS]
    assert seen["found"]["data_notice"] == seen["whole"]["data_notice"] == DATA_NOTICE
    assert seen["weak"]["verdict"] == "partial"
    assert "pnpm" in seen["whole"]["event"]["source_messages"][0]["content"]
    assert seen["strong"]["verdict"] == "sufficient"
    event_id = seen["whole"]["event"]["event_id"]
    assert [one["event_id"] for one in seen["used"]["events"]] == [event_id]
    assert memory.get(f"{memory.read}/events/{event_id}")["mention_count"] == 2
    transcript = memory.get(f"{memory.read}/threads/{THREAD}/batches")
    assert [batch["tool"] for batch in transcript["items"]] == [
        "memory_search_events",
        "memory_expand_event",
    ]
    assert transcript["is_sufficient"] is True


def test_an_agent_walks_the_gate_over_streamable_http(memory: Memory) -> None:
    remember(memory)
    seen = over_http(memory, walk(namespace=memory.namespace, thread_id=THREAD))
    check_walk(memory, seen)


def test_an_agent_walks_the_gate_over_stdio_in_the_hosts_namespace(memory: Memory) -> None:
    remember(memory)
    seen = over_stdio(memory, walk(), "--namespace", memory.namespace, "--thread", THREAD)
    check_walk(memory, seen)


def test_over_stdio_failures_are_told_as_over_http(memory: Memory) -> None:
    remember(memory)
    other = Memory(memory.system, memory.system.new_tenant("other"), "project:theirs")
    other.begin()
    theirs = other.search_raw("anything")["batch_id"]

    async def script(agent: Client) -> Any:
        here = {"namespace": memory.namespace}
        return [
            refused(await agent.call_tool(name, arguments))
            for name, arguments in [
                ("memory_search_raw", {"query": "x"}),
                ("memory_search_raw", {"namespace": "project:theirs", "query": "x"}),
                ("memory_search_raw", {**here, "qeury": "x"}),
                ("memory_assess", {**here, "batch_id": theirs}),
                ("memory_no_such", here),
                ("../keys", here),
            ]
        ]

    expected = [
        (422, "missing_field"),
        (404, "not_found"),
        (422, "unknown_field"),
        (404, "unknown_batch"),
        (404, "unknown_tool"),
        (404, "unknown_tool"),
    ]
    assert over_stdio(memory, script) == expected
    assert over_http(memory, script) == expected


def test_over_stdio_a_wrong_key_and_an_api_that_is_away_are_told_to_the_agent(
    memory: Memory,
) -> None:
    async def script(agent: Client) -> Any:
        assert len((await agent.list_tools()).tools) == len(TOOLS)
        return refused(await agent.call_tool("memory_get_blocks", {}))

    named = ("--namespace", memory.namespace)
    assert over_stdio(memory, script, *named, key="sg_nobodys") == (401, "unauthorized")
    away = ("--api-url", "http://127.0.0.1:9")
    assert over_stdio(memory, script, *named, *away) == (503, "unavailable")


def test_standard_output_carries_the_protocol_and_nothing_else(memory: Memory) -> None:
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_no_such", "arguments": {"namespace": "n"}},
        },
    ]
    environment = memory.system.environment | {
        "STRATAGATE_API_KEY": memory.tenant.admin_key,
        "STRATAGATE_LOG_LEVEL": "DEBUG",
    }
    process = subprocess.Popen(  # noqa: S603 - our own command
        stratagate("mcp"),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for message in asked:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    rest, _ = process.communicate(timeout=30)
    assert [line["id"] for line in lines] == [1, 2]
    assert rest == ""
    assert process.returncode == 0, "it ends when its input does"


def test_without_a_key_the_command_says_what_is_missing(system: RunningSystem) -> None:
    ended = system.command("mcp")
    assert ended.returncode == 1
    assert "no_api_key" in ended.stderr
    assert ended.stdout == ""
