"""The audit log: who did what to what; rows are only ever added, and hold no message text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import audit_log


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action: by which key, on what, with which facts beside it."""

    action: str
    key_id: str | None = None
    namespace: str | None = None
    subject: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredAudit:
    """An entry with its id and the time at which it was written."""

    audit_id: str
    entry: AuditEntry
    created_at: datetime


def record(tx: WriteTx, entry: AuditEntry) -> str:
    """Add an entry in the transaction of what it tells, and return its id."""
    # Time-ordered like every id, under a prefix of its own: entries are never addressed by clients.
    audit_id = "aud_" + new_id(Prefix.REQUEST).partition("_")[2]
    tx.connection.execute(
        insert(audit_log).values(
            tenant_id=tx.tenant_id,
            audit_id=audit_id,
            namespace=entry.namespace,
            key_id=entry.key_id,
            action=entry.action,
            subject=entry.subject,
            detail=dict(entry.detail),
        )
    )
    return audit_id


def list_entries(
    tx: ReadTx,
    *,
    namespace: str | None = None,
    subject: str | None = None,
    action: str | None = None,
    before: str | None = None,
    limit: int = 50,
    only: Collection[str] | None = None,
) -> list[StoredAudit]:
    """Return entries, newest first, older than the id `before`; `only` those of namespaces."""
    statement = select(audit_log).where(audit_log.c.tenant_id == tx.tenant_id)
    for column, value in (("namespace", namespace), ("subject", subject), ("action", action)):
        if value is not None:
            statement = statement.where(audit_log.c[column] == value)
    if only is not None:
        statement = statement.where(audit_log.c.namespace.in_(only))
    if before is not None:
        statement = statement.where(audit_log.c.audit_id < before)
    rows = tx.connection.execute(statement.order_by(audit_log.c.audit_id.desc()).limit(limit))
    return [
        StoredAudit(
            row.audit_id,
            AuditEntry(row.action, row.key_id, row.namespace, row.subject, row.detail),
            row.created_at,
        )
        for row in rows
    ]
