from __future__ import annotations

import httpx
import pytest

from shared.auth import issue_key
from shared.domain.tenancy import Permission
from shared.settings import Settings
from shared.store.audit import list_entries
from shared.store.database import Database
from tests.integration.ingest.serving import served, turn
from tests.support.databases import Tenant

POLICY = "/v1/policy"
FIRST, SECOND = "/v1/namespaces/project:first", "/v1/namespaces/project:second"


def test_the_default_holds_for_namespaces_that_say_nothing_themselves(api: httpx.Client) -> None:
    api.put(FIRST, json={"block_turn_size": 4})
    api.put(SECOND, json={})
    answer = api.patch(POLICY, json={"block_turn_size": 7, "language": "de"})
    assert answer.status_code == 200
    view = answer.json()
    assert view["overrides"] == {"block_turn_size": 7, "language": "de"}
    assert (view["policy"]["block_turn_size"], view["policy"]["block_decay_lambda"]) == (7, 0.3)
    assert view["namespaces_changed"] == 0
    assert api.get(FIRST).json()["policy"]["block_turn_size"] == 4
    assert api.get(FIRST).json()["policy"]["language"] == "de"
    assert api.get(SECOND).json()["policy"]["block_turn_size"] == 7
    api.post("/v1/namespaces/project:third/turns", json=turn("r1"))
    assert api.get("/v1/namespaces/project:third").json()["policy"]["block_turn_size"] == 7


def test_apply_to_existing_writes_the_given_fields_over_every_namespace(
    api: httpx.Client,
) -> None:
    own = {"block_turn_size": 4, "language": "fr", "stages": {"embed": True}}
    api.put(FIRST, json=own)
    api.put(SECOND, json={})
    change = {"block_turn_size": 5, "stages": {"project": False}, "apply_to_existing": True}
    view = api.patch(POLICY, json=change).json()
    assert view["namespaces_changed"] == 2
    first = api.get(FIRST).json()
    assert first["overrides"] == {
        "block_turn_size": 5,
        "language": "fr",
        "stages": {"embed": True, "project": False},
    }
    assert first["policy"]["stages"] == {"extract": True, "project": False, "embed": True}
    again = api.patch(POLICY, json=change).json()
    assert again["namespaces_changed"] == 0
    cleared = api.patch(POLICY, json={"language": None, "apply_to_existing": True}).json()
    assert cleared["namespaces_changed"] == 1
    assert "language" not in api.get(FIRST).json()["overrides"]


def test_apply_to_existing_alone_writes_all_that_the_default_says(api: httpx.Client) -> None:
    api.put(FIRST, json={"block_turn_size": 4})
    api.patch(POLICY, json={"block_turn_size": 9, "tenant_token_budget": 5})
    view = api.patch(POLICY, json={"apply_to_existing": True}).json()
    assert view["namespaces_changed"] == 1
    assert api.get(FIRST).json()["overrides"] == {"block_turn_size": 9}


def test_a_smaller_default_seals_full_tails_at_once_and_leaves_sealed_blocks(
    api: httpx.Client,
) -> None:
    for n in range(5):
        api.post(f"{FIRST}/turns", json=turn(f"r{n}", thread_id="t"))
    api.put(SECOND, json={"block_turn_size": 12})
    for n in range(5):
        api.post(f"{SECOND}/turns", json=turn(f"r{n}", thread_id="t"))
    view = api.patch(POLICY, json={"block_turn_size": 2}).json()
    assert len(view["sealed_block_ids"]) == 2  # of the namespace that follows the default
    assert api.get(SECOND).json()["block_count"] == 0
    view = api.patch(POLICY, json={"block_turn_size": 5, "apply_to_existing": True}).json()
    assert len(view["sealed_block_ids"]) == 1
    assert api.get(FIRST).json()["block_count"] == 2
    assert api.get(SECOND).json()["block_count"] == 1


def test_a_new_size_suggests_a_lambda_and_applies_it_only_when_asked(api: httpx.Client) -> None:
    view = api.patch(POLICY, json={"block_turn_size": 6}).json()
    assert view["suggested_block_decay_lambda"] == 0.15
    assert view["suggested_lambda_applied"] is False
    assert view["policy"]["block_decay_lambda"] == 0.3
    change = {"block_turn_size": 24, "apply_suggested_lambda": True}
    view = api.patch(POLICY, json=change).json()
    assert view["policy"]["block_decay_lambda"] == 1.2
    assert len(view["warnings"]) == 1


def test_the_default_survives_a_restart(api: httpx.Client, settings: Settings) -> None:
    api.patch(POLICY, json={"retention_days": 30, "max_output_tokens": 256})
    with served(settings) as url, httpx.Client(base_url=url, headers=api.headers) as restarted:
        assert restarted.get(POLICY).json()["overrides"] == {
            "retention_days": 30,
            "max_output_tokens": 256,
        }


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"provider": "openai"}, ""),
        ({"model": None}, ""),
        ({"max_output_tokens": 255}, "/max_output_tokens"),
        ({"tenant_token_budget": -1}, "/tenant_token_budget"),
        ({"apply_to_existing": "yes"}, "/apply_to_existing"),
        ({"block_decay_lambda": 0.2, "apply_suggested_lambda": True}, ""),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_a_default_that_breaks_a_rule_is_422(
    api: httpx.Client, body: dict[str, object], pointer: str
) -> None:
    answer = api.patch(POLICY, json=body)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert api.get(POLICY).json()["overrides"] == {}


def test_a_key_limited_to_namespaces_reads_but_does_not_change_the_default(
    api: httpx.Client, ingest_url: str, database: Database, tenant: Tenant
) -> None:
    with database.write(tenant.tenant_id) as tx:
        narrow = issue_key(
            tx, label="narrow", permissions={Permission.ADMIN}, namespaces=["project:first"]
        )
    headers = {"Authorization": f"Bearer {narrow.key}"}
    with httpx.Client(base_url=ingest_url, headers=headers) as client:
        assert client.get(POLICY).status_code == 200
        assert client.patch(POLICY, json={"language": "de"}).status_code == 403
    assert api.get(POLICY).json()["overrides"] == {}


def test_another_tenants_default_is_not_touched(
    api: httpx.Client, ingest_url: str, other_tenant: Tenant
) -> None:
    with httpx.Client(base_url=ingest_url, headers=other_tenant.headers) as other:
        other.put(FIRST, json={"language": "fr"})
        api.put(FIRST, json={})
        changed = api.patch(POLICY, json={"language": "de", "apply_to_existing": True}).json()
        assert changed["namespaces_changed"] == 1
        assert other.get(POLICY).json()["overrides"] == {}
        assert other.get(FIRST).json()["overrides"] == {"language": "fr"}


def test_a_change_of_the_default_is_audited(
    api: httpx.Client, database: Database, tenant: Tenant
) -> None:
    api.patch(POLICY, json={"language": "de"})
    with database.read(tenant.tenant_id) as tx:
        entries = list_entries(tx, action="default_policy_changed")
    assert [dict(e.entry.detail) for e in entries] == [
        {"language": "de", "apply_to_existing": False, "namespaces": 0}
    ]
