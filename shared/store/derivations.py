"""Events shared by derivations: carried over, and with a standing in each of them (D19).

An event's own row tells its standing in the live derivation; for the others, `carried_events`
keeps its successor. What people decided (forgotten, archived, pinned) holds in all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select, text, update

from shared.domain.events import EventStatus
from shared.domain.supersession import StatusChange
from shared.store.database import ReadTx, WriteTx
from shared.store.event_writes import apply_status_changes
from shared.store.events import VISIBLE, StoredEvent
from shared.store.search_index import copy_documents
from shared.store.tables import carried_events

_CARRY = text(
    """
    INSERT INTO carried_events (tenant_id, event_id, derivation_version, namespace, superseded_by)
    SELECT e.tenant_id, e.event_id, :version, e.namespace, e.superseded_by FROM events e
    WHERE e.tenant_id = :tenant_id AND e.namespace = :namespace AND e.event_id = ANY(:event_ids)
      AND e.derivation_version <> :version
    ON CONFLICT DO NOTHING
    """
)

_BELONGS = """(e.derivation_version = {0} OR EXISTS (
        SELECT FROM carried_events b WHERE b.tenant_id = e.tenant_id AND b.event_id = e.event_id
        AND b.derivation_version = {0}))"""

_STASH = text(
    f"""
    INSERT INTO carried_events (tenant_id, event_id, derivation_version, namespace, superseded_by)
    SELECT e.tenant_id, e.event_id, :live, e.namespace, e.superseded_by FROM events e
    WHERE e.tenant_id = :tenant_id AND e.namespace = :namespace
      AND {_BELONGS.format(":live")} AND {_BELONGS.format(":next")}
    ON CONFLICT (tenant_id, event_id, derivation_version)
        DO UPDATE SET superseded_by = excluded.superseded_by
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)

# A successor that the derivation does not hold supersedes nothing in it.
_TAKE_UP = text(
    f"""
    WITH standing AS (
        SELECT c.event_id, (
            SELECT e.event_id FROM events e
            WHERE e.tenant_id = c.tenant_id AND e.event_id = c.superseded_by
              AND {_BELONGS.format(":next")}) AS successor
        FROM carried_events c
        WHERE c.tenant_id = :tenant_id AND c.namespace = :namespace
          AND c.derivation_version = :next
    )
    UPDATE events e SET
        superseded_by = standing.successor,
        status = CASE WHEN e.status IN ('forgotten', 'archived') THEN e.status
                      WHEN standing.successor IS NULL THEN 'active' ELSE 'superseded' END,
        status_before = CASE WHEN e.status NOT IN ('forgotten', 'archived') THEN NULL
                             WHEN standing.successor IS NULL THEN 'active'
                             ELSE 'superseded' END
    FROM standing
    WHERE e.tenant_id = :tenant_id AND e.event_id = standing.event_id
      AND e.superseded_by IS DISTINCT FROM standing.successor
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)


def carry_over(
    tx: WriteTx,
    namespace: str,
    event_ids: Sequence[str],
    *,
    from_version: int,
    to_version: int,
) -> None:
    """Let events belong to another derivation too, with id, weight, pin and status as they are."""
    if not event_ids or from_version == to_version:
        return
    tx.connection.execute(
        _CARRY,
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "event_ids": list(event_ids),
            "version": to_version,
        },
    )
    copy_documents(
        tx,
        namespace,
        event_ids,
        from_version=str(from_version),
        to_version=str(to_version),
    )


def successors_in(tx: ReadTx, event_ids: Collection[str], *, version: int) -> dict[str, str | None]:
    """Return, for carried events of a derivation, the successor that each has in it."""
    if not event_ids:
        return {}
    statement = select(carried_events.c.event_id, carried_events.c.superseded_by).where(
        carried_events.c.tenant_id == tx.tenant_id,
        carried_events.c.derivation_version == version,
        carried_events.c.event_id.in_(event_ids),
    )
    rows = tx.connection.execute(statement)
    return {row.event_id: row.superseded_by for row in rows}


def as_in(tx: ReadTx, found: Mapping[str, StoredEvent], *, version: int) -> dict[str, StoredEvent]:
    """Return events, by their keys, with the standing that they have in a derivation not live."""
    successors = successors_in(tx, {one.event_id for one in found.values()}, version=version)
    return {
        key: _standing(event, successors[event.event_id]) if event.event_id in successors else event
        for key, event in found.items()
    }


def apply_changes_in(tx: WriteTx, changes: Collection[StatusChange], *, version: int) -> None:
    """Give events a new standing in a derivation that is not live; the live one's stays."""
    carried = successors_in(tx, {change.event_id for change in changes}, version=version)
    for change in changes:
        if change.event_id in carried:
            tx.connection.execute(
                update(carried_events)
                .where(
                    carried_events.c.tenant_id == tx.tenant_id,
                    carried_events.c.event_id == change.event_id,
                    carried_events.c.derivation_version == version,
                )
                .values(superseded_by=change.superseded_by)
            )
    apply_status_changes(tx, [one for one in changes if one.event_id not in carried])


def exchange_standings(tx: WriteTx, namespace: str, *, live: int, next_version: int) -> None:
    """Keep the shared events' standing in the live derivation, and take up the next one's."""
    values = {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "live": live,
        "next": next_version,
    }
    tx.connection.execute(_STASH, values)
    tx.connection.execute(_TAKE_UP, values)


def _standing(event: StoredEvent, successor: str | None) -> StoredEvent:
    base = EventStatus.SUPERSEDED if successor else EventStatus.ACTIVE
    if event.status not in VISIBLE:
        return replace(event, superseded_by=successor, status_before=base)
    return replace(event, superseded_by=successor, status=base)
