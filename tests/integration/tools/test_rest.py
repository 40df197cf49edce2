from __future__ import annotations

from typing import Any

import pytest

from retrieval.tools.manifest import DATA_NOTICE, TOOLS
from retrieval.tools.running import _RUN
from shared.ids import Prefix, new_id
from tests.integration.retrieval.world import NS, World
from tests.integration.tools.agent import Tools

NAIVE = "2026-03-02T10:00:00"
SAID = "We decided to use pnpm in Orion."

GATE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_assess", {}),
    ("memory_record_use", {"evidence_refs": []}),
)


def told(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply without what differs from call to call."""
    differs = ("batch_id", "data_notice", "pending")
    same = {name: value for name, value in reply.items() if name not in differs}
    if "block" in same:
        same["block"] = {**same["block"], "lifted_at": None}
    return same


def key_with(world: World, *permissions: str, **more: Any) -> dict[str, str]:
    made = world.post("/v1/keys", {"label": "tools", "permissions": permissions, **more})
    assert made.status_code == 201, made.text
    return {"Authorization": f"Bearer {made.json()['key']}"}


def test_every_tool_of_the_manifest_can_be_run_and_none_beside() -> None:
    assert [tool.name for tool in TOOLS] == list(_RUN)


def test_the_manifest_is_told_over_rest(world: World) -> None:
    listed = world.get("/v1/tools").json()
    assert [item["name"] for item in listed["items"]] == [tool.name for tool in TOOLS]
    search = listed["items"][0]["parameters"]
    assert set(search["properties"]["occurred"]["anyOf"][0]["properties"]) == {"from", "to"}
    assert "$ref" not in str(listed)
    assert "thread_id" not in search["properties"]


def test_a_tool_answers_what_its_route_answers(world: World, tools: Tools) -> None:
    block = world.block(SAID)
    event = world.event(block, "Orion uses pnpm")
    same = [
        ("memory_search_events", {"query": "pnpm"}, "events/search", {"query": "pnpm"}),
        ("memory_expand_event", {"event_id": event}, f"events/{event}/expand", {}),
        ("memory_search_graph", {"query": "Orion"}, "graph/search", {"query": "Orion"}),
        ("memory_search_raw", {"query": "pnpm"}, "raw/search", {"query": "pnpm"}),
        (
            "memory_expand_block",
            {"block_id": block, "level": "L5"},
            f"blocks/{block}/expand",
            {"level": 5},
        ),
    ]
    for name, arguments, path, body in same:
        reply = tools.call(name, arguments)
        assert told(reply) == told(world.ask(path, body)), name
        assert reply["batch_id"].startswith("bat_")
    blocks = tools.call("memory_get_blocks", thread_id="main")
    assert told(blocks) == told(world.see("blocks", thread_id="main"))
    assert blocks["scope"] == "session"
    assert [item["block_id"] for item in blocks["items"]] == [block]


def test_what_is_recalled_is_marked_as_data_before_all_else(world: World, tools: Tools) -> None:
    block = world.block(SAID)
    event = world.event(block, "Orion uses pnpm")
    for name, arguments in (
        ("memory_search_events", {"query": "pnpm"}),
        ("memory_expand_event", {"event_id": event}),
        ("memory_search_raw", {"query": "pnpm"}),
        ("memory_get_blocks", {"scope": "namespace"}),
        ("memory_expand_block", {"block_id": block}),
    ):
        reply = tools.call(name, arguments)
        assert next(iter(reply)) == "data_notice", name
        assert reply["data_notice"] == DATA_NOTICE


def test_an_unknown_tool_is_404_with_those_there_are(world: World, tools: Tools) -> None:
    world.begin()
    status, problem = tools.refused("memory_forget_everything")
    assert (status, problem["code"]) == (404, "unknown_tool")
    assert all(tool.name in problem["detail"] for tool in TOOLS)


@pytest.mark.parametrize(
    ("name", "arguments", "pointer", "code"),
    [
        ("memory_search_events", {"qeury": "x"}, "/arguments/qeury", "unknown_field"),
        ("memory_search_events", {"qeury": None}, "/arguments/qeury", "unknown_field"),
        ("memory_search_events", {"limit": 1000}, "/arguments/limit", "invalid_value"),
        (
            "memory_search_events",
            {"occurred": {"since": "x"}},
            "/arguments/occurred/since",
            "unknown_field",
        ),
        (
            "memory_search_events",
            {"occurred": {"from": NAIVE}},
            "/arguments/occurred",
            "naive_time",
        ),
        ("memory_search_graph", {"query": "x", "at": NAIVE}, "/arguments/at", "naive_time"),
        ("memory_expand_event", {}, "/arguments/event_id", "missing_field"),
        ("memory_expand_event", {"event_id": "blk_1"}, "/arguments/event_id", "wrong_id_type"),
        ("memory_expand_block", {"block_id": "evt_1"}, "/arguments/block_id", "wrong_id_type"),
        ("memory_assess", {"batch_id": "evt_1"}, "/arguments/batch_id", "wrong_id_type"),
        ("memory_assess", {"veredict": "partial"}, "/arguments/veredict", "unknown_field"),
        ("memory_record_use", {}, "/arguments/evidence_refs", "missing_field"),
        (
            "memory_record_use",
            {"evidence_refs": [], "receipt_id": " "},
            "/arguments/receipt_id",
            "invalid_receipt",
        ),
    ],
)
def test_a_wrong_argument_is_422_naming_the_field(
    world: World, tools: Tools, name: str, arguments: dict[str, Any], pointer: str, code: str
) -> None:
    world.begin()
    status, problem = tools.refused(name, arguments)
    assert (status, problem["code"]) == (422, code)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert problem["detail"].startswith(pointer)


def test_the_envelope_is_checked_like_any_body(world: World, tools: Tools) -> None:
    world.begin()
    assert tools.refused("memory_get_blocks", tenant="ten_x")[0] == 422
    assert tools.refused("memory_get_blocks", namespace="no/slash")[1]["code"] == "invalid_name"
    assert tools.refused("memory_get_blocks", thread_id="no slash")[1]["code"] == "invalid_name"
    status, problem = tools.refused("memory_search_raw", {"thread_id": "one"}, thread_id="other")
    assert (status, problem["errors"][0]["pointer"]) == (422, "/arguments/thread_id")


def test_a_null_argument_counts_as_absent(world: World, tools: Tools) -> None:
    world.block(SAID)
    sparse = {
        "query": "pnpm",
        "event_types": None,
        "limit": None,
        "occurred": None,
        "statuses": None,
    }
    plain = tools.call("memory_search_events", {"query": "pnpm"})
    assert told(tools.call("memory_search_events", sparse)) == told(plain)


def test_permissions_are_those_of_the_routes(world: World, tools: Tools) -> None:
    world.block(SAID)
    reader, writer = key_with(world, "read"), key_with(world, "ingest")
    user = key_with(world, "use")
    tools.call("memory_search_raw", {"query": "pnpm"}, headers=reader)
    tools.call("memory_assess", {"verdict": "wrong"}, headers=reader)
    assert tools.refused("memory_record_use", {"evidence_refs": []}, headers=reader)[0] == 403
    assert tools.refused("memory_search_raw", {"query": "pnpm"}, headers=user)[0] == 403
    assert tools.refused("memory_search_raw", {"query": "pnpm"}, headers=writer)[0] == 403
    assert tools.refused("memory_search_raw", headers={"Authorization": "Bearer sg_no"})[0] == 401


def test_without_a_batch_id_the_latest_of_the_thread_is_meant(world: World, tools: Tools) -> None:
    world.block(SAID)
    mine = tools.call("memory_search_raw", {"query": "pnpm"}, thread_id="mine")
    other = tools.call("memory_search_raw", {"query": "pnpm"}, thread_id="other")
    assess = {"verdict": "partial"}
    assert tools.call("memory_assess", assess, thread_id="mine")["batch_id"] == mine["batch_id"]
    assert tools.call("memory_assess", assess, thread_id="other")["batch_id"] == other["batch_id"]
    assert tools.refused("memory_assess", assess, thread_id="silent")[0] == 404


def test_without_a_thread_the_latest_batch_of_the_key_is_meant(world: World, tools: Tools) -> None:
    world.block(SAID)
    one, two = key_with(world, "read"), key_with(world, "read")
    first = tools.call("memory_search_raw", {"query": "pnpm"}, headers=one)
    tools.call("memory_search_raw", {"query": "pnpm"}, headers=two)
    meant = tools.call("memory_assess", {"verdict": "wrong"}, headers=one)
    assert meant["batch_id"] == first["batch_id"]


def test_an_unknown_batch_names_those_of_the_thread_and_no_other(
    world: World, tools: Tools
) -> None:
    world.block(SAID)
    recorded = tools.call("memory_search_raw", {"query": "pnpm"}, thread_id="mine")["batch_id"]
    tools.call("memory_record_use", {"evidence_refs": []}, thread_id="mine")
    opened = tools.call("memory_search_raw", {"query": "pnpm"}, thread_id="mine")["batch_id"]
    others = tools.call("memory_search_raw", {"query": "pnpm"}, thread_id="other")["batch_id"]
    nobodys = new_id(Prefix.BATCH)

    for name, more in GATE:
        status, problem = tools.refused(name, {"batch_id": nobodys, **more}, thread_id="mine")
        assert (status, problem["code"]) == (404, "unknown_batch")
        assert problem["detail"] == (
            f"no such batch here; latest: {opened}; unresolved: {opened}; "
            f"available: {opened}, {recorded}"
        )
        assert others not in problem["detail"]


def test_a_batch_of_another_namespace_is_answered_like_nobodys(world: World, tools: Tools) -> None:
    world.block(SAID)
    away = "project:neighbour"
    assert world.http.put(f"/v1/namespaces/{away}", json={}, headers=world.headers).is_success
    batch = tools.call("memory_search_raw", {"query": "pnpm"}, namespace=away)["batch_id"]
    for name, more in GATE:
        theirs = tools.refused(name, {"batch_id": batch, **more}, thread_id="mine")
        assert theirs == tools.refused(
            name, {"batch_id": new_id(Prefix.BATCH), **more}, thread_id="mine"
        )
        assert theirs[0] == 404


@pytest.mark.parametrize("odd", [None, 3, True, 1.5, "x", [], ["raw:nobody"], {"a": [1]}])
def test_an_assessment_takes_any_json_in_its_five_fields(
    world: World, tools: Tools, odd: object
) -> None:
    world.block(SAID)
    tools.call("memory_search_raw", {"query": "pnpm"})
    fields = ("verdict", "evidence_refs", "fit", "missing", "next_strategy")
    reply = tools.call("memory_assess", dict.fromkeys(fields, odd))
    assert (reply["verdict"], reply["evidence_refs"]) == ("partial", [])


def test_a_use_without_a_receipt_is_safe_to_repeat(world: World, tools: Tools) -> None:
    block = world.block(SAID)
    event = world.event(block, "Orion uses pnpm")
    ref = f"event:{event}"
    found = tools.call("memory_search_events", {"query": "pnpm"})
    tools.call(
        "memory_assess",
        {"verdict": "sufficient", "evidence_refs": [ref], "next_strategy": "answer"},
    )
    first = tools.call("memory_record_use", {"evidence_refs": [ref]})
    again = tools.call("memory_record_use", {"evidence_refs": [ref]})
    assert first["receipt_id"] == found["batch_id"]
    assert again == first | {"duplicate": True}
    status, problem = tools.refused("memory_record_use", {"evidence_refs": []})
    assert (status, problem["code"]) == (409, "receipt_conflict")
    assert world.see(f"events/{event}")["mention_count"] == 2


def test_a_use_takes_its_receipt_from_the_header_as_the_route_does(
    world: World, tools: Tools
) -> None:
    world.block(SAID)
    tools.call("memory_search_raw", {"query": "pnpm"})
    headers = {**world.headers, "Idempotency-Key": "from-the-header"}
    used = tools.call("memory_record_use", {"evidence_refs": []}, headers=headers)
    assert used["receipt_id"] == "from-the-header"


def test_a_ref_that_cannot_be_used_is_named_with_those_that_can(world: World, tools: Tools) -> None:
    block = world.block(SAID)
    one, two = (world.event(block, title) for title in ("Orion uses pnpm", "pnpm was chosen"))
    batch = tools.call("memory_search_events", {"query": "pnpm"})["batch_id"]
    status, problem = tools.refused("memory_record_use", {"evidence_refs": [f"event:{two}"]})
    assert (status, problem["code"]) == (409, "not_assessed")
    assert f"batch {batch} is open, its verdict none; adopted: none" in problem["detail"]
    tools.call(
        "memory_assess",
        {"verdict": "sufficient", "evidence_refs": [f"event:{one}"], "next_strategy": "answer"},
    )
    refs = [f"event:{one}", f"event:{two}", "raw:x"]
    status, problem = tools.refused("memory_record_use", {"evidence_refs": refs})
    assert (status, problem["code"]) == (409, "not_adopted")
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [
        ("/arguments/evidence_refs/1", "not_adopted"),
        ("/arguments/evidence_refs/2", "not_in_batch"),
    ]
    assert f"is assessed, its verdict sufficient; adopted: event:{one}; " in problem["detail"]
    assert f"event:{two}" in problem["detail"].partition("available: ")[2]
    assert world.see(f"events/{one}")["mention_count"] == 1


def test_a_404_of_a_tool_is_audited_with_what_was_asked_for(world: World, tools: Tools) -> None:
    world.begin()
    nobodys = new_id(Prefix.EVENT)
    tools.refused("memory_expand_event", {"event_id": nobodys})
    entry = world.get("/v1/audit-log", action="not_found").json()["items"][0]
    assert entry["detail"]["route"] == "/v1/tools/{tool_name}"
    assert entry["detail"]["asked"] == {
        "tool_name": "memory_expand_event",
        "ns": NS,
        "event_id": nobodys,
    }
