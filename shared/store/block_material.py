"""A block with the redacted view of its messages, as columns beside another row.

The messages come as one JSON value: two dozen rows of as many columns cost more to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from shared.domain.turns import UNTHREADED, Message, Origin, Role
from shared.errors import NotFound
from shared.store.block_surroundings import Around, around_in, around_of
from shared.store.blocks import BlockRow, get_block
from shared.store.database import ReadTx
from shared.store.messages import turns_range

_OF_BLOCK: Final = (
    "block_id",
    "namespace",
    "thread_id",
    "sequence",
    "start_turn",
    "end_turn",
    "formed_turn",
    "started_at",
    "ended_at",
    "created_at",
)
_OF_STATE: Final = (
    "status",
    "anchor_level",
    "anchor_position",
    "lifted_at",
    "lifted_by",
    "ready_at",
)
_PREFIX: Final = "of_"

BLOCK_COLUMNS: Final = ", ".join(
    [
        "b.messages AS messages",
        "a.around",
        "a.has_events",
        *(f"b.{_PREFIX}{name}" for name in (*_OF_BLOCK, *_OF_STATE)),
    ]
)
"""SQL: the columns of `block_of`, for `block_material` to read."""


@dataclass(frozen=True, slots=True)
class BlockMaterial:
    """A sealed block, what was said in it, in order, as models may see it, and what is around it.

    `around` is of the live derivation, and there only where an extraction is to read the block.
    """

    block: BlockRow
    messages: tuple[Message, ...]
    around: Around | None = None


def block_of(subject: str, *, is_extracted: str) -> str:
    """Return the SQL that joins the block whose id the SQL `subject` gives, if there is one.

    The row of its namespace is `n`; what lies around it is read where `is_extracted` holds.
    """
    columns = [f"b.{name} AS {_PREFIX}{name}" for name in _OF_BLOCK]
    columns += [f"s.{name} AS {_PREFIX}{name}" for name in _OF_STATE]
    # A turn that nothing was hidden in holds JSON's null, not SQL's, in its redacted calls.
    return f"""
    LEFT JOIN LATERAL (
        SELECT {", ".join(columns)}, (
            SELECT json_agg(json_build_array(
                m.message_id, m.role, coalesce(m.redacted_content, m.content), m.occurred_at,
                m.zone, m.thread_id, m.name, m.origin,
                coalesce(nullif(m.redacted_tool_calls, 'null'), m.tool_calls),
                m.tool_call_id, m.metadata) ORDER BY m.turn_sequence, m.position)
            FROM messages AS m
            WHERE m.tenant_id = :tenant_id AND m.namespace = b.namespace
              AND m.thread_id = b.thread_id
              AND m.turn_sequence BETWEEN b.start_turn AND b.end_turn
        ) AS messages
        FROM blocks AS b JOIN block_states AS s
          ON s.tenant_id = b.tenant_id AND s.block_id = b.block_id
        WHERE b.tenant_id = :tenant_id AND b.block_id = {subject}
    ) AS b ON true
    {around_of(is_extracted)}
    """  # noqa: S608 - joins constants of the code; every value is a parameter


def block_material(row: Any) -> BlockMaterial | None:
    """Return the block of a row that holds BLOCK_COLUMNS; None where there was none."""
    if row.of_block_id is None:
        return None
    values = {name: getattr(row, _PREFIX + name) for name in (*_OF_BLOCK, *_OF_STATE)}
    around = around_in(row) if row.around is not None else None
    return BlockMaterial(BlockRow(**values), tuple(map(_message, row.messages or ())), around)


def find_block_material(tx: ReadTx, block_id: str) -> BlockMaterial | None:
    """Return one block with its messages; None when this tenant has none of that id."""
    try:
        block = get_block(tx, block_id)
    except NotFound:
        return None
    stored = turns_range(
        tx, block.namespace, block.thread_id, first=block.start_turn, last=block.end_turn
    )
    return BlockMaterial(block, tuple(one.message for one in stored))


def _message(told: list[Any]) -> Message:
    message_id, role, content, at, zone, thread_id, name, origin, calls, call_id, metadata = told
    return Message(
        id=message_id,
        role=Role(role),
        content=content,
        occurred_at=datetime.fromisoformat(at),
        zone=zone,
        thread_id=None if thread_id == UNTHREADED else thread_id,
        name=name,
        origin=Origin(origin) if origin else None,
        tool_calls=tuple(calls),
        tool_call_id=call_id,
        metadata=metadata,
    )
