from __future__ import annotations

from typing import Any

import httpx
import pytest

from shared.auth import issue_key
from shared.domain.host_events import project_namespace
from shared.domain.tenancy import Permission
from shared.store.database import Database
from shared.store.messages import turns_range
from tests.support.databases import Tenant

NAMESPACE = "project:hosted"
HOME = f"/v1/namespaces/{NAMESPACE}"
ENDED = "2026-05-05T10:02:00+02:00"


def stream(*said: str, session: str = "s1", **more: Any) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    for text in said:
        events += [
            {"type": "turn/start"},
            {"type": "user/message", "source": {"kind": "user"}, "content": text},
            {"type": "assistant/message", "content": "Noted."},
            {"type": "turn/end", "kind": "completed", "occurred_at": ENDED},
        ]
    return {"session": session, "events": events, **more}


def test_a_stream_is_stored_turn_by_turn_and_sent_again_it_adds_nothing(
    api: httpx.Client,
) -> None:
    first = api.post(f"{HOME}/host-events", json=stream("One.", "Two."))
    assert first.status_code == 200
    answer = first.json()
    assert (answer["namespace"], answer["thread_id"]) == (NAMESPACE, "s1")
    assert [item["receipt_id"] for item in answer["items"]] == ["host:s1:turn:1", "host:s1:turn:2"]
    assert [item["result"]["sequence"] for item in answer["items"]] == [1, 2]
    grown = api.post(f"{HOME}/host-events", json=stream("One.", "Two.", "Three.")).json()
    assert (grown["stored"], grown["duplicates"]) == (1, 2)
    assert grown["items"][0]["result"]["turn_id"] == answer["items"][0]["result"]["turn_id"]
    assert api.get(HOME).json()["turn_count"] == 3


