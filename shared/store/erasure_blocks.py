"""What of a block is left when turns of it go, and what depends on the events that go."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.domain.layers import render_layers
from shared.store.database import ReadTx
from shared.store.erasure_selection import BlockLoss
from shared.store.messages import turns_range

_FORMED = text(
    """
    SELECT max(namespace_turn) FROM turns
    WHERE tenant_id = :tenant_id AND namespace = :namespace AND thread_id = :thread_id
      AND sequence BETWEEN :first AND :last AND turn_id <> ALL(:gone)
    """
).bindparams(bindparam("gone", type_=ARRAY(Text)))
_SUPERSEDED = text(
    """
    SELECT event_id FROM events WHERE tenant_id = :tenant_id AND superseded_by = ANY(:ids)
      AND namespace = :namespace
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))
_PLACES = text(
    """
    SELECT b.block_id, b.thread_id, b.formed_turn FROM blocks AS b
    WHERE b.tenant_id = :tenant_id AND b.block_id = ANY(:ids)
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))
_CARRIED = text(
    """
    SELECT event_id, derivation_version FROM carried_events
    WHERE tenant_id = :tenant_id AND event_id = ANY(:ids)
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))


def rebuilt_block(
    tx: ReadTx, namespace: str, block: BlockLoss, *, gone: Collection[str]
) -> dict[str, Any]:
    """Return a block as it is without the turns that go: its levels 3 to 5 and its times."""
    stored = turns_range(
        tx, namespace, block.thread_id, first=block.start_turn, last=block.end_turn
    )
    messages = [one.message for one in stored if one.turn_id not in gone]
    layers = render_layers(messages)
    times = [one.occurred_at for one in messages if one.occurred_at is not None]
    formed = tx.connection.execute(
        _FORMED,
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "thread_id": block.thread_id,
            "first": block.start_turn,
            "last": block.end_turn,
            "gone": list(gone),
        },
    ).scalar_one()
    return {
        "block_id": block.block_id,
        "formed_turn": formed,
        "started_at": min(times),
        "ended_at": max(times),
        "layers": {
            "5": [layers.l5, layers.tokens["l5"]],
            "4": [layers.l4, layers.tokens["l4"]],
            "3": [layers.l3, layers.tokens["l3"]],
        },
    }


def superseded_by(tx: ReadTx, namespace: str, event_ids: Sequence[str]) -> list[str]:
    """Return the events that stand again when these go."""
    values = {"tenant_id": tx.tenant_id, "namespace": namespace, "ids": list(event_ids)}
    return list(tx.connection.execute(_SUPERSEDED, values).scalars())


def places_of(tx: ReadTx, block_ids: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return (thread, namespace turn at which it was formed) of blocks."""
    values = {"tenant_id": tx.tenant_id, "ids": list(block_ids)}
    rows = tx.connection.execute(_PLACES, values)
    return {row.block_id: (row.thread_id, row.formed_turn) for row in rows}


def carried_into(tx: ReadTx, event_ids: Collection[str]) -> dict[str, list[int]]:
    """Return the derivations, beside its own, that each event was carried over into."""
    found: dict[str, list[int]] = {}
    values = {"tenant_id": tx.tenant_id, "ids": list(event_ids)}
    for event_id, version in tx.connection.execute(_CARRIED, values):
        found.setdefault(event_id, []).append(version)
    return found
