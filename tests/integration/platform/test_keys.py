from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx

from shared.auth import issue_key
from shared.domain.tenancy import Permission
from shared.settings import Settings
from shared.store.audit import list_entries
from shared.store.database import Database
from shared.store.keys import find_key
from tests.integration.ingest.serving import served
from tests.support.databases import Tenant

WithKey = Callable[[str], httpx.Client]
LIST = "/v1/namespaces"


def made(api: httpx.Client, **fields: Any) -> dict[str, Any]:
    body = {"label": "agent", "permissions": ["read"], **fields}
    answer = api.post("/v1/keys", json=body)
    assert answer.status_code == 201
    return dict(answer.json())


def rotated(api: httpx.Client, key_id: str, **fields: Any) -> dict[str, Any]:
    answer = api.post(f"/v1/keys/{key_id}/rotate", json=fields)
    assert answer.status_code == 200
    return dict(answer.json())


def test_both_secrets_open_until_the_overlap_ends(api: httpx.Client, with_key: WithKey) -> None:
    old = made(api)
    new = rotated(api, old["key_id"], overlap_s=1)
    assert new["key_id"] == old["key_id"]
    assert new["key"] != old["key"]
    assert with_key(new["key"]).get(LIST).status_code == 200
    assert with_key(old["key"]).get(LIST).status_code == 200
    until = time.monotonic() + 5
    while with_key(old["key"]).get(LIST).status_code == 200:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert with_key(old["key"]).get(LIST).status_code == 401
    assert with_key(new["key"]).get(LIST).status_code == 200


def test_an_overlap_of_nothing_ends_the_old_secret_at_once(
    api: httpx.Client, with_key: WithKey
) -> None:
    old = made(api)
    new = rotated(api, old["key_id"], overlap_s=0)
    assert with_key(old["key"]).get(LIST).status_code == 401
    assert with_key(new["key"]).get(LIST).status_code == 200


def test_a_second_rotation_ends_the_secret_before_the_last(
    api: httpx.Client, with_key: WithKey
) -> None:
    first = made(api)
    second = rotated(api, first["key_id"])
    third = rotated(api, first["key_id"])
    opens = [with_key(one["key"]).get(LIST).status_code for one in (first, second, third)]
    assert opens == [401, 200, 200]


def test_revoking_ends_both_secrets_on_every_process(
    api: httpx.Client, settings: Settings, with_key: WithKey
) -> None:
    old = made(api)
    new = rotated(api, old["key_id"])
    with served(settings) as url:
        elsewhere = [
            httpx.Client(base_url=url, headers={"Authorization": f"Bearer {one['key']}"})
            for one in (old, new)
        ]
        assert [client.get(LIST).status_code for client in elsewhere] == [200, 200]
        api.delete(f"/v1/keys/{old['key_id']}")
        assert [client.get(LIST).status_code for client in elsewhere] == [401, 401]
        for client in elsewhere:
            client.close()


def test_rotating_again_with_the_same_idempotency_key_rotates_once(
    api: httpx.Client, with_key: WithKey
) -> None:
    key = made(api)
    path, once = f"/v1/keys/{key['key_id']}/rotate", {"Idempotency-Key": "rotate-1"}
    first = api.post(path, json={"overlap_s": 60}, headers=once).json()
    again = api.post(path, json={"overlap_s": 60}, headers=once).json()
    assert again == {**first, "key": None, "duplicate": True}
    assert with_key(first["key"]).get(LIST).status_code == 200
    assert with_key(key["key"]).get(LIST).status_code == 200
    other = api.post(path, json={"overlap_s": 61}, headers=once)
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")


def test_a_revoked_key_gets_no_new_secret(api: httpx.Client) -> None:
    key = made(api)
    api.delete(f"/v1/keys/{key['key_id']}")
    answer = api.post(f"/v1/keys/{key['key_id']}/rotate")
    assert (answer.status_code, answer.json()["code"]) == (409, "key_not_active")


def test_a_rotation_that_breaks_a_rule_is_422(api: httpx.Client) -> None:
    key = made(api)
    for overlap in (-1, 2_592_001, "60", 1.5):
        answer = api.post(f"/v1/keys/{key['key_id']}/rotate", json={"overlap_s": overlap})
        assert answer.json()["errors"][0]["pointer"] == "/overlap_s"


def test_an_id_opens_nothing_nor_does_a_piece_of_a_secret(
    api: httpx.Client, with_key: WithKey, database: Database
) -> None:
    key = made(api)
    for secret in (key["key_id"], f"sg_{key['key_id']}", key["key"][:-1], key["key"] + "x"):
        assert with_key(secret).get(LIST).status_code == 401
    assert find_key(database, key["key"][:-1] + "~") is None


def test_a_key_that_opens_no_more_leaves_one_trace(
    api: httpx.Client, with_key: WithKey, database: Database, tenant: Tenant
) -> None:
    key = made(api)
    api.delete(f"/v1/keys/{key['key_id']}")
    client = with_key(key["key"])
    assert [client.get(LIST).status_code for _ in range(3)] == [401, 401, 401]
    with database.read(tenant.tenant_id) as tx:
        entries = list_entries(tx, action="key_refused")
    assert [(e.entry.subject, dict(e.entry.detail)) for e in entries] == [
        (key["key_id"], {"reason": "revoked"})
    ]


def test_denied_access_is_audited(
    api: httpx.Client, with_key: WithKey, database: Database, tenant: Tenant
) -> None:
    with database.write(tenant.tenant_id) as tx:
        reader = issue_key(tx, label="r", permissions={Permission.READ}, namespaces=["a"])
    client = with_key(reader.key)
    assert client.put("/v1/namespaces/a", json={}).status_code == 403
    assert client.get("/v1/namespaces/b").status_code == 404
    assert client.get("/v1/usage", params={"namespace": "b"}).status_code == 404
    with database.read(tenant.tenant_id) as tx:
        entries = [e.entry for e in list_entries(tx) if e.entry.key_id == reader.key_id]
    assert [(e.action, e.detail["route"], e.detail["asked"]) for e in entries] == [
        ("not_found", "/v1/usage", {"namespace": "b"}),
        ("not_found", "/v1/namespaces/{ns}", {"ns": "b"}),
        ("forbidden", "/v1/namespaces/{ns}", {"ns": "a"}),
    ]
