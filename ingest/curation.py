"""Curate an event: forget, archive, restore, pin, say how critical it is. Never its text.

Each change is one audit row with what was before, so that every one can be seen and taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.schemas.curation import CurationPatch
from shared.domain.curation import Curated, CurationWish, plan_curation
from shared.domain.events import EventStatus
from shared.domain.jobs import FollowUp, JobKind
from shared.domain.redaction import redact
from shared.domain.tenancy import Caller
from shared.domain.weights import event_weight
from shared.errors import Conflict, NotFound
from shared.store.audit import AuditEntry, record
from shared.store.curated_nodes import reindex_nodes
from shared.store.curation import curated, save_curation
from shared.store.database import WriteTx
from shared.store.derivation_locks import await_projection
from shared.store.event_writes import lock_events
from shared.store.events import VISIBLE, StoredEvent, events_by_id
from shared.store.jobs import enqueue
from shared.store.namespaces import NamespaceRow


@dataclass(frozen=True, slots=True)
class Curation:
    """Who curates which namespace, and when; `max_attempts` is that of jobs."""

    caller: Caller
    namespace: NamespaceRow
    now: datetime
    max_attempts: int


def curate_event(
    tx: WriteTx, curation: Curation, event_id: str, *, asked: CurationPatch
) -> dict[str, Any]:
    """Change what people may change of an event, and return how it stands.

    An event that stands like that already is left alone, without an audit row. Raises NotFound
    when the namespace has no such event, Conflict (`stale_revision`) when it was curated since
    the revision that the caller expects.
    """
    namespace = curation.namespace
    _find(tx, namespace, event_id)
    if asked.status is not None:
        await_projection(tx, namespace.namespace)
    lock_events(tx, [event_id])
    event = _find(tx, namespace, event_id)
    check_revision(event.curation_revision, asked.expected_revision)
    before = curated(event)
    after = plan_curation(before, _wish(asked))
    revision, audit_id = event.curation_revision, None
    if after != before:
        revision = save_curation(tx, after)
        if after.state.status is not before.state.status:
            follow_in_graph(tx, curation, [event_id], restored=_restored(event, after))
        audit_id = _audit(tx, curation.caller, event, (before, after), reason=asked.reason)
    return {
        "event_id": event_id,
        **_standing(after),
        "weight": _weight(namespace, event, after),
        "curation_revision": revision,
        "changed": after != before,
        "audit_id": audit_id,
    }


def follow_in_graph(
    tx: WriteTx,
    curation: Curation,
    event_ids: Sequence[str],
    *,
    restored: StoredEvent | None = None,
) -> None:
    """Let the graph be found as it is seen now; call while holding the projection's lock.

    What was set aside before its block was projected is projected when it is restored.
    """
    namespace = curation.namespace
    projected = reindex_nodes(tx, namespace.namespace, event_ids, now=curation.now)
    if restored is not None and not projected and namespace.policy.stages.project:
        work = FollowUp(JobKind.PROJECT, restored.block_id)
        enqueue(tx, namespace.namespace, work, max_attempts=curation.max_attempts)


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


def _find(tx: WriteTx, namespace: NamespaceRow, event_id: str) -> StoredEvent:
    event = events_by_id(tx, [event_id]).get(event_id)
    if event is None or event.namespace != namespace.namespace:
        raise NotFound("no such event")
    return event


def _restored(event: StoredEvent, after: Curated) -> StoredEvent | None:
    """Return the event if it was set aside and is to be seen again."""
    return event if event.status not in VISIBLE and after.state.status in VISIBLE else None


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
