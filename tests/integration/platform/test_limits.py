from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, text
from typer.testing import CliRunner

from shared.administration_cli import key_app, tenant_app
from shared.settings import Settings, get_settings
from shared.store.audit import list_entries
from shared.store.database import Database, owner_engine
from shared.store.tenants import set_limits
from tests.integration.ingest.serving import served, turn
from tests.support.databases import Tenant, settings_for

HOME = "/v1/namespaces/project:limited"


@contextmanager
def closing_owner(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def limited(settings: Settings, tenant: Tenant, **limits: float | None) -> None:
    set_limits(settings, tenant.tenant_id, limits, to_default=[])


def refused(answer: httpx.Response) -> tuple[int, str]:
    problem = answer.json()
    assert int(answer.headers["Retry-After"]) == problem["retry_after"] > 0
    return answer.status_code, problem["code"]


def test_turns_of_a_day_are_counted_over_all_namespaces(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, turns_per_day=3)
    for n, home in enumerate((HOME, "/v1/namespaces/other", HOME)):
        assert api.post(f"{home}/turns", json=turn(f"r{n}")).status_code == 201
    answer = api.post(f"{HOME}/turns", json=turn("r3"))
    assert refused(answer) == (429, "quota_turns")
    assert answer.json()["retry_after"] <= 86_400
    repeated = api.post(f"{HOME}/turns", json=turn("r0"))
    assert (repeated.status_code, repeated.json()["duplicate"]) == (201, True)
    limited(settings, tenant, turns_per_day=None)
    assert api.post(f"{HOME}/turns", json=turn("r3")).json()["duplicate"] is False
    assert api.get(HOME).json()["turn_count"] == 3


def test_many_writers_at_once_do_not_pass_a_quota(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, turns_per_day=10)

    def post(n: int) -> int:
        return api.post(f"/v1/namespaces/n{n % 5}/turns", json=turn(f"r{n}")).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(post, range(24)))
    assert sorted(set(statuses)) == [201, 429]
    assert statuses.count(201) == 10


def test_a_batch_stores_up_to_the_quota_and_tells_the_rest(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, turns_per_day=2)
    items = api.post(f"{HOME}/turns/batch", json=[turn(f"r{n}") for n in range(4)]).json()["items"]
    assert [item["status"] for item in items] == [201, 201, 429, 429]
    assert items[2]["error"]["code"] == "quota_turns"
    assert items[2]["error"]["retry_after"] > 0


def test_storage_is_counted_in_bytes_of_messages_and_given_back_when_they_go(
    api: httpx.Client, settings: Settings, tenant: Tenant, database: Database
) -> None:
    api.post(f"{HOME}/turns", json=turn("r0", "ü" * 500))
    stored = api.get("/v1/usage").json()["limits"]["stored_bytes"]
    assert 1_000 < stored < 1_200
    limited(settings, tenant, storage_bytes=stored + 300)
    answer = api.post(f"{HOME}/turns", json=turn("r1", "x" * 500))
    assert refused(answer) == (429, "quota_storage")
    assert api.post(f"{HOME}/turns", json=turn("r2", "x" * 100)).status_code == 201
    assert api.get("/v1/usage").json()["limits"]["stored_bytes"] > stored
    with closing_owner(settings) as owner:
        for table in ("messages", "turns"):
            owner.execute(
                text(f"DELETE FROM {table} WHERE tenant_id = :tenant_id"),  # noqa: S608 - ours
                {"tenant_id": tenant.tenant_id},
            )
    assert api.get("/v1/usage").json()["limits"]["stored_bytes"] == 0
    assert api.post(f"{HOME}/turns", json=turn("r3", "x" * 500, thread_id="t")).status_code == 201


def test_jobs_in_flight_hold_turns_back_until_they_end(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, jobs_in_flight=1)
    api.put(HOME, json={"block_turn_size": 1})
    assert api.post(f"{HOME}/turns", json=turn("r0")).status_code == 201
    assert refused(api.post(f"{HOME}/turns", json=turn("r1"))) == (429, "quota_jobs")
    job = api.get("/v1/jobs").json()["items"][0]["job_id"]
    api.post(f"/v1/jobs/{job}/cancel")
    assert api.post(f"{HOME}/turns", json=turn("r1")).status_code == 201


