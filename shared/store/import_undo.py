"""What undoing an import looks at and takes back: dependants, statuses, links, documents.

The events and their source stay as rows; once the import is marked undone, row level security
hides them from every reader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, Text, bindparam, delete, or_, select, text, update

from shared.domain.events import EventStatus
from shared.domain.supersession import EventState, StatusChange, plan_release
from shared.store.database import ReadTx, WriteTx
from shared.store.event_writes import apply_status_changes
from shared.store.tables import carried_events, event_links, events, version_blocks

# Whatever else reaches for the events of an import: what came after it builds on them. `targets`
# are events that the import itself linked to.
_DEPENDANTS = text(
    """
    SELECT 'supersedes' AS kind, l.event_id AS id FROM event_links l
    WHERE l.tenant_id = :tenant_id AND l.other_event_id = ANY(:ids) AND l.kind = 'supersedes'
      AND l.event_id <> ALL(:ids)
    UNION
    SELECT 'conflicts_with', l.event_id FROM event_links l
    WHERE l.tenant_id = :tenant_id AND l.other_event_id = ANY(:ids)
      AND l.kind = 'conflicts_with' AND l.event_id <> ALL(:ids)
      AND l.event_id <> ALL(:targets)
    UNION
    SELECT 'said_again', s.message_id FROM event_sources s
    WHERE s.tenant_id = :tenant_id AND s.event_id = ANY(:ids) AND s.message_id NOT IN (
        SELECT m.message_id FROM messages m WHERE m.tenant_id = :tenant_id
        AND m.thread_id = :thread_id)
    UNION
    SELECT 'used', r.receipt_id FROM use_receipt_events u
    JOIN use_receipts r USING (tenant_id, use_receipt_id)
    WHERE u.tenant_id = :tenant_id AND u.event_id = ANY(:ids)
    ORDER BY kind, id
    """
).bindparams(
    bindparam("ids", type_=ARRAY(Text)),
    bindparam("targets", type_=ARRAY(Text)),
)


@dataclass(frozen=True, slots=True)
class Dependant:
    """Something later that rests on an import.

    `kind` is supersedes or conflicts_with (an event), said_again (a message that states an
    imported event once more) or used (the receipt of an answer).
    """

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Touched:
    """When an event that an import superseded was changed last, before it and by it."""

    before: datetime
    after: datetime


def show_undone(tx: ReadTx) -> None:
    """Let this transaction see the sources of undone imports: for an erasure, which takes them."""
    tx.connection.execute(text("SELECT set_config('app.undone', 'shown', true)"))


def dependants_of(
    tx: ReadTx, event_ids: Collection[str], *, targets: Collection[str], thread_id: str
) -> list[Dependant]:
    """Return what came after an import and rests on its events."""
    rows = tx.connection.execute(
        _DEPENDANTS,
        {
            "tenant_id": tx.tenant_id,
            "ids": list(event_ids),
            "targets": list(targets),
            "thread_id": thread_id,
        },
    )
    return [Dependant(row.kind, row.id) for row in rows]


def changed_at(tx: ReadTx, event_ids: Collection[str]) -> dict[str, datetime]:
    """Return when each event was changed last."""
    rows = tx.connection.execute(
        select(events.c.event_id, events.c.updated_at).where(
            events.c.tenant_id == tx.tenant_id, events.c.event_id.in_(event_ids)
        )
    )
    return {row.event_id: row.updated_at for row in rows}


def release_events(
    tx: WriteTx, leaving: Collection[str], touched: Mapping[str, Touched]
) -> list[str]:
    """Give what leaving events superseded back its standing, and return those events.

    One that nothing else has changed since is as it was to the moment of its last change.
    """
    rows = tx.connection.execute(
        select(
            events.c.event_id,
            events.c.status,
            events.c.status_before,
            events.c.superseded_by,
            events.c.updated_at,
        )
        .where(events.c.tenant_id == tx.tenant_id, events.c.superseded_by.in_(leaving))
        .order_by(events.c.event_id)
    ).all()
    states = [
        EventState(
            id=row.event_id,
            status=EventStatus(row.status),
            superseded_by=row.superseded_by,
            status_before=EventStatus(row.status_before) if row.status_before else None,
        )
        for row in rows
    ]
    heirs = _superseders(tx, [one.id for one in states])
    changes = plan_release(leaving, states, superseders=heirs)
    apply_status_changes(tx, changes)
    _restore_moments(tx, changes, {row.event_id: row.updated_at for row in rows}, touched)
    _release_carried(tx, leaving)
    return [change.event_id for change in changes]


def unlink_events(tx: WriteTx, event_ids: Collection[str]) -> None:
    """Remove every link from or to the events."""
    tx.connection.execute(
        delete(event_links).where(
            event_links.c.tenant_id == tx.tenant_id,
            or_(event_links.c.event_id.in_(event_ids), event_links.c.other_event_id.in_(event_ids)),
        )
    )


def forget_block_in_versions(tx: WriteTx, block_id: str) -> None:
    """Let no version that is built or kept wait for a block any more."""
    tx.connection.execute(
        delete(version_blocks).where(
            version_blocks.c.tenant_id == tx.tenant_id, version_blocks.c.block_id == block_id
        )
    )


def _superseders(tx: ReadTx, event_ids: Sequence[str]) -> dict[str, list[str]]:
    rows = tx.connection.execute(
        select(event_links.c.event_id, event_links.c.other_event_id)
        .where(
            event_links.c.tenant_id == tx.tenant_id,
            event_links.c.kind == "supersedes",
            event_links.c.other_event_id.in_(event_ids),
        )
        .order_by(event_links.c.created_at, event_links.c.event_id)
    )
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.other_event_id, []).append(row.event_id)
    return found


def _restore_moments(
    tx: WriteTx,
    changes: Sequence[StatusChange],
    now_at: Mapping[str, datetime],
    touched: Mapping[str, Touched],
) -> None:
    for change in changes:
        known = touched.get(change.event_id)
        if known is not None and now_at[change.event_id] == known.after:
            tx.connection.execute(
                update(events)
                .where(events.c.tenant_id == tx.tenant_id, events.c.event_id == change.event_id)
                .values(updated_at=known.before)
            )


def _release_carried(tx: WriteTx, leaving: Collection[str]) -> None:
    # In derivations that are not live, a standing is its successor alone.
    tx.connection.execute(
        update(carried_events)
        .where(
            carried_events.c.tenant_id == tx.tenant_id, carried_events.c.superseded_by.in_(leaving)
        )
        .values(superseded_by=None)
    )
