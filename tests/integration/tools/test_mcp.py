from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

import retrieval.app
from retrieval.tools import running
from retrieval.tools.manifest import DATA_NOTICE, GUIDE, TOOLS
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.database import Database
from shared.store.tenants import set_limits
from tests.integration.retrieval.world import NS, World
from tests.integration.tools.agent import Tools, content_of, over_mcp, problem_of
from tests.support.databases import Tenant

NAMES = [tool.name for tool in TOOLS]
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


@MODES
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
        assert (
            tool.parameters["properties"].items() <= listed_tool.input_schema["properties"].items()
        )


@MODES
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


def test_the_text_of_a_result_is_the_result_as_json(served: str, world: World) -> None:
    world.say("We decided to use pnpm in Orion.")

    async def script(agent: Client) -> Any:
        return await agent.call_tool("memory_search_raw", {"namespace": NS, "query": "pnpm"})

    result = over_mcp(served, world.tenant.admin_key, script)
    [part] = result.content
    assert isinstance(part, TextContent)
    assert json.loads(part.text) == content_of(result)


def test_each_key_sees_its_own_tenant_however_calls_cross(
    served: str, world: World, other_tenant: Tenant
) -> None:
    others = World(world.http, world.database, other_tenant)
    world.say("The telescope is in the attic.")
    others.say("The telescope is in the cellar.")

    async def search(key: str, seen: list[str]) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http_client,
            Client(streamable_http_client(f"{served}/mcp", http_client=http_client)) as agent,
        ):
            for _ in range(8):
                given = {"namespace": NS, "query": "telescope"}
                found = content_of(await agent.call_tool("memory_search_raw", given))
                seen.append(found["items"][0]["message"]["content"])

    async def cross() -> tuple[list[str], list[str]]:
        mine: list[str] = []
        theirs: list[str] = []
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(search, world.tenant.admin_key, mine)
                group.start_soon(search, other_tenant.admin_key, theirs)
        return mine, theirs

    mine, theirs = anyio.run(cross)
    assert set(mine) == {"The telescope is in the attic."}
    assert set(theirs) == {"The telescope is in the cellar."}
    assert len(mine) == len(theirs) == 16


def test_what_is_foreign_answers_as_if_it_never_existed_and_is_audited(
    served: str, world: World, other_tenant: Tenant, tools: Tools
) -> None:
    block = world.block("We decided to use pnpm in Orion.")
    event = world.event(block, "Orion uses pnpm")
    batch = tools.call("memory_search_raw", {"query": "pnpm"})["batch_id"]
    others = World(world.http, world.database, other_tenant)
    others.say("Nothing of note.")
    asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("memory_expand_event", {"event_id": event}, {"event_id": new_id(Prefix.EVENT)}),
        ("memory_expand_block", {"block_id": block}, {"block_id": new_id(Prefix.BLOCK)}),
        ("memory_assess", {"batch_id": batch}, {"batch_id": new_id(Prefix.BATCH)}),
        (
            "memory_record_use",
            {"batch_id": batch, "evidence_refs": []},
            {"batch_id": new_id(Prefix.BATCH), "evidence_refs": []},
        ),
        ("memory_search_raw", {"namespace": "project:theirs"}, {"namespace": "project:nobodys"}),
    ]
    assert world.http.put(
        "/v1/namespaces/project:theirs", json={}, headers=world.headers
    ).is_success

    async def script(agent: Client) -> Any:
        return [
            [
                problem_of(await agent.call_tool(name, {"namespace": NS, **arguments}))
                for arguments in (theirs, nobodys)
            ]
            for name, theirs, nobodys in asked
        ]

    for theirs, nobodys in over_mcp(served, other_tenant.admin_key, script):
        for problem in (theirs, nobodys):
            problem.pop("request_id")
        assert theirs == nobodys
        assert theirs["status"] == 404
        assert theirs["remedy"]
    entries = others.get("/v1/audit-log", action="not_found").json()["items"]
    asked_for = [entry["detail"]["asked"] for entry in entries]
    assert {"tool_name": "memory_expand_event", "ns": NS, "event_id": event} in asked_for


