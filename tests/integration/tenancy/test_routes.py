from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from shared.auth import issue_key
from shared.domain.tenancy import Permission
from shared.ids import Prefix, new_id
from shared.store.audit import list_entries
from shared.store.database import Database
from tests.integration.ingest.serving import turn
from tests.support.databases import Tenant

NAMESPACE = "project:bridge"
HOME = f"/v1/namespaces/{NAMESPACE}"


@pytest.fixture
def stranger(ingest_url: str, other_tenant: Tenant) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=ingest_url, headers=other_tenant.headers) as client:
        yield client


def key_with(
    database: Database, tenant: Tenant, *permissions: Permission, only: list[str] | None = None
) -> dict[str, str]:
    with database.write(tenant.tenant_id) as tx:
        issued = issue_key(tx, label="test", permissions=permissions, namespaces=only)
    return {"Authorization": f"Bearer {issued.key}"}


def without_request_id(answer: httpx.Response) -> tuple[int, dict[str, Any]]:
    return answer.status_code, {k: v for k, v in answer.json().items() if k != "request_id"}


def test_two_tenants_with_one_namespace_name_never_meet(
    api: httpx.Client, stranger: httpx.Client
) -> None:
    first = api.post(f"{HOME}/turns", json=turn("r1", thread_id="t")).json()
    api.post(f"{HOME}/threads/t/seal")
    assert stranger.get("/v1/namespaces").json()["items"] == []
    assert stranger.get(HOME).status_code == 404
    assert stranger.get("/v1/jobs").json()["items"] == []
    assert stranger.post(f"{HOME}/threads/t/seal").status_code == 404
    theirs = stranger.post(f"{HOME}/turns", json=turn("r1", "Other words.", thread_id="t"))
    assert theirs.status_code == 201
    assert theirs.json()["turn_id"] != first["turn_id"]
    assert theirs.json()["sequence"] == 1
    assert theirs.json()["duplicate"] is False
    counts = api.get(HOME).json()["counts"]
    assert (counts["turns"], counts["open_tail_turns"], counts["blocks"]["pending"]) == (1, 0, 1)
    assert stranger.get(HOME).json()["counts"]["turns"] == 1


def test_anothers_id_answers_as_one_that_never_was(
    api: httpx.Client, stranger: httpx.Client
) -> None:
    api.post(f"{HOME}/turns", json=turn("r1", thread_id="t"))
    api.post(f"{HOME}/threads/t/seal")
    job_id = api.get("/v1/jobs").json()["items"][0]["job_id"]
    key_id = api.get("/v1/keys").json()["items"][0]["key_id"]
    pairs = [
        ("GET", f"/v1/jobs/{job_id}", f"/v1/jobs/{new_id(Prefix.JOB)}"),
        ("POST", f"/v1/jobs/{job_id}/cancel", f"/v1/jobs/{new_id(Prefix.JOB)}/cancel"),
        ("POST", f"/v1/jobs/{job_id}/retry", f"/v1/jobs/{new_id(Prefix.JOB)}/retry"),
        ("DELETE", f"/v1/keys/{key_id}", f"/v1/keys/{new_id(Prefix.KEY)}"),
        ("GET", HOME, "/v1/namespaces/nowhere"),
        ("PATCH", HOME, "/v1/namespaces/nowhere"),
        ("POST", f"{HOME}/threads/t/seal", "/v1/namespaces/nowhere/threads/t/seal"),
    ]
    for method, anothers, unknown in pairs:
        body: dict[str, Any] = {"json": {}} if method == "PATCH" else {}
        found = stranger.request(method, anothers, **body)
        assert found.status_code == 404, anothers
        assert without_request_id(found) == without_request_id(
            stranger.request(method, unknown, **body)
        )
        assert job_id not in found.text
        assert key_id not in found.text


