"""Tenants: made and found on the migrating role's connection, for the command line.

Names are labels for people and may repeat; the id alone tells tenants apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, insert, or_, select

from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.database import owner_engine, unavailable_when_away
from shared.store.tables import tenants


def create_tenant(settings: Settings, name: str) -> str:
    """Make a tenant and return its id."""
    tenant_id = new_id(Prefix.TENANT)
    with _owner(settings) as connection:
        connection.execute(insert(tenants).values(tenant_id=tenant_id, name=name))
    return tenant_id


def find_tenants(settings: Settings, name_or_id: str | None = None) -> list[tuple[str, str]]:
    """Return (id, name) of the tenants of that name or id, or of all, oldest first."""
    statement = select(tenants.c.tenant_id, tenants.c.name).order_by(tenants.c.tenant_id)
    if name_or_id is not None:
        statement = statement.where(
            or_(tenants.c.name == name_or_id, tenants.c.tenant_id == name_or_id)
        )
    with _owner(settings) as connection:
        return [(row.tenant_id, row.name) for row in connection.execute(statement)]


@contextmanager
def _owner(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    try:
        with unavailable_when_away(), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()
