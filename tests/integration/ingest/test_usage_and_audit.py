from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import Database, owner_engine
from shared.store.model_calls import NewCall, record_call
from tests.support.databases import Tenant

HOME = "/v1/namespaces/project:spend"


def _calls(database: Database, tenant: Tenant, *calls: tuple[str, str, str, int, int]) -> None:
    with database.write(tenant.tenant_id) as tx:
        for number, (namespace, kind, outcome, read, written) in enumerate(calls):
            record_call(
                tx,
                NewCall(
                    job_id=f"job_{number}",
                    attempt=1,
                    namespace=namespace,
                    kind=kind,
                    model="m",
                    prompt_version="1",
                    outcome=outcome,
                    input_tokens=read,
                    output_tokens=written,
                    duration_ms=1,
                ),
            )


@pytest.fixture
def spent(api: httpx.Client, database: Database, tenant: Tenant) -> None:
    api.put(HOME, json={"token_budget": 100})
    _calls(
        database,
        tenant,
        ("project:spend", "summarize", "accepted", 40, 10),
        ("project:spend", "summarize", "malformed", 40, 20),
        ("project:spend", "extract", "accepted", 7, 3),
        ("project:other", "summarize", "partial", 5, 5),
    )


def _key(api: httpx.Client, **fields: object) -> dict[str, str]:
    made = api.post("/v1/keys", json={"label": "k", **fields}).json()
    return {"Authorization": f"Bearer {made['key']}"}


@pytest.mark.usefixtures("spent")
def test_usage_is_told_by_day_namespace_step_and_model(api: httpx.Client) -> None:
    found = api.get("/v1/usage", params={"namespace": "project:spend"}).json()
    day = found["today"]["day"]
    assert [
        (one["day"], one["step"], one["calls"], one["failed_calls"], one["input_tokens"])
        for one in found["items"]
    ] == [(day, "extract", 1, 0, 7), (day, "summarize", 2, 1, 80)]
    assert found["total"] == {
        "calls": 3,
        "failed_calls": 1,
        "input_tokens": 87,
        "output_tokens": 33,
    }


@pytest.mark.usefixtures("spent")
def test_todays_spend_stands_beside_the_budgets(api: httpx.Client) -> None:
    today = api.get("/v1/usage", params={"namespace": "project:spend"}).json()["today"]
    assert (today["namespace_spent"], today["namespace_budget"]) == (120, 100)
    assert (today["tenant_spent"], today["tenant_budget"]) == (130, None)
    assert today["stopped_by"] == "namespace"
    resumes = datetime.fromisoformat(today["resumes_at"])
    assert timedelta(0) < resumes - datetime.now(UTC) <= timedelta(days=1)
    whole = api.get("/v1/usage").json()["today"]
    assert (whole["namespace_spent"], whole["stopped_by"]) == (None, None)


@pytest.mark.usefixtures("spent")
def test_usage_comes_in_pages_whose_rows_are_each_told_once(api: httpx.Client) -> None:
    seen, cursor = [], None
    while True:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = api.get("/v1/usage", params=params).json()
        seen += [(one["namespace"], one["step"]) for one in page["items"]]
        assert page["total"]["calls"] == 4
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [
        ("project:other", "summarize"),
        ("project:spend", "extract"),
        ("project:spend", "summarize"),
    ]


@pytest.mark.usefixtures("spent")
def test_a_limited_key_sees_neither_other_namespaces_nor_the_tenants_spend(
    api: httpx.Client,
) -> None:
    headers = _key(api, permissions=["read"], namespaces=["project:spend"])
    page = api.get("/v1/usage", headers=headers).json()
    assert {one["namespace"] for one in page["items"]} == {"project:spend"}
    assert page["today"]["tenant_spent"] is None
    other = {"namespace": "project:other"}
    assert api.get("/v1/usage", params=other, headers=headers).status_code == 404


@pytest.mark.usefixtures("spent")
def test_days_before_and_after_the_span_are_left_out(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    engine = owner_engine(settings)
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE model_calls SET created_at = '2026-01-31T23:59:59.9Z' "
                "WHERE tenant_id = :t AND job_id = 'job_2'"
            ),
            {"t": tenant.tenant_id},
        )
    engine.dispose()
    january = api.get("/v1/usage", params={"from": "2026-01-01", "to": "2026-01-31"}).json()
    assert [(one["day"], one["input_tokens"]) for one in january["items"]] == [("2026-01-31", 7)]
    february = api.get("/v1/usage", params={"from": "2026-02-01", "to": "2026-02-28"}).json()
    assert february["items"] == []


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"from": "2026-02-01", "to": "2026-01-01"}, "inverted_window"),
        ({"from": "2024-01-01", "to": "2026-01-01"}, "invalid_value"),
        ({"from": "yesterday"}, "invalid_value"),
        ({"cursor": "bm90IGpzb24"}, "invalid_cursor"),
    ],
)
def test_a_span_or_cursor_that_makes_no_sense_is_refused(
    api: httpx.Client, params: dict[str, str], code: str
) -> None:
    answer = api.get("/v1/usage", params=params)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == code


def test_the_audit_log_is_read_newest_first_by_admins_alone(api: httpx.Client) -> None:
    api.put(HOME, json={"token_budget": 100})
    api.put("/v1/namespaces/project:other", json={"token_budget": 5})
    reader = _key(api, permissions=["read"])
    assert api.get("/v1/audit-log", headers=reader).status_code == 403
    first = api.get("/v1/audit-log", params={"limit": 1}).json()
    rest = api.get("/v1/audit-log", params={"cursor": first["next_cursor"]}).json()
    ids = [one["audit_id"] for one in first["items"] + rest["items"]]
    assert len(ids) >= 3
    assert ids == sorted(ids, reverse=True)
    mine = api.get("/v1/audit-log", params={"namespace": "project:spend"}).json()["items"]
    assert [(one["namespace"], one["detail"]) for one in mine] == [
        ("project:spend", {"token_budget": 100})
    ]
    limited = _key(api, permissions=["admin"], namespaces=["project:other"])
    seen = api.get("/v1/audit-log", headers=limited).json()["items"]
    assert {one["namespace"] for one in seen} == {"project:other"}