def test_every_404_by_id_is_audited(api: httpx.Client, database: Database, tenant: Tenant) -> None:
    unknown = new_id(Prefix.JOB)
    request_id = api.get(f"/v1/jobs/{unknown}").json()["request_id"]
    with database.read(tenant.tenant_id) as tx:
        (entry,) = list_entries(tx, action="not_found")
    assert entry.entry.detail["asked"] == {"job": unknown}
    assert entry.entry.detail["route"] == "/v1/jobs/{job}"
    assert entry.entry.detail["request_id"] == request_id


def test_a_namespace_outside_the_keys_list_is_404_like_an_unknown_one(
    api: httpx.Client, ingest_url: str, database: Database, tenant: Tenant
) -> None:
    api.post(f"{HOME}/turns", json=turn("r1", thread_id="t"))
    api.post(f"{HOME}/threads/t/seal")
    job_id = api.get("/v1/jobs").json()["items"][0]["job_id"]
    headers = key_with(database, tenant, Permission.ADMIN, only=["project:mine"])
    with httpx.Client(base_url=ingest_url, headers=headers) as limited:
        check_limits(limited, job_id)


def check_limits(limited: httpx.Client, job_id: str) -> None:
    unknown = limited.get("/v1/namespaces/project:mine")
    assert without_request_id(limited.get(HOME)) == without_request_id(unknown)
    assert limited.post(f"{HOME}/turns", json=turn("r2")).status_code == 404
    assert limited.post("/v1/namespaces/project:mine/turns", json=turn("r2")).status_code == 201
    assert limited.get(f"/v1/jobs/{job_id}").status_code == 404
    assert limited.get("/v1/jobs").json()["items"] == []
    assert limited.get(f"/v1/jobs?namespace={NAMESPACE}").status_code == 404
    names = [item["namespace"] for item in limited.get("/v1/namespaces").json()["items"]]
    assert names == ["project:mine"]
    assert limited.get("/v1/keys").status_code == 403
    assert limited.post("/v1/keys", json={"label": "x", "permissions": ["read"]}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer sg_unknown"},
        {"Authorization": "Basic sg_unknown"},
        {"Authorization": "Bearer nothing"},
        {"Authorization": "Bearer sg_" + "x" * 5000},
        {"X-Api-Key": "sg_unknown"},
    ],
)
def test_no_valid_key_is_401(anyone: httpx.Client, headers: dict[str, str]) -> None:
    answer = anyone.post(f"{HOME}/turns", json=turn("r1"), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token", "Api-Key"])
def test_a_key_is_taken_under_each_prefix(
    anyone: httpx.Client, tenant: Tenant, scheme: str
) -> None:
    headers = {"Authorization": f"{scheme} {tenant.admin_key}"}
    assert anyone.get("/v1/namespaces", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("permission", "method", "path"),
    [
        (Permission.READ, "POST", f"{HOME}/turns"),
        (Permission.READ, "POST", f"{HOME}/turns/batch"),
        (Permission.READ, "POST", f"{HOME}/threads/t/seal"),
        (Permission.INGEST, "PUT", HOME),
        (Permission.INGEST, "PATCH", HOME),
        (Permission.CURATE, "GET", HOME),
        (Permission.USE, "GET", "/v1/jobs"),
        (Permission.INGEST, "POST", "/v1/jobs/job_0123456789abcdef0123456789abcdef/retry"),
        (Permission.ERASE, "POST", "/v1/keys"),
    ],
)
def test_a_key_without_the_permission_is_403(
    anyone: httpx.Client,
    database: Database,
    tenant: Tenant,
    permission: Permission,
    method: str,
    path: str,
) -> None:
    body: Any = {"label": "x", "permissions": ["read"]} if path == "/v1/keys" else turn("r1")
    if method in ("PUT", "PATCH"):
        body = {}
    answer = anyone.request(
        method,
        path,
        headers=key_with(database, tenant, permission),
        json=body if method != "GET" else None,
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
