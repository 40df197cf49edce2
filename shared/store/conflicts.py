"""Contradictions between two events: one row a pair, with what a person decided.

The row comes with the link that says it (a trigger of the schema). Whether it is open is told
from the events' standing at each read, so that forgetting closes it and restoring opens it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, and_, case, delete, func, or_, select, update

from shared.domain.curation import ConflictState
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.event_writes import add_links
from shared.store.events import EventLink
from shared.store.tables import carried_events, conflicts, event_links, events
from shared.store.versions import in_version, live_derivation

KEPT_ONE: Final = "one"
KEPT_BOTH: Final = "both"

_ONE = events.alias("one_event")
_OTHER = events.alias("other_event")


@dataclass(frozen=True, slots=True)
class StoredConflict:
    """One contradiction. `closed_reason` tells why it is closed; a decision, who settled it."""

    conflict_id: str
    namespace: str
    event_id: str
    other_event_id: str
    state: ConflictState
    closed_reason: str | None
    decision: str | None
    kept_event_id: str | None
    decided_by: str | None
    decided_at: datetime | None
    revision: int
    created_at: datetime

    @property
    def event_ids(self) -> tuple[str, str]:
        """Both sides, the older event first."""
        return (self.event_id, self.other_event_id)


def list_conflicts(
    tx: ReadTx,
    namespace: str,
    *,
    state: ConflictState | None,
    event_id: str | None = None,
    before: str | None = None,
    limit: int,
) -> list[StoredConflict]:
    """Return contradictions of the namespace, newest first, older than the id `before`.

    `state` None means every one; `event_id` those that the event is a side of.
    """
    statement = _select(tx).where(conflicts.c.namespace == namespace)
    if state is not None:
        statement = statement.where(_STATE.in_([state.value]))
    if event_id is not None:
        sides = (conflicts.c.event_id, conflicts.c.other_event_id)
        statement = statement.where(or_(*(side == event_id for side in sides)))
    if before is not None:
        statement = statement.where(conflicts.c.conflict_id < before)
    statement = statement.order_by(conflicts.c.conflict_id.desc()).limit(limit)
    return [_conflict(row) for row in tx.connection.execute(statement)]


def get_conflict(tx: ReadTx, namespace: str, conflict_id: str) -> StoredConflict:
    """Return one contradiction of the namespace; NotFound when it has none of that id."""
    row = tx.connection.execute(
        _select(tx).where(
            conflicts.c.namespace == namespace, conflicts.c.conflict_id == conflict_id
        )
    ).one_or_none()
    if row is None:
        raise NotFound("no such conflict")
    return _conflict(row)


def lock_conflict(tx: WriteTx, namespace: str, conflict_id: str) -> None:
    """Hold a contradiction's row until the commit; NotFound as `get_conflict`."""
    found = tx.connection.execute(
        select(conflicts.c.conflict_id)
        .where(
            conflicts.c.tenant_id == tx.tenant_id,
            conflicts.c.namespace == namespace,
            conflicts.c.conflict_id == conflict_id,
        )
        # Foreign keys' checks of what names it need not wait.
        .with_for_update(key_share=True)
    ).one_or_none()
    if found is None:
        raise NotFound("no such conflict")


def save_decision(tx: WriteTx, conflict: StoredConflict, *, kept: str | None, key_id: str) -> None:
    """Settle a contradiction: its links go, and with `kept` that event supersedes the other.

    The other's own standing is the caller's to change. What derivations beside the live one hold
    of the pair follows, since a person's decision counts in all of them.
    """
    _update(
        tx,
        conflict,
        decision=KEPT_BOTH if kept is None else KEPT_ONE,
        kept_event_id=kept,
        decided_by=key_id,
        decided_at=func.now(),
    )
    tx.connection.execute(delete(event_links).where(_is_link_between(tx, conflict)))
    if kept is not None:
        other = _other_side(conflict, kept)
        add_links(tx, [EventLink(kept, "supersedes", other)])
        _stand_in_other_derivations(tx, other, before=None, after=kept)


