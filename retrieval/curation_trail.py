"""What people decided about an event, read from the audit log: who, when, what and why."""

from __future__ import annotations

from retrieval.event_cards import CurationCard
from retrieval.outgoing import shown_text
from retrieval.times import shown_in_zone
from shared.store.audit import StoredAudit
from shared.store.curation import decisions_about
from shared.store.database import ReadTx

_MOST = 50


def curation_of(tx: ReadTx, event_id: str) -> list[CurationCard]:
    """Return the latest decisions about an event, newest first, at most 50."""
    return [_card(stored) for stored in decisions_about(tx, event_id, limit=_MOST)]


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
