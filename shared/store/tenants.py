"""Tenants: made and found on the migrating role's connection, for the command line.

Names are labels for people and may repeat; the id alone tells tenants apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, insert, or_, select, update

from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import WriteTx, owner_engine, unavailable_when_away
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


def limits_of_tenant(settings: Settings, tenant_id: str) -> dict[str, Any]:
    """Return the limits that the operator set for a tenant; null is without a limit."""
    with _owner(settings) as connection:
        statement = select(tenants.c.limits).where(tenants.c.tenant_id == tenant_id)
        return dict(connection.execute(statement).scalar_one())


def set_limits(
    settings: Settings, tenant_id: str, change: Mapping[str, Any], *, to_default: Collection[str]
) -> dict[str, Any]:
    """Change a tenant's limits and return them; those in `to_default` follow the settings again.

    They hold from the tenant's next request on, on every process.
    """
    with _owner(settings) as connection:
        own = connection.execute(
            select(tenants.c.limits)
            .where(tenants.c.tenant_id == tenant_id)
            .with_for_update(key_share=True)
        ).scalar_one()
        limits = {name: v for name, v in own.items() if name not in to_default} | dict(change)
        connection.execute(
            update(tenants).where(tenants.c.tenant_id == tenant_id).values(limits=limits)
        )
        record(WriteTx(connection, tenant_id), AuditEntry("limits_changed", detail=limits))
    return limits


@contextmanager
def _owner(settings: Settings) -> Iterator[Connection]:
    engine = owner_engine(settings)
    try:
        with unavailable_when_away(), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()
