"""Databases for tests: one template, migrated once a run, and clones of it.

Tests share a clone and are kept apart by tenancy itself: each takes a tenant of its own. A test
of the queue, which sees all tenants, takes a clone of its own.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field

import psycopg
from psycopg import sql
from pydantic import SecretStr
from sqlalchemy.engine import make_url

from shared.auth import issue_key
from shared.domain.tenancy import Permission
from shared.settings import Settings
from shared.store.database import Database
from shared.store.migrate import migrate
from shared.store.tenants import create_tenant
from tests.support.servers import test_postgres_url

_TEMPLATE_LOCK = 5_190_021
ALL = frozenset(Permission)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A tenant of one test, with the text of its keys by name."""

    tenant_id: str
    admin_key: str
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request with the tenant's admin key."""
        return {"Authorization": f"Bearer {self.admin_key}"}


def clone_database(of: str | None = None) -> str:
    """Return the URL of a fresh, migrated database on the run's server.

    With `of`, a copy of that database as it is, which nobody may be connected to.
    """
    name = f"t_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(_admin_url(), autocommit=True) as connection:
        # Held until the clone stands: Postgres copies a template only while nobody uses it.
        connection.execute("SELECT pg_advisory_lock(%s)", [_TEMPLATE_LOCK])
        template = make_url(of).database if of else _template(connection)
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template or "")
            )
        )
    return _url_of(name)


def drop_database(url: str) -> None:
    """Drop a clone and cut whoever is still connected."""
    name = make_url(url).database
    with psycopg.connect(_admin_url(), autocommit=True) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name or ""))
        )


def settings_for(url: str, **overrides: object) -> Settings:
    """Return settings on one database, with what a test wants otherwise."""
    return Settings(database_url=SecretStr(url), **{"pool_size": 5} | overrides)  # type: ignore[arg-type] # fields by name


def new_tenant(settings: Settings, database: Database, name: str = "test") -> Tenant:
    """Make a tenant with an admin key."""
    tenant_id = create_tenant(settings, name)
    with database.write(tenant_id) as tx:
        issued = issue_key(tx, label="test", permissions=ALL)
    return Tenant(tenant_id, issued.key)


def _template(connection: psycopg.Connection) -> str:
    run = os.environ.get("STRATAGATE_TEST_RUN", "alone").replace("-", "_")
    name = f"template_{run}"
    exists = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
    if exists is None:
        making = f"{name}_making"
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(making))
        )
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(making)))
        migrate(settings_for(_url_of(making)))
        connection.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                sql.Identifier(making), sql.Identifier(name)
            )
        )
    return name


def _admin_url() -> str:
    return test_postgres_url()


def _url_of(database: str) -> str:
    return make_url(_admin_url()).set(database=database).render_as_string(hide_password=False)
