"""Write events: insert whole, then move only status, links and weight (D14, D25)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from sqlalchemy import func, select, update

from shared.domain.events import EventDraft
from shared.domain.supersession import StatusChange
from shared.store.database import WriteTx
from shared.store.direct import Direct, Rows, as_json, insertion
from shared.store.events import EventLink, hash_fingerprint, shown, span_of
from shared.store.tables import event_links, event_sources, events

_COLUMNS = (
    "event_id",
    "namespace",
    "thread_id",
    "block_id",
    "derivation_version",
    "job_id",
    "title",
    "summary",
    "narrative",
    "tags",
    "quotes",
    "participants",
    "event_type",
    "scope",
    "criticality",
    "category",
    "mentioned_at",
    "zone",
    "happened_start",
    "happened_end",
    "happened_from",
    "happened_until",
    "precision",
    "basis",
    "time_status",
    "original_text",
    "fingerprint",
    "formed_turn",
    "last_adopted_turn",
)
_SOURCE_COLUMNS = ("event_id", "message_id", "position")
# One statement: foreign keys are checked at its end, when the events are there.
_ADD = Direct(
    f"WITH added AS ({insertion(events, _COLUMNS, 'events')}) "
    + insertion(event_sources, _SOURCE_COLUMNS, "sources")
)
_ADD_SOURCES = Direct(
    """
    INSERT INTO event_sources (tenant_id, event_id, message_id, position)
    SELECT CAST(:tenant_id AS text), CAST(:event_id AS text), m.message_id,
           m.place - 1 + (SELECT count(*) FROM event_sources AS s
                          WHERE s.tenant_id = :tenant_id AND s.event_id = :event_id)
    FROM unnest(CAST(:message_ids AS text[])) WITH ORDINALITY AS m(message_id, place)
    ON CONFLICT DO NOTHING
    """
)
_LINKS = Rows(event_links, ("event_id", "kind", "other_event_id"), skips_known=True)
_CHANGE_STATUS = Direct(
    """
    UPDATE events SET status = :status, status_before = :status_before,
        superseded_by = :superseded_by, updated_at = now()
    WHERE tenant_id = :tenant_id AND event_id = :event_id
    """
)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A validated event with its identity and its place on the clock of weights (D4)."""

    event_id: str
    draft: EventDraft
    namespace: str
    thread_id: str
    block_id: str
    derivation_version: int
    job_id: str
    formed_turn: int
    zone: tzinfo


def insert_events(tx: WriteTx, new_events: Sequence[NewEvent]) -> None:
    """Store events with their sources, active and with the weight of one mention."""
    if not new_events:
        return
    _ADD.run(
        tx,
        events=as_json([_values(new) for new in new_events]),
        sources=as_json(
            [
                {"event_id": new.event_id, "message_id": message_id, "position": position}
                for new in new_events
                for position, message_id in enumerate(dict.fromkeys(new.draft.source_message_ids))
            ]
        ),
    )


def add_sources(tx: WriteTx, event_id: str, message_ids: Sequence[str]) -> None:
    """Let an event rest on these messages too; ones it already rests on are left alone (D15)."""
    _ADD_SOURCES.run(tx, event_id=event_id, message_ids=list(message_ids))


def apply_status_changes(tx: WriteTx, changes: Collection[StatusChange]) -> None:
    """Give events their new standing; nothing else of them changes."""
    for change in sorted(changes, key=lambda change: change.event_id):
        _CHANGE_STATUS.run(
            tx,
            event_id=change.event_id,
            status=change.status.value,
            status_before=change.status_before.value if change.status_before else None,
            superseded_by=change.superseded_by,
        )


def add_links(tx: WriteTx, links: Collection[EventLink]) -> None:
    """Link events; a link that exists is left alone."""
    _LINKS.insert(
        tx,
        [
            {"event_id": link.event_id, "kind": link.kind, "other_event_id": link.other_event_id}
            for link in links
        ],
    )


def lock_events(tx: WriteTx, event_ids: Collection[str]) -> None:
    """Lock events in order of their ids, so that two writers never wait crosswise."""
    tx.connection.execute(
        select(events.c.event_id)
        .where(events.c.tenant_id == tx.tenant_id, events.c.event_id.in_(event_ids))
        .order_by(events.c.event_id)
        .with_for_update(key_share=True)
    ).all()


def reinforce(tx: WriteTx, event_ids: Collection[str], *, turn: int) -> None:
    """Count one use of each event at the namespace turn `turn`; forgotten ones are left alone."""
    tx.connection.execute(
        update(events)
        .where(
            events.c.tenant_id == tx.tenant_id,
            events.c.event_id.in_(event_ids),
            events.c.status.in_(["active", "superseded"]),
        )
        .values(
            mention_count=events.c.mention_count + 1,
            last_adopted_turn=func.greatest(events.c.last_adopted_turn, turn),
            updated_at=func.now(),
        )
    )


def _values(new: NewEvent) -> dict[str, object]:
    draft, time = new.draft, new.draft.time
    begin, until = span_of(time.happened_start, time.happened_end, new.zone)
    return {
        "event_id": new.event_id,
        "namespace": new.namespace,
        "thread_id": new.thread_id,
        "block_id": new.block_id,
        "derivation_version": new.derivation_version,
        "job_id": new.job_id,
        "title": draft.title,
        "summary": draft.summary,
        "narrative": draft.narrative,
        "tags": list(draft.tags),
        "quotes": [{"message_id": q.message_id, "text": q.text} for q in draft.quotes],
        "participants": list(draft.participants),
        "event_type": draft.event_type.value,
        "scope": draft.scope.value,
        "criticality": draft.criticality.value,
        "category": draft.category,
        "mentioned_at": time.mentioned_at,
        "zone": time.zone,
        "happened_start": shown(time.happened_start),
        "happened_end": shown(time.happened_end),
        "happened_from": begin,
        "happened_until": until,
        "precision": time.precision,
        "basis": time.basis,
        "time_status": time.status,
        "original_text": time.original_text,
        "fingerprint": hash_fingerprint(draft.fingerprint),
        "formed_turn": new.formed_turn,
        "last_adopted_turn": new.formed_turn,
    }