def test_what_is_stored_is_what_people_and_models_said(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    events = [
        {"type": "turn/start", "model": "some-model"},
        {"type": "user/message", "source": "user", "content": "See this."},
        {"type": "user/message", "source": "user", "content": [{"type": "image", "data": "…"}]},
        {"type": "user/message", "source": {"kind": "hook"}, "content": "Mind the style."},
        {
            "type": "assistant/message",
            "content": [
                {"type": "reasoning", "text": "Hm."},
                {"type": "text", "text": "I run it."},
                {"type": "tool_use", "id": "c1", "name": "bash"},
            ],
        },
        {"type": "tool/call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
        {"type": "tool/result", "call_id": "c1", "content": [{"type": "text", "text": "a.txt"}]},
        {"type": "tool/call", "call_id": "m1", "name": "memory_search_events", "arguments": {}},
        {"type": "tool/result", "call_id": "m1", "content": "remembered"},
        {"type": "tool/call", "call_id": "c2", "name": "bash", "arguments": "ls \\u0000 {"},
        {"type": "tool/result", "call_id": "c2", "content": "not found", "is_error": True},
        {"type": "turn/end", "occurred_at": 1_777_968_120_000},
    ]
    answer = api.post(f"{HOME}/host-events", json={"session": "s2", "events": events}).json()
    assert [item["status"] for item in answer["items"]] == [201]
    assert [unused["reason"] for unused in answer["unused_events"]] == [
        "injected",
        "memory_tool",
        "memory_tool",
    ]
    with database.read(tenant.tenant_id) as tx:
        stored = [m.message for m in turns_range(tx, NAMESPACE, "s2", first=1, last=None)]
    assert [(m.role.value, m.content) for m in stored] == [
        ("user", "See this.\n\n[image]"),
        ("assistant", "I run it."),
    ]
    assert list(stored[1].tool_calls) == [
        {"name": "bash", "arguments": {"command": "ls"}, "result": "a.txt"},
        {
            "name": "bash",
            "arguments": {"raw": "ls \\u0000 {"},
            "result": {"error": "not found"},
        },
    ]
    assert stored[0].occurred_at is not None
    assert stored[0].occurred_at.isoformat() == "2026-05-05T08:02:00+00:00"


def test_json_that_cannot_be_stored_stays_the_text_it_was(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    body = stream("Run.", session="s3")
    hostile = ['{"a": "\\u0000"}', '{"a": 1e999}', "[" * 200, '{"a": 99999999999999999999}']
    body["events"][2:2] = [
        {"type": "tool/call", "name": "bash", "call_id": str(n), "arguments": text}
        for n, text in enumerate(hostile)
    ]
    answer = api.post(f"{HOME}/host-events", json=body).json()
    assert answer["stored"] == 1
    with database.read(tenant.tenant_id) as tx:
        (_, said) = turns_range(tx, NAMESPACE, "s3", first=1, last=None)
    assert [call["arguments"] for call in said.message.tool_calls] == [
        {"raw": text} for text in hostile
    ]


def test_turns_without_a_person_are_skipped_and_reported(api: httpx.Client) -> None:
    body = stream("A.", "B.", "<memory-context>old</memory-context>")
    body["events"][5]["source"] = {"kind": "system"}
    answer = api.post(f"{HOME}/host-events", json=body).json()
    assert [item.get("skipped") for item in answer["items"]] == [
        None,
        "no_human_message",
        "no_human_message",
    ]
    assert (answer["stored"], answer["skipped"]) == (1, 2)


def test_an_unfinished_turn_is_reported_and_stored_once_it_has_ended(api: httpx.Client) -> None:
    whole = stream("One.", "Two.", session="s4")
    cut = {**whole, "events": whole["events"][:6]}
    answer = api.post(f"{HOME}/host-events", json=cut).json()
    assert answer["unfinished"] == [{"turn": 2, "subagent": None, "first_event": 4, "events": 2}]
    later = api.post(
        f"{HOME}/host-events",
        json={"session": "s4", "first_turn": 2, "events": whole["events"][4:]},
    ).json()
    assert [item["receipt_id"] for item in later["items"]] == ["host:s4:turn:2"]
    again = api.post(f"{HOME}/host-events", json=whole).json()
    assert (again["stored"], again["duplicates"]) == (0, 2)


def test_sub_agents_are_ignored_unless_the_namespace_says_otherwise(api: httpx.Client) -> None:
    body = stream("Find it.", agent={"id": "helper", "is_subagent": True})
    answer = api.post(f"{HOME}/host-events", json=body).json()
    assert (answer["stored"], answer["ignored"]) == (0, 1)
    assert answer["items"][0]["result"]["reason"] == "subagent"
    api.put(HOME, json={"ingest_subagents": True})
    assert api.post(f"{HOME}/host-events", json=body).json()["stored"] == 1


def test_one_turn_that_cannot_be_stored_does_not_fail_the_others(api: httpx.Client) -> None:
    api.post(f"{HOME}/host-events", json=stream("One.", session="s5"))
    answer = api.post(f"{HOME}/host-events", json=stream("Changed.", "Two.", session="s5")).json()
    assert [item["status"] for item in answer["items"]] == [409, 201]
    assert answer["items"][0]["error"]["code"] == "receipt_conflict"
    assert answer["failed"] == 1


@pytest.mark.parametrize(
    ("scope", "namespace"),
    [
        ({"scope": "project", "cwd": "C:\\Ada\\Work\\"}, project_namespace("c:/ada/work")),
        ({"cwd": "/home/ada/x/.."}, project_namespace("/home/ada")),
        ({"scope": "session"}, "session:s6"),
        ({"scope": "global"}, "global:global"),
        ({"scope": "global", "name": "team"}, "global:team"),
    ],
)
def test_the_namespace_follows_from_the_scope(
    api: httpx.Client, scope: dict[str, Any], namespace: str
) -> None:
    answer = api.post("/v1/host-events", json=stream("Hi.", session="s6", **scope))
    assert answer.json()["namespace"] == namespace
    assert api.get(f"/v1/namespaces/{namespace}").json()["turn_count"] == 1


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"cwd": "work"}, "/cwd", "invalid_value"),
        ({"cwd": None}, "/cwd", "missing_field"),
        ({"session": None}, "/session", "invalid_value"),
        ({"session": "has blank"}, "/session", "invalid_name"),
        ({"session": "unthreaded"}, "/session", "reserved_name"),
        ({"events": []}, "/events", "invalid_value"),
        ({"events": [{"kind": "x"}]}, "/events/0/type", "missing_field"),
        (
            {"events": [{"type": "user/message", "content": 7}]},
            "/events/0/content",
            "invalid_value",
        ),
        (
            {"events": [{"type": "turn/end", "occurred_at": "2026-05-05 10:00"}]},
            "/events/0/occurred_at",
            "naive_time",
        ),
        (
            {"events": [{"type": "turn/end", "occurred_at": 1e300}]},
            "/events/0/occurred_at",
            "invalid_time",
        ),
        ({"tenant_id": "ten_x"}, "/tenant_id", "unknown_field"),
    ],
)
def test_a_stream_that_breaks_a_rule_is_422_and_stores_nothing(
    api: httpx.Client, change: dict[str, Any], pointer: str, code: str
) -> None:
    body = {**stream("Hi.", session="s7", cwd="/home/broken"), **change}
    answer = api.post("/v1/host-events", json=body)
    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert (error["pointer"], error["code"]) == (pointer, code)
    assert api.get("/v1/namespaces").json()["items"] == []


def test_a_key_limited_to_namespaces_reaches_no_other_by_a_scope(
    api: httpx.Client, ingest_url: str, database: Database, tenant: Tenant
) -> None:
    with database.write(tenant.tenant_id) as tx:
        narrow = issue_key(
            tx, label="n", permissions={Permission.INGEST}, namespaces=["global:team"]
        )
    headers = {"Authorization": f"Bearer {narrow.key}"}
    with httpx.Client(base_url=ingest_url, headers=headers) as client:
        body = stream("Hi.", scope="global", name="team")
        assert client.post("/v1/host-events", json=body).status_code == 200
        assert client.post("/v1/host-events", json={**body, "name": "x"}).status_code == 404