@pytest.mark.parametrize("authorization", [None, "Bearer sg_nobodys", "Basic x", "Bearer"])
def test_without_a_valid_key_there_is_a_401_problem(served: str, authorization: str | None) -> None:
    headers = HEADERS | ({} if authorization is None else {"Authorization": authorization})
    answer = httpx.post(f"{served}/mcp", json=PING, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unauthorized"


def test_a_revoked_key_is_refused_at_its_next_call(served: str, world: World) -> None:
    made = world.post("/v1/keys", {"label": "short", "permissions": ["read"]}).json()
    headers = HEADERS | {"Authorization": f"Bearer {made['key']}"}
    assert httpx.post(f"{served}/mcp", json=PING, headers=headers).status_code == 200
    world.http.delete(f"/v1/keys/{made['key_id']}", headers=world.headers).raise_for_status()
    assert httpx.post(f"{served}/mcp", json=PING, headers=headers).status_code == 401


def test_calls_count_against_the_tenants_rate(
    served: str, world: World, settings: Settings
) -> None:
    set_limits(settings, world.tenant.tenant_id, {"requests_per_s": 2}, to_default=[])
    headers = HEADERS | world.headers
    answers = [httpx.post(f"{served}/mcp", json=PING, headers=headers) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json()["code"] == "rate_limited"
    assert int(refused[0].headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"Host": "evil.example"}, 403, "host_not_allowed"),
        ({"Origin": "https://evil.example"}, 403, "host_not_allowed"),
        ({"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ],
)
def test_a_foreign_host_or_origin_is_refused(
    served: str, world: World, more: dict[str, str], status: int, code: str
) -> None:
    headers = HEADERS | world.headers | more
    answer = httpx.post(f"{served}/mcp", content=json.dumps(PING), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_nothing_can_be_held_open(served: str, world: World, method: str) -> None:
    headers = HEADERS | world.headers
    answer = httpx.request(method, f"{served}/mcp", headers=headers, timeout=5)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("[" * 100 + "]" * 100, 422, "json_too_deep"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "\\u0000"}', 422, "unstorable_character"),
        ('"' + "x" * 5_000_000 + '"', 413, "body_too_large"),
        ("{", 422, "malformed_json"),
    ],
)
def test_a_hostile_body_is_refused_before_it_is_read(
    served: str, world: World, body: str, status: int, code: str
) -> None:
    headers = HEADERS | world.headers
    answer = httpx.post(f"{served}/mcp", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_connection_can_fix_its_namespace_and_thread(served: str, world: World) -> None:
    world.block("We decided to use pnpm in Orion.", thread_id="one")

    async def script(agent: Client) -> Any:
        listed = await agent.list_tools()
        blocks = content_of(await agent.call_tool("memory_get_blocks", {}))
        same = await agent.call_tool("memory_get_blocks", {"namespace": NS, "thread_id": "one"})
        other = await agent.call_tool("memory_get_blocks", {"namespace": "project:other"})
        thread = await agent.call_tool("memory_get_blocks", {"thread_id": "two"})
        return listed.tools, blocks, content_of(same), problem_of(other), problem_of(thread)

    listed, blocks, same, other, thread = over_mcp(
        served, world.tenant.admin_key, script, query=f"?namespace={NS}&thread_id=one"
    )
    for tool in listed:
        assert not {"namespace", "thread_id"} & tool.input_schema["properties"].keys()
    assert (blocks["namespace"], blocks["thread_id"], blocks["block_count"]) == (NS, "one", 1)
    assert same["items"] == blocks["items"]
    assert (other["code"], other["errors"][0]["pointer"]) == ("fixed_by_connection", "/namespace")
    assert thread["code"] == "fixed_by_connection"


@pytest.mark.parametrize(
    "query", ["?namespce=project:x", "?namespace=a/b", "?namespace=", "?namespace=a&namespace=b"]
)
def test_a_slip_in_the_address_is_told_instead_of_fixing_nothing(
    served: str, world: World, query: str
) -> None:
    answer = httpx.post(f"{served}/mcp{query}", json=PING, headers=HEADERS | world.headers)
    assert answer.status_code == 422


def test_a_failed_call_is_a_tool_error_with_code_and_remedy(served: str, world: World) -> None:
    world.begin()
    made = world.post("/v1/keys", {"label": "reader", "permissions": ["read"]}).json()

    async def script(agent: Client) -> Any:
        async def failed(name: str, **arguments: Any) -> dict[str, Any]:
            return problem_of(await agent.call_tool(name, arguments))

        return [
            await failed("memory_search_raw", query="x"),
            await failed("memory_search_raw", namespace=NS, qeury="x"),
            await failed("memory_search_raw", namespace=3, query="x"),
            await failed("memory_no_such", namespace=NS),
            await failed("memory_assess", namespace=NS),
            await failed("memory_record_use", namespace=NS, evidence_refs=[]),
        ]

    problems = over_mcp(served, made["key"], script)
    assert [(one["status"], one["code"]) for one in problems] == [
        (422, "missing_field"),
        (422, "unknown_field"),
        (422, "invalid_value"),
        (404, "unknown_tool"),
        (404, "not_found"),
        (403, "forbidden"),
    ]
    pointers = [one["errors"][0]["pointer"] for one in problems[:3]]
    assert pointers == ["/namespace", "/qeury", "/namespace"]
    for problem in problems:
        assert problem["remedy"]
        assert problem["request_id"].startswith("req_")


def test_what_is_asked_is_in_no_log_at_any_level(
    served: str, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.say("The telescope is in the attic.")

    async def script(agent: Client) -> Any:
        return await agent.call_tool("memory_search_raw", {"namespace": NS, "query": "telescope"})

    with caplog.at_level("DEBUG"):
        content_of(over_mcp(served, world.tenant.admin_key, script))
    ours = [line for line in caplog.records if not line.name.startswith("mcp.client")]
    assert any(line.name == "stratagate.http" for line in ours)
    assert [line.name for line in ours if "telescope" in line.getMessage()] == []


def test_a_failure_of_ours_shows_no_trace(
    served: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("SELECT secret FROM keys")

    monkeypatch.setitem(running._RUN, "memory_search_raw", broken)
    world.begin()

    async def script(agent: Client) -> Any:
        return await agent.call_tool("memory_search_raw", {"namespace": NS, "query": "x"})

    result = over_mcp(served, world.tenant.admin_key, script)
    problem = problem_of(result)
    assert (problem["status"], problem["code"]) == (500, "internal_error")
    assert "secret" not in str(result)


@pytest.fixture
def small(settings: Settings) -> Iterator[TestClient]:
    """The read side with the smallest limit on results."""
    limited = settings.model_copy(update={"tool_result_limit_bytes": 4_096})
    app = retrieval.app.create_app(limited)
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def test_a_result_over_its_limit_is_refused_and_leaves_no_batch(
    small: TestClient, world: World, database: Database
) -> None:
    world.say("The telescope " + "is in the attic. " * 400)
    body = {"namespace": NS, "arguments": {"query": "telescope"}}
    arguments = {"namespace": NS, "query": "telescope"}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = rpc | {"params": {"name": "memory_search_raw", "arguments": arguments}}
    for _ in range(6):
        world.say("The telescope " + "is in the attic. " * 100)
    headers = HEADERS | world.headers

    over_rest = small.post("/v1/tools/memory_search_raw", json=body, headers=headers)
    over_mcp_ = small.post("/mcp", json=call, headers=headers).json()["result"]

    assert (over_rest.status_code, over_rest.json()["code"]) == (422, "result_too_large")
    assert over_mcp_["isError"] is True
    assert over_mcp_["structuredContent"]["code"] == "result_too_large"
    assert world.rows("batches") == []
    served_by: FastAPI = small.app  # type: ignore[assignment] # what it was built of
    assert served_by.state.database.engine.pool.checkedout() == 0, "no connection is kept"


def test_before_it_is_served_mcp_is_unavailable_and_it_can_start_twice(settings: Settings) -> None:
    app = retrieval.app.create_app(settings)
    idle = TestClient(app, base_url="http://localhost").post("/mcp", json=PING, headers=HEADERS)
    assert (idle.status_code, idle.json()["code"]) == (503, "unavailable")
    for _ in range(2):
        with TestClient(app, base_url="http://localhost") as client:
            assert client.post("/mcp", json=PING, headers=HEADERS).status_code == 401
