"""Turns and messages: written once, read in order; readers get the redacted view (D38)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, Row, Text, any_, bindparam, insert, select

from shared.domain.turns import UNTHREADED, Message, Origin, Role
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.direct import Direct
from shared.store.tables import messages, turns

_LAST = 2**31 - 1
"""Beyond every turn of a thread."""
_RANGE = Direct(
    select(messages)
    .where(
        messages.c.tenant_id == bindparam("tenant_id"),
        messages.c.namespace == bindparam("namespace"),
        messages.c.thread_id == bindparam("thread_id"),
        messages.c.turn_sequence.between(bindparam("first"), bindparam("last")),
    )
    .order_by(messages.c.turn_sequence, messages.c.position)
)
_BY_ID = Direct(
    select(messages).where(
        messages.c.tenant_id == bindparam("tenant_id"),
        messages.c.message_id == any_(bindparam("ids", type_=ARRAY(Text))),
    )
)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to store: what was sent, and the redacted view where that differs."""

    message: Message
    redacted_content: str | None = None
    redacted_tool_calls: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn to store, with its place in the thread and in the namespace."""

    turn_id: str
    namespace: str
    thread_id: str
    sequence: int
    namespace_turn: int
    receipt_id: str | None
    occurred_at: datetime
    zone: str
    time_basis: str
    messages: tuple[NewMessage, ...]
    agent: Mapping[str, Any] | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message with its place: which turn, and where in it."""

    message: Message
    turn_id: str
    turn_sequence: int
    position: int


def insert_turn(tx: WriteTx, turn: NewTurn) -> None:
    """Store a turn and its messages."""
    tx.connection.execute(
        insert(turns).values(
            tenant_id=tx.tenant_id,
            turn_id=turn.turn_id,
            namespace=turn.namespace,
            thread_id=turn.thread_id,
            sequence=turn.sequence,
            namespace_turn=turn.namespace_turn,
            receipt_id=turn.receipt_id,
            occurred_at=turn.occurred_at,
            zone=turn.zone,
            time_basis=turn.time_basis,
            agent=turn.agent,
            labels=dict(turn.labels),
            metadata=dict(turn.metadata),
            size_bytes=turn.size_bytes,
        )
    )
    tx.connection.execute(
        insert(messages),
        [_values(tx, turn, position, new) for position, new in enumerate(turn.messages)],
    )


def turns_range(
    tx: ReadTx,
    namespace: str,
    thread_id: str,
    *,
    first: int,
    last: int | None,
    original: bool = False,
) -> list[StoredMessage]:
    """Return the messages of the thread's turns `first` to `last` (inclusive), in order.

    `original` gives what was sent instead of the redacted view; for `admin` readers alone.
    """
    most = _LAST if last is None else last
    rows = _RANGE.rows(tx, namespace=namespace, thread_id=thread_id, first=first, last=most)
    return [_stored(row, original=original) for row in rows]


def messages_by_id(
    tx: ReadTx, message_ids: Collection[str], *, original: bool = False
) -> dict[str, StoredMessage]:
    """Return this tenant's messages of those ids; unknown ids are left out."""
    if not message_ids:
        return {}
    rows = _BY_ID.rows(tx, ids=list(message_ids))
    return {row.message_id: _stored(row, original=original) for row in rows}


def last_turn_of(tx: ReadTx, namespace: str, thread_id: str, sequence: int) -> Row[Any]:
    """Return the turn row that stands last of the thread up to `sequence`: erasures leave gaps."""
    return tx.connection.execute(
        select(turns)
        .where(
            turns.c.tenant_id == tx.tenant_id,
            turns.c.namespace == namespace,
            turns.c.thread_id == thread_id,
            turns.c.sequence <= sequence,
        )
        .order_by(turns.c.sequence.desc())
        .limit(1)
    ).one()


def get_turn(tx: ReadTx, namespace: str, turn_id: str) -> Row[Any]:
    """Return one turn row; NotFound when this namespace has none of that id."""
    row = tx.connection.execute(
        select(turns).where(
            turns.c.tenant_id == tx.tenant_id,
            turns.c.namespace == namespace,
            turns.c.turn_id == turn_id,
        )
    ).one_or_none()
    if row is None:
        raise NotFound("no such turn")
    return row


def _values(tx: WriteTx, turn: NewTurn, position: int, new: NewMessage) -> dict[str, Any]:
    message = new.message
    return {
        "tenant_id": tx.tenant_id,
        "message_id": message.id,
        "namespace": turn.namespace,
        "thread_id": turn.thread_id,
        "turn_id": turn.turn_id,
        "turn_sequence": turn.sequence,
        "position": position,
        "role": message.role.value,
        "name": message.name,
        "origin": message.origin.value if message.origin else None,
        "content": message.content,
        "redacted_content": new.redacted_content,
        "tool_calls": [dict(call) for call in message.tool_calls],
        "redacted_tool_calls": new.redacted_tool_calls,
        "tool_call_id": message.tool_call_id,
        "occurred_at": message.occurred_at or turn.occurred_at,
        "zone": message.zone,
        "metadata": dict(message.metadata),
    }


def _stored(row: Row[Any], *, original: bool) -> StoredMessage:
    content, calls = row.content, row.tool_calls
    if not original:
        content = row.redacted_content if row.redacted_content is not None else content
        calls = row.redacted_tool_calls if row.redacted_tool_calls is not None else calls
    message = Message(
        id=row.message_id,
        role=Role(row.role),
        content=content,
        occurred_at=row.occurred_at,
        zone=row.zone,
        thread_id=None if row.thread_id == UNTHREADED else row.thread_id,
        name=row.name,
        origin=Origin(row.origin) if row.origin else None,
        tool_calls=tuple(calls),
        tool_call_id=row.tool_call_id,
        metadata=row.metadata,
    )
    return StoredMessage(message, row.turn_id, row.turn_sequence, row.position)
