from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from shared.store.audit import list_entries
from shared.store.database import Database
from tests.integration.ingest.serving import turn
from tests.support.databases import Tenant

HOME = "/v1/namespaces/project:bridge"


def test_a_policy_lays_its_own_fields_over_the_defaults(api: httpx.Client) -> None:
    assert api.put(HOME, json={"block_turn_size": 6, "stages": {"embed": True}}).status_code == 201
    body = api.put(HOME, json={"block_turn_size": 6, "stages": {"embed": True}})
    assert body.status_code == 200
    view = body.json()
    assert view["overrides"] == {"block_turn_size": 6, "stages": {"embed": True}}
    assert view["policy"]["block_turn_size"] == 6
    assert view["policy"]["block_decay_lambda"] == 0.30
    assert view["policy"]["stages"] == {"extract": True, "project": True, "embed": True}


def test_a_patch_keeps_what_it_does_not_name_and_null_returns_to_the_default(
    api: httpx.Client,
) -> None:
    api.put(HOME, json={"block_turn_size": 6, "language": "en", "stages": {"embed": True}})
    view = api.patch(HOME, json={"language": None, "stages": {"project": False}}).json()
    assert view["overrides"] == {"block_turn_size": 6, "stages": {"embed": True, "project": False}}
    assert view["suggested_block_decay_lambda"] is None


