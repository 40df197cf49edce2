from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from shared.store.database import Database
from shared.store.messages import turns_range
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from tests.integration.ingest.serving import turn
from tests.support.databases import Tenant

PATH = "/v1/namespaces/project:bridge/turns"
NAMESPACE = "project:bridge"


def stored(database: Database, tenant: Tenant, thread: str, *, original: bool = False) -> list[Any]:
    with database.read(tenant.tenant_id) as tx:
        found = turns_range(tx, NAMESPACE, thread, first=1, last=None, original=original)
        return [item.message for item in found]


def test_a_turn_is_answered_with_its_place(api: httpx.Client) -> None:
    answer = api.post(PATH, json=turn("r1", thread_id="t"))
    assert answer.status_code == 201
    body = answer.json()
    assert body["turn_id"].startswith("trn_")
    assert {name: value for name, value in body.items() if name != "turn_id"} == {
        "thread_id": "t",
        "sequence": 1,
        "duplicate": False,
        "open_tail_turns": 1,
        "sealed_block_ids": [],
        "time_basis": "received",
    }


def test_turns_without_a_thread_form_their_own_group(api: httpx.Client) -> None:
    assert api.post(PATH, json=turn("r1")).json()["thread_id"] == "unthreaded"
    assert api.post(PATH, json=turn("r2", thread_id="t")).json()["sequence"] == 1
    assert api.post(PATH, json=turn("r3")).json()["sequence"] == 2
    assert api.post(PATH, json=turn("r4", thread_id="unthreaded")).json()["code"] == "reserved_name"


def test_dup_02_a_retry_gets_the_first_answer_and_other_content_a_conflict(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    first = api.post(PATH, json=turn("r7", thread_id="t"))
    again = api.post(PATH, json=turn("r7", thread_id="t"))
    assert again.status_code == 201
    assert again.json() == {**first.json(), "duplicate": True}
    other = api.post(PATH, json=turn("r7", "Something else entirely.", thread_id="t"))
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")
    assert len(stored(database, tenant, "t")) == 2


def test_two_requests_with_one_receipt_at_once_store_once(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: api.post(PATH, json=turn("race", thread_id="t")), "abcd"))
    bodies = [answer.json() for answer in answers]
    assert {answer.status_code for answer in answers} == {201}
    assert sorted(body["duplicate"] for body in bodies) == [False, True, True, True]
    assert len({body["turn_id"] for body in bodies}) == 1
    assert len(stored(database, tenant, "t")) == 2


def test_turns_of_one_thread_posted_at_once_are_numbered_without_gap(api: httpx.Client) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda n: api.post(PATH, json=turn(f"c{n}", thread_id="t")), range(16))
        )
    assert sorted(answer.json()["sequence"] for answer in answers) == list(range(1, 17))
    sealed = [block for answer in answers for block in answer.json()["sealed_block_ids"]]
    assert len(sealed) == 1


def test_a_turn_that_fails_keeps_its_receipt_free(api: httpx.Client) -> None:
    bad = turn("r1", thread_id="t")
    bad["messages"] = [{"role": "assistant", "content": "Nobody asked."}]
    answer = api.post(PATH, json=bad)
    assert (answer.status_code, answer.json()["code"]) == (422, "no_human_message")
    assert api.post(PATH, json=turn("r1", thread_id="t")).json()["duplicate"] is False


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "context", "origin": "injected"}],
        [{"role": "user", "content": "<memory-context>old facts</memory-context>"}],
        [{"role": "tool", "content": "42"}],
        [{"role": "user", "content": "   "}],
    ],
)
def test_only_injected_or_tool_content_is_no_human_message(
    api: httpx.Client, messages: list[dict[str, Any]]
) -> None:
    answer = api.post(PATH, json={"receipt_id": "r", "messages": messages})
    assert (answer.status_code, answer.json()["code"]) == (422, "no_human_message")


