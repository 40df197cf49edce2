"""What became of a turn: its block, its jobs, and the events that cite it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from shared.store.database import ReadTx
from shared.store.tables import event_sources, events, messages
from shared.store.versions import in_version


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """One message of a turn, by id and role."""

    message_id: str
    role: str


def messages_of_turn(tx: ReadTx, turn_id: str) -> list[TurnMessage]:
    """Return the messages of a turn, in order."""
    rows = tx.connection.execute(
        select(messages.c.message_id, messages.c.role)
        .where(messages.c.tenant_id == tx.tenant_id, messages.c.turn_id == turn_id)
        .order_by(messages.c.position)
    )
    return [TurnMessage(row.message_id, row.role) for row in rows]


def events_citing(
    tx: ReadTx, message_ids: Collection[str], *, version: int, statuses: Sequence[str]
) -> list[str]:
    """Return the events of one version that rest on any of the messages, oldest first."""
    if not message_ids:
        return []
    statement = (
        select(events.c.event_id)
        .join(
            event_sources,
            (event_sources.c.tenant_id == events.c.tenant_id)
            & (event_sources.c.event_id == events.c.event_id),
        )
        .where(
            events.c.tenant_id == tx.tenant_id,
            in_version(version),
            events.c.status.in_(statuses),
            event_sources.c.message_id.in_(message_ids),
        )
        .distinct()
        .order_by(events.c.event_id)
    )
    return list(tx.connection.execute(statement).scalars())
