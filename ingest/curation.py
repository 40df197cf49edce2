"""Curate an event: forget, archive, restore, pin, say how critical it is. Never its text.

Each change is one audit row with what was before, so that every one can be seen and taken back.
"""

from __future__ import annotations

from typing import Any

from ingest.schemas.curation import CurationPatch
from shared.domain.curation import Curated, CurationWish, plan_curation
from shared.domain.events import EventStatus
from shared.domain.redaction import redact
from shared.domain.tenancy import Caller
from shared.domain.weights import event_weight
from shared.errors import Conflict, NotFound
from shared.store.audit import AuditEntry, record
from shared.store.curation import curated, save_curation
from shared.store.database import WriteTx
from shared.store.event_writes import lock_events
from shared.store.events import StoredEvent, events_by_id
from shared.store.namespaces import NamespaceRow


def curate_event(
    tx: WriteTx, caller: Caller, namespace: NamespaceRow, event_id: str, *, asked: CurationPatch
) -> dict[str, Any]:
    """Change what people may change of an event, and return how it stands.

    An event that stands like that already is left alone, without an audit row. Raises NotFound
    when the namespace has no such event, Conflict (`stale_revision`) when it was curated since
    the revision that the caller expects.
    """
    lock_events(tx, [event_id])
    event = events_by_id(tx, [event_id]).get(event_id)
    if event is None or event.namespace != namespace.namespace:
        raise NotFound("no such event")
    check_revision(event.curation_revision, asked.expected_revision)
    before = curated(event)
    after = plan_curation(before, _wish(asked))
    revision, audit_id = event.curation_revision, None
    if after != before:
        revision = save_curation(tx, after)
        audit_id = _audit(tx, caller, event, (before, after), reason=asked.reason)
    return {
        "event_id": event_id,
        **_standing(after),
        "weight": _weight(namespace, event, after),
        "curation_revision": revision,
        "changed": after != before,
        "audit_id": audit_id,
    }


def check_revision(present: int, expected: int | None) -> None:
    """Raise Conflict (`stale_revision`) when a decision rests on what has changed since."""
    if expected is not None and expected != present:
        raise Conflict(
            f"it was changed since: the revision is {present} now; read it again, then decide",
            code="stale_revision",
        )


def kept_reason(reason: str | None) -> str | None:
    """Return a reason as it is kept: redacted, as every text that readers see."""
    return redact(reason.strip()) if reason and reason.strip() else None


def _wish(asked: CurationPatch) -> CurationWish:
    status = None if asked.status is None else EventStatus(asked.status)
    return CurationWish(status, asked.pinned, asked.criticality)


def _audit(
    tx: WriteTx,
    caller: Caller,
    event: StoredEvent,
    change: tuple[Curated, Curated],
    *,
    reason: str | None,
) -> str:
    before, after = (_standing(one) for one in change)
    changed = [name for name in after if after[name] != before[name]]
    return record(
        tx,
        AuditEntry(
            "event_curated",
            key_id=caller.key_id,
            namespace=event.namespace,
            subject=event.event_id,
            detail={
                "before": {name: before[name] for name in changed},
                "after": {name: after[name] for name in changed},
                "reason": kept_reason(reason),
            },
        ),
    )


def _standing(event: Curated) -> dict[str, Any]:
    state = event.state
    return {
        "status": state.status.value,
        "status_before": state.status_before.value if state.status_before else None,
        "superseded_by": state.superseded_by,
        "pinned": event.pinned,
        "criticality": event.criticality.value,
    }


def _weight(namespace: NamespaceRow, event: StoredEvent, after: Curated) -> float:
    weight = event_weight(
        namespace.turn_count - event.last_adopted_turn,
        event.mention_count,
        criticality=after.criticality,
        status=after.state.status,
        pinned=after.pinned,
    )
    return round(weight, 6)