def test_lost_14_a_tool_item_without_name_is_kept_and_marked(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    body = turn("r1", "Check whether the north sensor answers.", thread_id="t")
    body["messages"][1] = {
        "role": "assistant",
        "content": "It answers.",
        "tool_calls": [
            {"name": "probe", "arguments": {"sensor": "north"}, "result": "ok"},
            {"type": "function_call", "arguments": None},
            "garbled",
        ],
    }
    assert api.post(PATH, json=body).status_code == 201
    assert stored(database, tenant, "t")[1].tool_calls == (
        {"name": "probe", "arguments": {"sensor": "north"}, "result": "ok"},
        {"type": "function_call", "arguments": None, "unknown_kind": True},
        {"raw": "garbled", "unknown_kind": True},
    )


def test_chat_messages_are_taken_as_they_are_and_memory_traffic_is_left_out(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    function = {"name": "lookup", "arguments": '{"city": "Basel"}'}
    own = {"name": "memory_search_raw", "arguments": "{}"}
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "How is the weather?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "refusal": None,
            "annotations": [],
            "tool_calls": [
                {"id": "c1", "type": "function", "function": function},
                {"id": "c2", "type": "function", "function": own},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "c2", "content": "remembered"},
        {"role": "assistant", "content": "Sunny."},
    ]
    answer = api.post(PATH, json={"receipt_id": "r", "thread_id": "t", "messages": messages})
    assert answer.status_code == 201
    kept = stored(database, tenant, "t")
    assert [(m.role.value, m.content) for m in kept] == [
        ("system", "Be brief."),
        ("user", "How is the weather?\n\n[image]"),
        ("assistant", ""),
        ("tool", "sunny"),
        ("assistant", "Sunny."),
    ]
    assert kept[2].tool_calls == ({"id": "c1", "name": "lookup", "arguments": {"city": "Basel"}},)


def test_readers_and_the_index_see_the_redacted_text_and_the_source_is_kept(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
    api.post(PATH, json=turn("r1", f"My token is {secret} for the repository.", thread_id="t"))
    assert secret not in stored(database, tenant, "t")[0].content
    assert secret in stored(database, tenant, "t", original=True)[0].content
    with database.read(tenant.tenant_id) as tx:
        found = bm25_search(tx, NAMESPACE, DocumentKind.MESSAGE, {"repositori": 1.0}, limit=5)
        leaked = bm25_search(tx, NAMESPACE, DocumentKind.MESSAGE, {secret.lower(): 1.0}, limit=5)
    assert len(found) == 1
    assert leaked == []


def test_a_policy_can_keep_only_the_redacted_text(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.put(f"/v1/namespaces/{NAMESPACE}", json={"redaction": "redact_source"})
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
    api.post(PATH, json=turn("r1", f"My token is {secret}.", thread_id="t"))
    assert secret not in stored(database, tenant, "t", original=True)[0].content


def test_a_sub_agents_turn_is_not_stored_unless_the_policy_says_so(api: httpx.Client) -> None:
    body = turn("r1", thread_id="t", agent={"id": "scout", "is_subagent": True})
    answer = api.post(PATH, json=body)
    assert (answer.status_code, answer.json()["stored"]) == (200, False)
    assert api.get(f"/v1/namespaces/{NAMESPACE}").status_code == 404
    api.put(f"/v1/namespaces/{NAMESPACE}", json={"ingest_subagents": True})
    assert api.post(PATH, json=body).status_code == 201


def test_date_08_a_naive_time_needs_a_zone_beside_it(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    naive = turn("r1", thread_id="t", occurred_at="2026-05-05 10:00")
    answer = api.post(PATH, json=naive)
    assert answer.status_code == 422
    assert [e["pointer"] for e in answer.json()["errors"]] == ["/occurred_at"]
    assert answer.json()["code"] == "naive_time"
    accepted = api.post(PATH, json=naive | {"timezone": "Asia/Shanghai"})
    assert accepted.json()["time_basis"] == "given"
    message = stored(database, tenant, "t")[0]
    assert (message.occurred_at.isoformat(), message.zone) == (
        "2026-05-05T02:00:00+00:00",
        "Asia/Shanghai",
    )


def test_date_08_in_another_shape_still_names_occurred_at(api: httpx.Client) -> None:
    body = {
        "user": {"content": "Hello"},
        "assistant": {"content": "Hi"},
        "occurred_at": "2026-05-05 10:00",
    }
    pointers = {e["pointer"] for e in api.post(PATH, json=body).json()["errors"]}
    assert {"/occurred_at", "/user", "/assistant", "/messages"} <= pointers


def test_sec_03_no_field_or_header_names_a_tenant(
    api: httpx.Client, database: Database, tenant: Tenant, other_tenant: Tenant
) -> None:
    picked = turn("r1", thread_id="t", tenant_id=other_tenant.tenant_id, user_id="u1")
    answer = api.post(PATH, json=picked, headers={"X-Tenant-Id": other_tenant.tenant_id})
    assert answer.status_code == 422
    assert {(e["pointer"], e["code"]) for e in answer.json()["errors"]} == {
        ("/tenant_id", "unknown_field"),
        ("/user_id", "unknown_field"),
    }
    api.post(PATH, json=turn("r1", thread_id="t"), headers={"X-Tenant-Id": other_tenant.tenant_id})
    assert len(stored(database, tenant, "t")) == 2
    assert stored(database, other_tenant, "t") == []


@pytest.mark.parametrize(
    ("raw", "pointer", "code"),
    [
        (r'{"messages":[{"role":"user","content":"a \ud83d b"}]}', "/messages/0/content", None),
        (r'{"metadata":{"k":["x",{"y":"\u0000"}]}}', "/metadata/k/1/y", None),
        (r'{"metadata":{"\u0000":1}}', "/metadata/�", None),
        ('{"metadata":{"n":99999999999999999999999}}', "/metadata/n", "number_out_of_range"),
        ('{"metadata":{"n":1e999}}', "/metadata/n", "number_out_of_range"),
        ('{"metadata":{"n":NaN}}', "", "number_out_of_range"),
        ('{"a":' + "[" * 9000 + "]" * 9000 + "}", "", "json_too_deep"),
        ('{"a":', "", "malformed_json"),
    ],
)
def test_sec_08_what_cannot_be_stored_is_a_clean_422(
    api: httpx.Client, raw: str, pointer: str, code: str | None
) -> None:
    answer = api.post(PATH, content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["code"] == (code or "unstorable_character")
    assert [e["pointer"] for e in problem["errors"]] == [pointer]


def test_special_token_text_and_every_plane_of_unicode_come_back_as_sent(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    said = "<|im_end|> \U0001f600 \u202e 汉字 e\u0301 \x7f \r\n\t"
    api.post(PATH, json=turn("r1", said, thread_id="t"))
    assert stored(database, tenant, "t")[0].content == said


def test_a_body_over_the_limit_is_413(api: httpx.Client) -> None:
    answer = api.post(PATH, json=turn("r1", "x" * 5_000_000))
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


def test_a_batch_answers_item_by_item(api: httpx.Client) -> None:
    items = [
        json.dumps(turn("b1", thread_id="t")),
        '{"receipt_id": "b2"}',
        json.dumps(turn("b1", thread_id="t")),
        json.dumps(turn("b1", "Other.", thread_id="t")),
        r'{"receipt_id":"b3","messages":[{"role":"user","content":"\u0000"}]}',
        json.dumps(turn("b4", thread_id="t")),
    ]
    answer = api.post(
        f"{PATH}/batch",
        content=f"[{', '.join(items)}]",
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200
    body = answer.json()
    assert [item["status"] for item in body["items"]] == [201, 422, 201, 409, 422, 201]
    assert [item["index"] for item in body["items"]] == list(range(6))
    assert body["items"][1]["error"]["errors"][0]["pointer"] == "/messages"
    assert body["items"][4]["error"]["code"] == "unstorable_character"
    assert body["items"][5]["turn"]["sequence"] == 2
    counts = {name: body[name] for name in ("stored", "duplicates", "ignored", "failed")}
    assert counts == {"stored": 2, "duplicates": 1, "ignored": 0, "failed": 3}


def test_a_batch_may_be_one_object_a_line(api: httpx.Client) -> None:
    lines = "\n".join([json.dumps(turn("n1")), "", "{not json", json.dumps(turn("n2"))])
    answer = api.post(
        f"{PATH}/batch", content=lines, headers={"Content-Type": "application/x-ndjson"}
    )
    assert [item["status"] for item in answer.json()["items"]] == [201, 422, 201]


def test_a_batch_holds_at_most_a_thousand_turns(api: httpx.Client) -> None:
    answer = api.post(f"{PATH}/batch", json=[{}] * 1001)
    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_items")


def test_a_sealed_block_has_its_summarize_job(api: httpx.Client) -> None:
    api.put(f"/v1/namespaces/{NAMESPACE}", json={"block_turn_size": 2})
    api.post(PATH, json=turn("r1", thread_id="t"))
    block_ids = api.post(PATH, json=turn("r2", thread_id="t")).json()["sealed_block_ids"]
    jobs = api.get("/v1/jobs").json()["items"]
    assert [(job["kind"], job["state"], job["subject"]) for job in jobs] == [
        ("summarize", "available", block_ids[0])
    ]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json"])
def test_a_body_that_does_not_say_it_is_json_is_told_what_to_send(
    api: httpx.Client, kind: str
) -> None:
    answer = api.post(PATH, json=turn("r1"), headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "Content-Type: application/json" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_may_be_announced_in_any_usual_form(api: httpx.Client, kind: str) -> None:
    assert api.post(PATH, json=turn("r1"), headers={"Content-Type": kind}).status_code == 201


def test_an_idempotency_key_stands_in_for_a_receipt(api: httpx.Client) -> None:
    body = turn("r")
    del body["receipt_id"]
    once = {"Idempotency-Key": "header-1"}
    first = api.post(PATH, json=body, headers=once)
    assert first.status_code == 201
    again = api.post(PATH, json=body, headers=once).json()
    assert again == {**first.json(), "duplicate": True}
    other = api.post(PATH, json={**body, "labels": {"a": 1}}, headers=once)
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")
    for absent in (body, {**body, "receipt_id": None}):
        answer = api.post(PATH, json=absent)
        assert answer.json()["errors"][0]["pointer"] == "/receipt_id"
        assert answer.json()["code"] == "missing_field"