def withdraw_decision(tx: WriteTx, conflict: StoredConflict) -> None:
    """Open a settled contradiction again: its links stand, and the supersession's link goes."""
    _update(
        tx,
        conflict,
        decision=None,
        kept_event_id=None,
        decided_by=None,
        decided_at=None,
    )
    kept = conflict.kept_event_id
    if kept is not None:
        other = _other_side(conflict, kept)
        tx.connection.execute(
            delete(event_links).where(
                event_links.c.tenant_id == tx.tenant_id,
                event_links.c.kind == "supersedes",
                event_links.c.event_id == kept,
                event_links.c.other_event_id == other,
            )
        )
        _stand_in_other_derivations(tx, other, before=kept, after=None)
    one, two = conflict.event_ids
    kind = "conflicts_with"
    add_links(tx, [EventLink(one, kind, two), EventLink(two, kind, one)])


def _select(tx: ReadTx) -> Select[Any]:
    one = (_ONE.c.tenant_id == conflicts.c.tenant_id) & (_ONE.c.event_id == conflicts.c.event_id)
    other = (_OTHER.c.tenant_id == conflicts.c.tenant_id) & (
        _OTHER.c.event_id == conflicts.c.other_event_id
    )
    return (
        select(conflicts, _STATE.label("state"), _CLOSED_REASON.label("closed_reason"))
        .select_from(conflicts.outerjoin(_ONE, one).outerjoin(_OTHER, other))
        .where(conflicts.c.tenant_id == tx.tenant_id)
    )


def _either(status: str) -> ColumnElement[bool]:
    return or_(_ONE.c.status == status, _OTHER.c.status == status)


# Ordered by what explains most: a decision, then what became of the events.
_CLOSED_REASON = case(
    (conflicts.c.decision.is_not(None), None),
    (or_(_ONE.c.event_id.is_(None), _OTHER.c.event_id.is_(None)), "event_removed"),
    (_either("forgotten"), "event_forgotten"),
    (_either("archived"), "event_archived"),
    (_either("superseded"), "event_superseded"),
    (
        ~and_(
            in_version(live_derivation(_ONE), _ONE),
            in_version(live_derivation(_OTHER), _OTHER),
        ),
        "version_not_live",
    ),
    (
        ~select(event_links.c.event_id)
        .where(
            event_links.c.tenant_id == conflicts.c.tenant_id,
            event_links.c.event_id == conflicts.c.event_id,
            event_links.c.kind == "conflicts_with",
            event_links.c.other_event_id == conflicts.c.other_event_id,
        )
        .exists(),
        "link_removed",
    ),
)
_STATE = case(
    (conflicts.c.decision.is_not(None), ConflictState.RESOLVED.value),
    (_CLOSED_REASON.is_not(None), ConflictState.CLOSED.value),
    else_=ConflictState.OPEN.value,
)


def _update(tx: WriteTx, conflict: StoredConflict, **values: Any) -> None:
    tx.connection.execute(
        update(conflicts)
        .where(
            conflicts.c.tenant_id == tx.tenant_id,
            conflicts.c.conflict_id == conflict.conflict_id,
        )
        .values(revision=conflicts.c.revision + 1, **values)
    )


def _is_link_between(tx: ReadTx, conflict: StoredConflict) -> ColumnElement[bool]:
    return and_(
        event_links.c.tenant_id == tx.tenant_id,
        event_links.c.kind == "conflicts_with",
        event_links.c.event_id.in_(conflict.event_ids),
        event_links.c.other_event_id.in_(conflict.event_ids),
    )


def _stand_in_other_derivations(
    tx: WriteTx, event_id: str, *, before: str | None, after: str | None
) -> None:
    """Let an event have another successor wherever it had the one `before`."""
    tx.connection.execute(
        update(carried_events)
        .where(
            carried_events.c.tenant_id == tx.tenant_id,
            carried_events.c.event_id == event_id,
            carried_events.c.superseded_by.is_not_distinct_from(before),
        )
        .values(superseded_by=after)
    )


def _other_side(conflict: StoredConflict, kept: str) -> str:
    one, two = conflict.event_ids
    return two if kept == one else one


def _conflict(row: Row[Any]) -> StoredConflict:
    return StoredConflict(
        conflict_id=row.conflict_id,
        namespace=row.namespace,
        event_id=row.event_id,
        other_event_id=row.other_event_id,
        state=ConflictState(row.state),
        closed_reason=row.closed_reason,
        decision=row.decision,
        kept_event_id=row.kept_event_id,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        revision=row.revision,
        created_at=row.created_at,
    )
