from __future__ import annotations

import httpx

from shared.store.database import Database
from shared.store.model_calls import NewCall, record_call, settle_calls
from tests.integration.retrieval.world import NS, World
from tests.support.databases import Tenant

PATH = f"/v1/retrieval/{NS}/model-replies"


def _record(database: Database, tenant: Tenant, number: int, outcome: str, said: str) -> None:
    with database.write(tenant.tenant_id) as tx:
        call = record_call(
            tx,
            NewCall(
                job_id=f"job_{number}",
                attempt=1,
                namespace=NS,
                kind="summarize",
                model="m",
                prompt_version="1",
                outcome="replied",
                input_tokens=1,
                output_tokens=1,
                duration_ms=1,
                reply=said,
            ),
        )
    with database.write(tenant.tenant_id) as tx:
        settle_calls(tx, NS, f"job_{number}", 1, {call: outcome})


def test_the_five_latest_taken_and_all_failed_replies_are_read_whole_by_admins(
    world: World, database: Database, tenant: Tenant
) -> None:
    world.say("The roof leaks.", "Noted.")
    long = "{" * 40_000
    for number in range(7):
        _record(database, tenant, number, "accepted", f"taken {number}")
        _record(database, tenant, 100 + number, "malformed", f"{long} failed {number}")
    headers = tenant.headers
    taken = world.http.get(PATH, params={"failed": False}, headers=headers).json()["items"]
    assert [one["reply"] for one in taken] == [f"taken {n}" for n in (6, 5, 4, 3, 2)]
    failed = world.http.get(PATH, params={"failed": True}, headers=headers).json()["items"]
    assert [one["reply"] for one in failed] == [f"{long} failed {n}" for n in range(6, -1, -1)]
    assert {(one["step"], one["outcome"]) for one in failed} == {("summarize", "malformed")}


def test_replies_come_in_pages_and_redacted(
    world: World, database: Database, tenant: Tenant
) -> None:
    world.say("The roof leaks.", "Noted.")
    for number in range(3):
        _record(database, tenant, number, "truncated", f"{number} password=hunter2secret")
    seen: list[str] = []
    params: dict[str, str | int] = {"limit": 2}
    while True:
        page = world.http.get(PATH, params=params, headers=tenant.headers).json()
        seen += [one["reply"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert [one[0] for one in seen] == ["2", "1", "0"]
    assert not any("hunter2secret" in one for one in seen)


def test_a_reader_is_refused_and_a_foreign_cursor_is_none(
    world: World, http: httpx.Client, tenant: Tenant
) -> None:
    world.say("The roof leaks.", "Noted.")
    body = {"label": "reader", "permissions": ["read"]}
    key = http.post("/v1/keys", json=body, headers=tenant.headers).json()["key"]
    assert http.get(PATH, headers={"Authorization": f"Bearer {key}"}).status_code == 403
    answer = http.get(PATH, params={"cursor": "ZXZ0XzE"}, headers=tenant.headers)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "invalid_cursor")
