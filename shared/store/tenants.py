"""Tenants: made and found by name on the migrating role's connection, for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, insert, or_, select, text

from shared.errors import Conflict, NotFound
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.database import owner_engine
from shared.store.tables import tenants


def create_tenant(settings: Settings, name: str) -> str:
    """Make a tenant and return its id; Conflict (`tenant_exists`) when the name is taken."""
    with _owner(settings) as connection:
        # Names are unique by this lock: a tenant is made rarely, and only here.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('tenants', 0))"))
        taken = select(tenants.c.tenant_id).where(tenants.c.name == name)
        if connection.execute(taken).first() is not None:
            raise Conflict("a tenant of that name exists already", code="tenant_exists")
        tenant_id = new_id(Prefix.TENANT)
        connection.execute(insert(tenants).values(tenant_id=tenant_id, name=name))
    return tenant_id


def find_tenant(settings: Settings, name_or_id: str) -> str:
    """Return the id of the tenant of that name or id; NotFound when there is none."""
    with _owner(settings) as connection:
        known = select(tenants.c.tenant_id).where(
            or_(tenants.c.name == name_or_id, tenants.c.tenant_id == name_or_id)
        )
        tenant_id: str | None = connection.execute(known).scalar()
    if tenant_id is None:
        raise NotFound("no such tenant")
    return tenant_id


def list_tenants(settings: Settings) -> list[tuple[str, str]]:
    """Return (id, name) of every tenant, oldest first."""
    with _owner(settings) as connection:
        rows = connection.execute(
            select(tenants.c.tenant_id, tenants.c.name).order_by(tenants.c.tenant_id)
        )
        return [(row.tenant_id, row.name) for row in rows]


@contextmanager
def _owner(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()
