"""What people decided about an event, read from the audit log: who, when, what and why.

It stands beside an event that is read plainly; a tool's reply to a model has no use for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from retrieval.event_cards import EventDetail
from retrieval.event_chain import EventStanding
from retrieval.outgoing import shown_text
from retrieval.times import shown_in_zone
from shared.store.audit import StoredAudit
from shared.store.curation import decisions_about
from shared.store.database import ReadTx

_MOST = 50


@dataclass(frozen=True, slots=True)
class CurationCard:
    """One thing that a person decided about an event: what, when, by which key, and why."""

    audit_id: str
    action: str
    at: str
    key_id: str | None
    reason: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    conflict_id: str | None
    keep: str | None


@dataclass(frozen=True, slots=True)
class EventRecord(EventDetail):
    """An event whole, and what people decided about it, newest first, at most 50.

    `curation_revision` counts those decisions that changed it; `standing` places it among others.
    """

    curation_revision: int
    curation: list[CurationCard]
    standing: EventStanding


def event_record(
    tx: ReadTx, detail: EventDetail, *, curation_revision: int, standing: EventStanding
) -> EventRecord:
    """Return an event with what people decided about it."""
    shown = {field.name: getattr(detail, field.name) for field in fields(EventDetail)}
    found = decisions_about(tx, detail.event_id, limit=_MOST)
    return EventRecord(
        **shown,
        curation_revision=curation_revision,
        curation=[_card(stored) for stored in found],
        standing=standing,
    )


def _card(stored: StoredAudit) -> CurationCard:
    entry, detail = stored.entry, stored.entry.detail
    reason = detail.get("reason")
    return CurationCard(
        audit_id=stored.audit_id,
        action=entry.action,
        at=shown_in_zone(stored.created_at, "UTC"),
        key_id=entry.key_id,
        reason=shown_text(reason) if isinstance(reason, str) else None,
        before=dict(detail.get("before") or {}),
        after=dict(detail.get("after") or {}),
        conflict_id=detail.get("conflict_id"),
        keep=detail.get("keep"),
    )
