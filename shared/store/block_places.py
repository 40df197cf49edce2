"""Which block holds a turn: asked of each message that a search shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ARRAY, Integer, Text, bindparam, text

from shared.store.database import ReadTx
from shared.store.direct import Direct

# A thread's blocks do not overlap, so the last one that begins by a turn holds it or none does.
_HOLDING = Direct(
    text(
        """
        SELECT asked.thread_id, asked.turn, b.block_id, b.start_turn, b.end_turn
        FROM unnest(:threads, :turns) AS asked(thread_id, turn) CROSS JOIN LATERAL (
            SELECT b.block_id, b.start_turn, b.end_turn FROM blocks AS b
            WHERE b.tenant_id = :tenant_id AND b.namespace = :namespace
              AND b.thread_id = asked.thread_id AND b.start_turn <= asked.turn
            ORDER BY b.start_turn DESC LIMIT 1) AS b
        WHERE b.end_turn >= asked.turn
        """
    ).bindparams(
        bindparam("threads", type_=ARRAY(Text)),
        bindparam("turns", type_=ARRAY(Integer)),
    )
)


@dataclass(frozen=True, slots=True)
class Holder:
    """A block that holds a turn, and the turns it holds."""

    block_id: str
    start_turn: int
    end_turn: int


def blocks_holding(
    tx: ReadTx, namespace: str, places: Collection[tuple[str, int]]
) -> dict[tuple[str, int], Holder]:
    """Return the block that holds each (thread, turn sequence); open-tail turns are left out."""
    asked = list(dict.fromkeys(places))
    if not asked:
        return {}
    rows = _HOLDING.rows(
        tx,
        namespace=namespace,
        threads=[thread for thread, _ in asked],
        turns=[turn for _, turn in asked],
    )
    return {
        (row.thread_id, row.turn): Holder(row.block_id, row.start_turn, row.end_turn)
        for row in rows
    }
