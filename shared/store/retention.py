"""Which namespaces hold turns beyond their retention: asked as the queue role, over all tenants."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text

from shared.store.database import QueueTx, ReadTx

_DUE = text("SELECT tenant_id, namespace, days FROM retention_due(:most)")


@dataclass(frozen=True, slots=True)
class RetentionDue:
    """A namespace whose oldest turn was stored longer ago than its policy keeps any, in days."""

    tenant_id: str
    namespace: str
    days: int


def retention_due(tx: QueueTx, *, most: int) -> list[RetentionDue]:
    """Return up to `most` namespaces that are due and have no erasure running."""
    rows = tx.connection.execute(_DUE, {"most": most})
    return [RetentionDue(row.tenant_id, row.namespace, row.days) for row in rows]


def cutoff_of(tx: ReadTx, days: int) -> str:
    """Return the instant so many days ago, by the database's clock, which also stamps turns."""
    instant: str = (
        tx.connection.execute(text("SELECT now() - make_interval(days => :days)"), {"days": days})
        .scalar_one()
        .isoformat()
    )
    return instant