def test_jobs_in_flight_hold_sealing_back_as_well(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    api.post(f"{HOME}/turns", json=turn("r0", thread_id="t"))
    limited(settings, tenant, jobs_in_flight=0)
    assert refused(api.post(f"{HOME}/threads/t/seal")) == (429, "quota_jobs")


def test_jobs_in_flight_hold_runs_and_imports_back_as_well(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    api.post(f"{HOME}/turns", json=turn("r0"))
    limited(settings, tenant, jobs_in_flight=0)
    again = api.post(f"{HOME}/reprocess", json={"stages": ["project"]})
    assert refused(again) == (429, "quota_jobs")
    text = "- I take my tea without milk."
    imported = api.post(f"{HOME}/imports", json={"text": text})
    assert refused(imported) == (429, "quota_jobs"), imported.text


def test_requests_beyond_the_rate_are_429_on_every_process_together(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, requests_per_s=5)
    with (
        served(settings) as url,
        httpx.Client(base_url=url, headers=tenant.headers) as elsewhere,
    ):
        answers = [client.get("/v1/namespaces") for _ in range(15) for client in (api, elsewhere)]
        passed = [answer for answer in answers if answer.status_code == 200]
        held = [answer for answer in answers if answer.status_code != 200]
        assert {refused(answer) for answer in held} == {(429, "rate_limited")}
        # A full bucket, and what flowed in while they were asked.
        assert 5 <= len(passed) <= 5 + 5 * 2
        assert elsewhere.get("/health/live").status_code == 200


def test_a_rate_is_of_one_tenant_alone(
    api: httpx.Client, settings: Settings, tenant: Tenant, other_tenant: Tenant
) -> None:
    limited(settings, tenant, requests_per_s=0.01)
    assert api.get("/v1/namespaces").status_code == 200
    assert refused(api.get("/v1/namespaces")) == (429, "rate_limited")
    answer = httpx.get(f"{api.base_url}/v1/namespaces", headers=other_tenant.headers)
    assert answer.status_code == 200


def test_settings_hold_for_tenants_without_their_own(
    database_url: str, settings: Settings, tenant: Tenant
) -> None:
    stingy = settings_for(database_url, tenant_turns_per_day=1)
    with served(stingy) as url, httpx.Client(base_url=url, headers=tenant.headers) as client:
        assert client.post(f"{HOME}/turns", json=turn("r0")).status_code == 201
        assert refused(client.post(f"{HOME}/turns", json=turn("r1"))) == (429, "quota_turns")
        limited(settings, tenant, turns_per_day=None)
        assert client.post(f"{HOME}/turns", json=turn("r1")).status_code == 201


def test_a_limit_of_tokens_caps_whatever_budget_the_tenant_sets(
    api: httpx.Client, settings: Settings, tenant: Tenant
) -> None:
    limited(settings, tenant, tokens_per_day=1_000)
    api.patch("/v1/policy", json={"tenant_token_budget": 5_000})
    assert api.get("/v1/policy").json()["policy"]["tenant_token_budget"] == 1_000
    assert api.get("/v1/usage").json()["today"]["tenant_budget"] == 1_000
    api.patch("/v1/policy", json={"tenant_token_budget": 500})
    assert api.get("/v1/usage").json()["today"]["tenant_budget"] == 500


def test_no_key_of_a_tenant_can_raise_its_limits(
    api: httpx.Client, settings: Settings, tenant: Tenant, database: Database
) -> None:
    limited(settings, tenant, turns_per_day=0)
    assert api.patch("/v1/policy", json={"turns_per_day": 9}).status_code == 422
    with (
        pytest.raises(Exception, match="permission denied"),
        database.write(tenant.tenant_id) as tx,
    ):
        tx.connection.exec_driver_sql("UPDATE tenants SET limits = '{}'")


def run(app: Any, *words: str) -> Any:
    get_settings.cache_clear()
    done = CliRunner().invoke(app, [*words, "--json"])
    get_settings.cache_clear()
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_command_line_sets_and_shows_limits(environment: Tenant, database: Database) -> None:
    tenant_id = environment.tenant_id
    (view,) = run(tenant_app, "limits", tenant_id, "--turns-per-day", "7", "--storage-bytes", "off")
    assert view == {
        "tenant_id": tenant_id,
        "requests_per_s": None,
        "turns_per_day": 7,
        "tokens_per_day": None,
        "storage_bytes": None,
        "jobs_in_flight": None,
    }
    (view,) = run(tenant_app, "limits", tenant_id, "--turns-per-day", "default")
    assert view["turns_per_day"] is None
    with database.read(tenant_id) as tx:
        entries = list_entries(tx, action="limits_changed")
    assert [dict(e.entry.detail) for e in entries] == [
        {"storage_bytes": None},
        {"storage_bytes": None, "turns_per_day": 7},
    ]
    wrong = CliRunner().invoke(tenant_app, ["limits", tenant_id, "--turns-per-day", "many"])
    assert wrong.exit_code == 2


def test_the_command_line_rotates_and_revokes_keys(environment: Tenant, with_key: Any) -> None:
    tenant_id = environment.tenant_id
    (key,) = run(key_app, "create", "--tenant", tenant_id)
    (new,) = run(key_app, "rotate", key["key_id"], "--tenant", tenant_id, "--overlap-s", "0")
    assert with_key(key["key"]).get("/v1/namespaces").status_code == 401
    assert with_key(new["key"]).get("/v1/namespaces").status_code == 200
    listed = run(key_app, "list", "--tenant", tenant_id)
    assert listed[0]["key_id"] == key["key_id"]
    run(key_app, "revoke", key["key_id"], "--tenant", tenant_id)
    assert with_key(new["key"]).get("/v1/namespaces").status_code == 401