def test_a_new_block_size_suggests_a_lambda_and_applies_it_only_when_asked(
    api: httpx.Client,
) -> None:
    api.put(HOME, json={"block_turn_size": 12, "block_decay_lambda": 0.3})
    view = api.patch(HOME, json={"block_turn_size": 6}).json()
    assert view["suggested_block_decay_lambda"] == 0.15
    assert view["suggested_lambda_applied"] is False
    assert view["policy"]["block_decay_lambda"] == 0.3
    change = {"block_turn_size": 24, "apply_suggested_lambda": True}
    view = api.patch(HOME, json=change).json()
    assert view["suggested_block_decay_lambda"] == 1.2
    assert view["policy"]["block_decay_lambda"] == 1.2
    assert len(view["warnings"]) == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"block_turn_size": 0}, "/block_turn_size"),
        ({"block_turn_size": "12"}, "/block_turn_size"),
        ({"block_decay_lambda": -1}, "/block_decay_lambda"),
        ({"redaction": "none"}, "/redaction"),
        ({"provider": "openai"}, ""),
        ({"stages": {"summarize": False}}, "/stages/summarize"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_a_policy_that_breaks_a_rule_is_422(
    api: httpx.Client, body: dict[str, object], pointer: str
) -> None:
    answer = api.put(HOME, json=body)
    assert answer.status_code == 422
    assert [e["pointer"] for e in answer.json()["errors"]] == [pointer]


def test_namespaces_are_listed_by_name_page_by_page(api: httpx.Client) -> None:
    for name in ("c", "a", "b"):
        api.put(f"/v1/namespaces/{name}", json={})
    first = api.get("/v1/namespaces?limit=2").json()
    second = api.get(f"/v1/namespaces?limit=2&cursor={first['next_cursor']}").json()
    names = [item["namespace"] for item in first["items"] + second["items"]]
    assert names == ["a", "b", "c"]
    assert second["next_cursor"] is None
    assert api.get("/v1/namespaces?cursor=~~").json()["code"] == "invalid_cursor"
    assert api.get("/v1/namespaces?limit=0").json()["errors"][0]["pointer"] == "/query/limit"


def test_a_name_that_is_none_is_422(api: httpx.Client) -> None:
    answer = api.get("/v1/namespaces/has%20blank")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_name")


def test_a_job_is_cancelled_and_retried_once_a_key(api: httpx.Client) -> None:
    for thread in ("a", "b"):
        api.post(f"{HOME}/turns", json=turn(thread, thread_id=thread))
        api.post(f"{HOME}/threads/{thread}/seal")
    jobs = api.get("/v1/jobs?kind=summarize&state=available").json()["items"]
    assert len(jobs) == 2
    path = f"/v1/jobs/{jobs[0]['job_id']}"
    assert api.post(f"{path}/retry").json()["code"] == "job_not_retryable"
    once = {"Idempotency-Key": "k1"}
    cancelled = api.post(f"{path}/cancel", headers=once)
    assert cancelled.json()["state"] == "cancelled"
    assert api.get(path).json()["state"] == "cancelled"
    assert api.post(f"{path}/retry").json()["state"] == "available"
    again = api.post(f"{path}/cancel", headers=once).json()
    assert again == {**cancelled.json(), "duplicate": True}
    assert api.get(path).json()["state"] == "available"
    other = api.post(f"/v1/jobs/{jobs[1]['job_id']}/cancel", headers=once)
    assert (other.status_code, other.json()["code"]) == (409, "receipt_conflict")


def test_jobs_are_listed_newest_first_page_by_page(api: httpx.Client) -> None:
    for n in range(3):
        api.post(f"{HOME}/turns", json=turn(f"r{n}", thread_id=f"t{n}"))
        api.post(f"{HOME}/threads/t{n}/seal")
    first = api.get("/v1/jobs?limit=2").json()
    second = api.get(f"/v1/jobs?limit=2&cursor={first['next_cursor']}").json()
    ids = [job["job_id"] for job in first["items"] + second["items"]]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == 3
    assert second["next_cursor"] is None


def test_an_id_of_another_kind_is_422(api: httpx.Client) -> None:
    answer = api.get("/v1/jobs/blk_0123456789abcdef0123456789abcdef")
    assert (answer.status_code, answer.json()["code"]) == (422, "wrong_id_type")


def test_a_key_is_shown_once_and_revoked_at_once(
    api: httpx.Client, anyone: httpx.Client, database: Database, tenant: Tenant
) -> None:
    body = {"label": "reader", "permissions": ["read"], "namespaces": ["project:bridge"]}
    made = api.post("/v1/keys", json=body, headers={"Idempotency-Key": "k"}).json()
    assert made["key"].startswith("sg_")
    repeated = api.post("/v1/keys", json=body, headers={"Idempotency-Key": "k"}).json()
    assert repeated == {**made, "key": None, "duplicate": True}
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert anyone.get("/v1/namespaces", headers=headers).status_code == 200
    listed = api.get("/v1/keys")
    assert made["key"] not in listed.text
    assert listed.json()["items"][0]["key_id"] == made["key_id"]
    assert api.delete(f"/v1/keys/{made['key_id']}").json()["revoked_at"] is not None
    assert anyone.get("/v1/namespaces", headers=headers).status_code == 401
    with database.read(tenant.tenant_id) as tx:
        actions = [e.entry.action for e in list_entries(tx, subject=made["key_id"])]
    assert actions == ["key_refused", "key_revoked", "key_created"]


def test_an_expired_key_is_no_key(api: httpx.Client, anyone: httpx.Client) -> None:
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    body = {"label": "old", "permissions": ["read"], "expires_at": past}
    headers = {"Authorization": f"Bearer {api.post('/v1/keys', json=body).json()['key']}"}
    assert anyone.get("/v1/namespaces", headers=headers).status_code == 401


def test_health_metrics_and_version_need_no_key(anyone: httpx.Client) -> None:
    assert anyone.get("/health/live").json() == {"status": "live"}
    ready = anyone.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json()["parts"]["migrations"]["ok"] is True
    assert anyone.get("/version").json()["api"] == "v1"
    figures = anyone.get("/metrics").text
    assert 'route="/health/ready"' in figures
    assert "ten_" not in figures


def test_the_contract_is_published_with_one_form_of_error(anyone: httpx.Client) -> None:
    document = anyone.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = [op for path in document["paths"].values() for op in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert "HTTPValidationError" not in document["components"]["schemas"]
    batch = document["paths"]["/v1/namespaces/{ns}/turns/batch"]["post"]
    assert "application/x-ndjson" in batch["requestBody"]["content"]


def test_unknown_routes_and_methods_are_problems_too(api: httpx.Client) -> None:
    assert api.get("/v2/nothing").json()["code"] == "not_found"
    answer = api.delete("/v1/jobs")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
