"""Settle contradictions: keep one side, which supersedes the other, or both; or reopen.

Keeping one is the same atomic step as any supersession, so that search, context, graph and the
advisories of the gate follow at once; reopening takes back exactly that step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.curation import Curation, check_revision, follow_in_graph, kept_reason
from ingest.schemas.curation import ResolveIn
from shared.domain.curation import ConflictState, plan_keep, plan_reopen
from shared.domain.redaction import redact
from shared.domain.supersession import StatusChange, applied
from shared.domain.temporal.zones import local
from shared.domain.tenancy import Caller
from shared.errors import Conflict, InvalidInput
from shared.store.audit import AuditEntry, record
from shared.store.conflicts import (
    KEPT_BOTH,
    StoredConflict,
    get_conflict,
    lock_conflict,
    save_decision,
    withdraw_decision,
)
from shared.store.curation import curated, reasons_of, save_curation, state_of, successors_of
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import await_projection
from shared.store.event_writes import lock_events
from shared.store.events import StoredEvent, events_by_id
from shared.store.messages import StoredMessage, messages_by_id

_EXCERPT = 500


def resolve_conflict(
    tx: WriteTx, curation: Curation, conflict_id: str, *, asked: ResolveIn
) -> dict[str, Any]:
    """Settle or reopen a contradiction; return its id and whether that changed anything.

    Raises NotFound without such a one; InvalidInput for a `keep` that is no side of it; Conflict:
    `stale_revision`, `conflict_resolved` (settled otherwise: reopen it first), `conflict_closed`
    (an event of it is forgotten, archived, superseded or removed).
    """
    namespace = curation.namespace.namespace
    await_projection(tx, namespace)
    lock_conflict(tx, namespace, conflict_id)
    conflict = get_conflict(tx, namespace, conflict_id)
    lock_events(tx, conflict.event_ids)
    conflict = get_conflict(tx, namespace, conflict_id)
    check_revision(conflict.revision, asked.expected_revision)
    if asked.reopen:
        is_changed = _reopen(tx, curation, conflict, reason=asked.reason)
    else:
        kept = _kept(conflict, asked)
        is_changed = _settle(tx, curation, conflict, kept=kept, reason=asked.reason)
    return {"conflict_id": conflict_id, "changed": is_changed}


def conflict_views(tx: ReadTx, found: Sequence[StoredConflict]) -> list[dict[str, Any]]:
    """Return contradictions as the API shows them: both sides with quotes and source messages."""
    events = events_by_id(tx, {name for one in found for name in one.event_ids})
    sources = {name for event in events.values() for name in event.source_message_ids}
    messages = messages_by_id(tx, sources)
    reasons = reasons_of(tx, [one.conflict_id for one in found if one.decision is not None])
    return [_view(one, events, messages, reasons.get(one.conflict_id)) for one in found]


def _kept(conflict: StoredConflict, asked: ResolveIn) -> str | None:
    """Return which side is kept, None for both."""
    if asked.keep == KEPT_BOTH:
        return None
    if asked.keep not in conflict.event_ids:
        raise InvalidInput.at(
            "/keep", "give the id of one of the conflict's two events, or 'both'", "invalid_value"
        )
    return asked.keep


def _settle(
    tx: WriteTx,
    curation: Curation,
    conflict: StoredConflict,
    *,
    kept: str | None,
    reason: str | None,
) -> bool:
    if conflict.state is ConflictState.RESOLVED:
        if conflict.kept_event_id == kept:
            return False
        raise Conflict("it is settled otherwise; reopen it first", code="conflict_resolved")
    if conflict.state is ConflictState.CLOSED:
        raise Conflict(
            f"it is closed ({conflict.closed_reason}) and needs no decision", code="conflict_closed"
        )
    told = kept_reason(reason)
    save_decision(tx, conflict, kept=kept, key_id=curation.caller.key_id)
    changes: tuple[StatusChange, ...] = ()
    if kept is not None:
        events = events_by_id(tx, conflict.event_ids)
        (other,) = (name for name in conflict.event_ids if name != kept)
        changes = (plan_keep(state_of(events[kept]), state_of(events[other])),)
    _apply(tx, curation, conflict, changes)
    detail = {"keep": kept or KEPT_BOTH, "reason": told}
    _audit(tx, curation.caller, conflict, "conflict_resolved", detail, changes)
    return True


def _reopen(
    tx: WriteTx, curation: Curation, conflict: StoredConflict, *, reason: str | None
) -> bool:
    if conflict.state is not ConflictState.RESOLVED:
        return False
    events = events_by_id(tx, conflict.event_ids)
    if len(events) < len(conflict.event_ids):
        raise Conflict(
            "an event of it was removed; nothing is left to decide", code="conflict_closed"
        )
    changes: tuple[StatusChange, ...] = ()
    kept = conflict.kept_event_id
    if kept is not None:
        (other,) = (name for name in conflict.event_ids if name != kept)
        changes = plan_reopen(kept, state_of(events[other]), successors=successors_of(tx, other))
    withdraw_decision(tx, conflict)
    _apply(tx, curation, conflict, changes)
    detail = {"was_kept": kept or KEPT_BOTH, "reason": kept_reason(reason)}
    _audit(tx, curation.caller, conflict, "conflict_reopened", detail, changes)
    return True


def _apply(
    tx: WriteTx, curation: Curation, conflict: StoredConflict, changes: Sequence[StatusChange]
) -> None:
    events = events_by_id(tx, [change.event_id for change in changes])
    for change in changes:
        before = curated(events[change.event_id])
        after = type(before)(applied(before.state, change), before.pinned, before.criticality)
        save_curation(tx, after)
    follow_in_graph(tx, curation, conflict.event_ids)


def _audit(
    tx: WriteTx,
    caller: Caller,
    conflict: StoredConflict,
    action: str,
    detail: Mapping[str, Any],
    changes: Sequence[StatusChange],
) -> None:
    """Write the decision once for the contradiction and once for each event of it."""
    moved = {change.event_id: change.status.value for change in changes}
    for subject in (conflict.conflict_id, *conflict.event_ids):
        facts = dict(detail)
        if subject in conflict.event_ids:
            facts["conflict_id"] = conflict.conflict_id
        if subject in moved:
            facts["after"] = {"status": moved[subject]}
        record(
            tx,
            AuditEntry(
                action,
                key_id=caller.key_id,
                namespace=conflict.namespace,
                subject=subject,
                detail=facts,
            ),
        )


def _view(
    conflict: StoredConflict,
    events: Mapping[str, StoredEvent],
    messages: Mapping[str, StoredMessage],
    reason: str | None,
) -> dict[str, Any]:
    resolution = None
    if conflict.decision is not None and conflict.decided_at is not None:
        resolution = {
            "keep": conflict.kept_event_id or KEPT_BOTH,
            "reason": reason,
            "key_id": conflict.decided_by,
            "decided_at": conflict.decided_at.isoformat(),
        }
    return {
        "conflict_id": conflict.conflict_id,
        "state": conflict.state.value,
        "closed_reason": conflict.closed_reason,
        "events": [_side(name, events.get(name), messages) for name in conflict.event_ids],
        "resolution": resolution,
        "revision": conflict.revision,
        "created_at": conflict.created_at.isoformat(),
    }


def _side(
    event_id: str, event: StoredEvent | None, messages: Mapping[str, StoredMessage]
) -> dict[str, Any]:
    if event is None:
        nothing = ("status", "title", "summary", "superseded_by", "mentioned_at")
        return {
            "event_id": event_id,
            **dict.fromkeys(nothing),
            "quotes": [],
            "source_messages": [],
        }
    said = event.mentioned_at
    return {
        "event_id": event_id,
        "status": event.status.value,
        "title": redact(event.title),
        "summary": redact(event.summary),
        "superseded_by": event.superseded_by,
        "mentioned_at": None if said is None else local(said, event.zone).isoformat(),
        "quotes": [{"message_id": q.message_id, "text": redact(q.text)} for q in event.quotes],
        "source_messages": [
            _message(messages[name]) for name in event.source_message_ids if name in messages
        ],
    }


def _message(stored: StoredMessage) -> dict[str, Any]:
    message = stored.message
    said = message.occurred_at
    return {
        "message_id": message.id,
        "turn_id": stored.turn_id,
        "thread_id": message.thread_id or "unthreaded",
        "role": message.role.value,
        "name": message.name,
        "content": redact(message.content)[:_EXCERPT],
        "occurred_at": None if said is None else local(said, message.zone).isoformat(),
    }
