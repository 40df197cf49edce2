"""Bring blocks into a version built beside the live one: a job each, on the backfill queue."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from shared.domain.jobs import JobKind
from shared.domain.reprocessing import CARRIED, Reprocess, first_kind
from shared.domain.turns import IMPORT_THREADS
from shared.store.database import ReadTx, WriteTx
from shared.store.graph_versions import GraphVersion
from shared.store.tables import blocks
from shared.store.version_blocks import await_blocks, enqueue_backfill, needed_blocks


def take_in(tx: WriteTx, version: GraphVersion, *, max_attempts: int) -> list[str]:
    """Enlist the ready blocks that a version lacks, and return them; none when it is whole."""
    asked = Reprocess.of(version.request)
    fresh = needed_blocks(tx, version, first_kind(asked.stages))
    if fresh:
        await_blocks(tx, version.graph_version_id, fresh)
        enlist(tx, version, fresh, max_attempts=max_attempts)
    return fresh


def enlist(
    tx: WriteTx, version: GraphVersion, block_ids: Sequence[str], *, max_attempts: int
) -> None:
    """Enqueue the first job of each block; a block outside the bounds is only carried over."""
    asked = Reprocess.of(version.request)
    payload = asked.payload(version.graph_version_id, version.derivation_version)
    inside = covered(tx, asked, block_ids)
    outside = [one for one in block_ids if one not in inside]
    enqueue_backfill(
        tx,
        version,
        first_kind(asked.stages),
        [one for one in block_ids if one in inside],
        payload=payload,
        max_attempts=max_attempts,
    )
    enqueue_backfill(
        tx,
        version,
        JobKind.EXTRACT,
        outside,
        payload={**payload, CARRIED: True},
        max_attempts=max_attempts,
    )


def covered(tx: ReadTx, asked: Reprocess, block_ids: Sequence[str]) -> set[str]:
    """Return which of the blocks are derived anew.

    Not the text of an import: its events were decided one by one, by people too.
    """
    if first_kind(asked.stages) is JobKind.PROJECT:
        return set(block_ids)
    statement = select(blocks.c.block_id, blocks.c.ended_at, blocks.c.thread_id).where(
        blocks.c.tenant_id == tx.tenant_id, blocks.c.block_id.in_(block_ids)
    )
    rows = tx.connection.execute(statement)
    return {
        block_id
        for block_id, ended_at, thread_id in rows
        if asked.covers(ended_at) and not thread_id.startswith(IMPORT_THREADS)
    }
