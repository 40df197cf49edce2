"""What the database's catalogue says of the walls: for every table, role and function it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from shared.settings import Settings
from shared.store.database import Database, QueueDatabase, owner_engine
from tests.support.databases import Tenant

APP, QUEUE = "stratagate_app", "stratagate_queue"
TENANT = "(tenant_id = NULLIF(current_setting('app.tenant'::text, true), ''::text))"
OWN_TENANT = r"nullif\(current_setting\('app\.tenant', true\), ''\)"
DEFINERS = {
    # What runs with the owner's rights: who may call it, and what keeps tenants apart in it.
    "erasure_hash": (APP, OWN_TENANT),
    "ensure_erasure_key": (APP, OWN_TENANT),
    "erase_sources": (APP, rf"tenant text := {OWN_TENANT}[\s\S]*WHERE e\.tenant_id = tenant"),
    # Before a key is found nobody knows its tenant; a piece of its hash names one key.
    "find_api_keys": (APP, r"WHERE octet_length\(handle\) = 8"),
    # A trigger: of the row's own tenant, called by nobody.
    "refuse_erased_receipt": (None, r"k\.tenant_id = NEW\.tenant_id"),
    # For the operator's loops; they tell no text, and name a tenant beside each thing.
    "stored_vector_models": (QUEUE, r"SELECT v\.model, v\.dimension, count\(\*\)"),
    "retention_due": (QUEUE, r"SELECT n\.tenant_id, n\.namespace, p\.days"),
    "expire_exports": (QUEUE, r"c\.tenant_id = due\.tenant_id"),
}


@pytest.fixture
def catalogue(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def rows(connection: Connection, statement: str) -> list[Any]:
    return list(connection.execute(text(statement)).all())


def test_every_relation_that_holds_rows_is_a_table_behind_forced_row_security(
    catalogue: Connection,
) -> None:
    found = rows(
        catalogue,
        "SELECT c.relname, c.relkind::text, c.relrowsecurity AND c.relforcerowsecurity"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
        " AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
    )
    # Views would read with their owner's rights.
    assert {kind for _, kind, _ in found} <= {"r", "p"}
    assert [name for name, _, forced in found if not forced] == ["alembic_version"]


def test_what_a_policy_permits_the_app_role_is_its_own_tenant_alone(
    catalogue: Connection,
) -> None:
    policies = rows(
        catalogue,
        "SELECT tablename, permissive, roles::text[], cmd, qual, with_check FROM pg_policies",
    )
    permitting = [one for one in policies if one.permissive == "PERMISSIVE"]
    assert all(len(one.roles) == 1 and one.roles != ["public"] for one in policies)
    of_app = [one for one in permitting if one.roles == [APP]]
    assert len(of_app) > 40
    assert {(one.cmd, one.qual, one.with_check) for one in of_app} == {("ALL", TENANT, TENANT)}
    assert [one.tablename for one in permitting if one.roles == [QUEUE]] == ["jobs"]


def test_neither_role_owns_anything_or_passes_the_walls(catalogue: Connection) -> None:
    roles = rows(
        catalogue,
        "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication"
        " FROM pg_roles WHERE rolname IN ('stratagate_app', 'stratagate_queue')",
    )
    assert {name: any(rights) for name, *rights in roles} == {APP: False, QUEUE: False}
    owned = rows(
        catalogue,
        "SELECT relname FROM pg_class WHERE pg_get_userbyid(relowner) LIKE 'stratagate_%'"
        " UNION ALL SELECT proname FROM pg_proc"
        " WHERE pg_get_userbyid(proowner) LIKE 'stratagate_%'",
    )
    assert owned == []
    memberships = rows(
        catalogue,
        "SELECT pg_get_userbyid(member) FROM pg_auth_members"
        " WHERE pg_get_userbyid(member) LIKE 'stratagate_%'",
    )
    assert memberships == []
    creating = rows(
        catalogue,
        "SELECT has_schema_privilege('stratagate_app', 'public', 'CREATE'),"
        " has_schema_privilege('stratagate_queue', 'public', 'CREATE')",
    )
    assert tuple(creating[0]) == (False, False)


def test_the_queue_role_reads_jobs_and_writes_their_state_alone(catalogue: Connection) -> None:
    granted = rows(
        catalogue,
        "SELECT DISTINCT table_name, privilege_type FROM information_schema.column_privileges"
        " WHERE grantee = 'stratagate_queue'",
    )
    assert {tuple(one) for one in granted} == {("jobs", "SELECT"), ("jobs", "UPDATE")}
    written = rows(
        catalogue,
        "SELECT column_name FROM information_schema.column_privileges"
        " WHERE grantee = 'stratagate_queue' AND privilege_type = 'UPDATE'",
    )
    assert not {one[0] for one in written} & {"tenant_id", "job_id", "namespace", "payload"}


def test_the_queue_role_cannot_read_what_was_said(own_settings: Settings) -> None:
    queue = QueueDatabase(own_settings)
    try:
        with pytest.raises(ProgrammingError, match="permission denied"), queue.transaction() as tx:
            tx.connection.execute(text("SELECT content FROM messages"))
    finally:
        queue.close()


def test_what_runs_with_the_owners_rights_is_pinned_granted_to_one_and_holds_to_the_tenant(
    catalogue: Connection,
) -> None:
    found = rows(
        catalogue,
        "SELECT p.proname, p.proconfig, p.proacl::text[] AS granted, p.prosrc, p.prosecdef"
        " FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public'",
    )
    definers = {one.proname: one for one in found if one.prosecdef}
    assert definers.keys() == DEFINERS.keys()
    for name, one in definers.items():
        role, wall = DEFINERS[name]
        assert one.proconfig == ["search_path=pg_catalog, public"], name
        # One entry a role; an absent list would mean everybody.
        callers = {entry.partition("=")[0] for entry in one.granted}
        assert callers - {"postgres"} == ({role} if role else set()), name
        assert re.search(wall, one.prosrc), name
    # What everybody may call runs with the caller's own rights, and is a trigger at that.
    open_to_all = {one.proname for one in found if one.granted is None}
    assert not open_to_all & definers.keys()


@pytest.mark.parametrize("handle", [b"", b"\x00", b"\x00" * 7, b"\x00" * 9])
def test_no_piece_of_a_hash_lists_the_keys_of_all_tenants(
    database: Database, tenant: Tenant, other_tenant: Tenant, handle: bytes
) -> None:
    with database.anonymous() as connection:
        found = connection.execute(
            text("SELECT count(*) FROM find_api_keys(:handle)"), {"handle": handle}
        )
        assert found.scalar_one() == 0


def test_nobody_erases_without_an_erasure_of_ones_own_that_runs(
    database: Database, other_tenant: Tenant
) -> None:
    statement = text("SELECT erase_sources('era_' || repeat('0', 32), '{\"namespace\": 100}')")
    with (
        pytest.raises(Exception, match="no such erasure is running"),
        database.write(other_tenant.tenant_id) as tx,
    ):
        tx.connection.execute(statement)
