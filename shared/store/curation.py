"""Write what people decided about an event, and nothing else of it (D14)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import func, select, update

from shared.domain.curation import Curated
from shared.domain.supersession import EventState
from shared.store.audit import AuditEntry, StoredAudit
from shared.store.database import ReadTx, WriteTx
from shared.store.events import StoredEvent
from shared.store.tables import audit_log, event_links, events

DECISIONS: Final = ("event_curated", "conflict_resolved", "conflict_reopened")
"""The actions in the audit log that are decisions about an event."""


def curated(event: StoredEvent) -> Curated:
    """Return of a stored event what people may change."""
    return Curated(state_of(event), event.pinned, event.criticality)


def state_of(event: StoredEvent) -> EventState:
    """Return of a stored event what the planning of links needs."""
    return EventState(
        id=event.event_id,
        status=event.status,
        superseded_by=event.superseded_by,
        status_before=event.status_before,
        said_at=event.mentioned_at,
        fingerprint=event.fingerprint,
    )


def save_curation(tx: WriteTx, wanted: Curated) -> int:
    """Store an event's standing, pin and criticality; return its curation revision, counted up.

    Call while holding the event's lock (`lock_events`).
    """
    state = wanted.state
    revision: int = tx.connection.execute(
        update(events)
        .where(events.c.tenant_id == tx.tenant_id, events.c.event_id == state.id)
        .values(
            status=state.status.value,
            status_before=state.status_before.value if state.status_before else None,
            superseded_by=state.superseded_by,
            pinned=wanted.pinned,
            criticality=wanted.criticality.value,
            curation_revision=events.c.curation_revision + 1,
            updated_at=func.now(),
        )
        .returning(events.c.curation_revision)
    ).scalar_one()
    return revision


def decisions_about(tx: ReadTx, event_id: str, *, limit: int) -> list[StoredAudit]:
    """Return the audit entries of what people decided about an event, newest first."""
    statement = (
        select(audit_log)
        .where(
            audit_log.c.tenant_id == tx.tenant_id,
            audit_log.c.subject == event_id,
            audit_log.c.action.in_(DECISIONS),
        )
        .order_by(audit_log.c.audit_id.desc())
        .limit(limit)
    )
    return [
        StoredAudit(
            row.audit_id,
            AuditEntry(row.action, row.key_id, row.namespace, row.subject, row.detail),
            row.created_at,
        )
        for row in tx.connection.execute(statement)
    ]


def reasons_of(tx: ReadTx, conflict_ids: Collection[str]) -> dict[str, str | None]:
    """Return why each contradiction was last settled, as its decision's audit entry tells."""
    if not conflict_ids:
        return {}
    rows = tx.connection.execute(
        select(audit_log.c.subject, audit_log.c.detail)
        .where(
            audit_log.c.tenant_id == tx.tenant_id,
            audit_log.c.subject.in_(conflict_ids),
            audit_log.c.action == "conflict_resolved",
        )
        .order_by(audit_log.c.audit_id)
    )
    return {row.subject: row.detail.get("reason") for row in rows}


def successors_of(tx: ReadTx, event_id: str) -> list[str]:
    """Return every event that claims to supersede this one, oldest claim first."""
    statement = (
        select(event_links.c.event_id)
        .where(
            event_links.c.tenant_id == tx.tenant_id,
            event_links.c.kind == "supersedes",
            event_links.c.other_event_id == event_id,
        )
        .order_by(event_links.c.created_at, event_links.c.event_id)
    )
    return list(tx.connection.execute(statement).scalars())
