from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from sqlalchemy import Connection, column, func, select, table, text
from sqlalchemy.exc import ProgrammingError

from shared.settings import Settings
from shared.store.database import Database, owner_engine
from tests.integration.ingest.serving import turn
from tests.support.databases import Tenant

NAMESPACE = "project:bridge"
SOURCE_TABLES = ("turns", "messages", "blocks", "block_layers")


@contextmanager
def owner(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def with_data(api: httpx.Client, tenant: Tenant) -> Tenant:
    """A tenant with a row in each table that ingest writes."""
    api.post(f"/v1/namespaces/{NAMESPACE}/turns", json=turn("r1", thread_id="t"))
    api.post(f"/v1/namespaces/{NAMESPACE}/threads/t/seal")
    api.get("/v1/namespaces/nowhere")
    return tenant


def tenant_tables(connection: Connection) -> list[str]:
    statement = """
        SELECT c.relname FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
        WHERE c.relkind IN ('r', 'p') AND c.relname <> 'alembic_version'
        ORDER BY c.relname
    """
    return list(connection.execute(text(statement)).scalars())


def rows_of(connection: Connection, name: str) -> int:
    statement = select(func.count()).select_from(table(name))
    return int(connection.execute(statement).scalar_one())


def test_every_table_has_a_tenant_and_forced_row_security(settings: Settings) -> None:
    with owner(settings) as connection:
        tables = tenant_tables(connection)
        columns = connection.execute(
            text(
                "SELECT table_name FROM information_schema.columns "
                "WHERE table_schema = 'public' AND column_name = 'tenant_id' AND is_nullable = 'NO'"
            )
        )
        with_tenant = set(columns.scalars())
        forced = connection.execute(
            text("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
        )
        protected = set(forced.scalars())
    assert len(tables) > 15
    assert set(tables) <= with_tenant
    assert set(tables) <= protected


def test_a_session_without_a_tenant_sees_no_row_of_any_table(
    settings: Settings, database: Database, with_data: Tenant
) -> None:
    with owner(settings) as connection:
        tables = tenant_tables(connection)
        filled = {name for name in tables if rows_of(connection, name)}
    kept = {"tenants", "api_keys", "jobs", "audit_log", "search_documents"}
    assert {*SOURCE_TABLES, *kept} <= filled
    seen = {}
    for name in tables:
        with database.anonymous() as connection:
            readable = connection.execute(
                text("SELECT has_table_privilege(:name, 'SELECT')"), {"name": name}
            ).scalar_one()
            if readable:
                seen[name] = rows_of(connection, name)
    assert set(SOURCE_TABLES) <= seen.keys()
    assert {name: count for name, count in seen.items() if count} == {}


def test_a_tenant_sees_its_own_rows_alone_whatever_its_sql_asks_for(
    database: Database, with_data: Tenant, other_tenant: Tenant
) -> None:
    for viewer, expected in ((with_data, {with_data.tenant_id}), (other_tenant, set())):
        for name in (*SOURCE_TABLES, "jobs", "search_documents", "request_receipts"):
            with database.read(viewer.tenant_id) as tx:
                statement = select(column("tenant_id")).select_from(table(name))
                owners = tx.connection.execute(statement)
                assert set(owners.scalars()) == expected, name


def test_a_tenant_cannot_write_rows_of_another(
    database: Database, tenant: Tenant, other_tenant: Tenant
) -> None:
    statement = "INSERT INTO namespaces (tenant_id, namespace) VALUES (:tenant_id, 'x')"
    with (
        pytest.raises(ProgrammingError, match="row-level security"),
        database.write(tenant.tenant_id) as tx,
    ):
        tx.connection.execute(text(statement), {"tenant_id": other_tenant.tenant_id})


@pytest.mark.parametrize("name", SOURCE_TABLES)
@pytest.mark.parametrize("statement", ["DELETE FROM {name}", "UPDATE {name} SET tenant_id = ''"])
def test_the_app_role_can_neither_change_nor_delete_what_was_said(
    database: Database, with_data: Tenant, name: str, statement: str
) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        database.write(with_data.tenant_id) as tx,
    ):
        tx.connection.execute(text(statement.format(name=name)))


def test_the_tenant_of_a_transaction_does_not_outlive_it(
    settings: Settings, database: Database, with_data: Tenant
) -> None:
    # As often as there are connections, so that each one that was lent is looked at again.
    for _ in range(2 * settings.pool_size):
        with database.read(with_data.tenant_id) as tx:
            assert tx.connection.execute(text("SELECT count(*) FROM turns")).scalar_one() == 1
        with database.anonymous() as connection:
            assert connection.execute(text("SELECT count(*) FROM turns")).scalar_one() == 0
