"""Sealed blocks: the append-only row with its layers, and the little that may change beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    Integer,
    Row,
    SmallInteger,
    Text,
    any_,
    bindparam,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import distinct_on

from shared.errors import NotFound
from shared.store.block_places import blocks_holding
from shared.store.database import ReadTx, WriteTx
from shared.store.direct import Direct
from shared.store.tables import block_layers, block_states, block_summaries, blocks, namespaces

_SUMMARY_COLUMNS = (
    "derivation_version",
    "title",
    "tags",
    "summary",
    "keypoints",
    "should_extract",
    "job_id",
    "prompt_version",
    "model",
)

_SAVE_SUMMARY = Direct(
    f"""
    INSERT INTO block_summaries (tenant_id, block_id, {", ".join(_SUMMARY_COLUMNS)})
    SELECT b.tenant_id, b.block_id, CAST(:derivation_version AS integer), CAST(:title AS text),
           CAST(:tags AS text[]), CAST(:summary AS text), CAST(:keypoints AS text[]),
           CAST(:should_extract AS boolean), CAST(:job_id AS text),
           CAST(:prompt_version AS text), CAST(:model AS text)
    FROM blocks AS b WHERE b.tenant_id = :tenant_id AND b.block_id = :block_id
    ON CONFLICT (tenant_id, block_id, derivation_version) DO UPDATE SET
        {", ".join(f"{name} = excluded.{name}" for name in _SUMMARY_COLUMNS)}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)

# The block's state is locked first, then the thread's row, which counts its ready blocks.
_MARK_READY = Direct(
    """
    WITH waiting AS (
        SELECT s.namespace, s.thread_id FROM block_states AS s
        WHERE s.tenant_id = :tenant_id AND s.block_id = :block_id AND s.status = 'pending'
        FOR NO KEY UPDATE
    ), counted AS (
        UPDATE threads AS t SET ready_count = t.ready_count + 1 FROM waiting AS w
        WHERE t.tenant_id = :tenant_id AND t.namespace = w.namespace AND t.thread_id = w.thread_id
        RETURNING t.ready_count
    )
    UPDATE block_states AS s SET status = 'ready', anchor_level = 5,
        anchor_position = counted.ready_count, ready_at = now(), updated_at = now()
    FROM counted
    WHERE s.tenant_id = :tenant_id AND s.block_id = :block_id
    """
)


_MADE_IN = block_summaries.c.derivation_version
_VERSION = bindparam("version", type_=Integer)
_SUMMARIES = Direct(
    select(block_summaries)
    .where(
        block_summaries.c.tenant_id == bindparam("tenant_id"),
        block_summaries.c.block_id == any_(bindparam("block_ids", type_=ARRAY(Text))),
    )
    .ext(distinct_on(block_summaries.c.block_id))
    .order_by(block_summaries.c.block_id, _MADE_IN > _VERSION, func.abs(_MADE_IN - _VERSION))
)
_LAYER_TEXTS = Direct(
    text(
        "SELECT l.block_id, l.content FROM unnest(:blocks, :levels) AS asked(block_id, level) "
        "JOIN block_layers AS l ON l.tenant_id = :tenant_id AND l.block_id = asked.block_id "
        "AND l.level = asked.level"
    ).bindparams(
        bindparam("blocks", type_=ARRAY(Text)),
        bindparam("levels", type_=ARRAY(SmallInteger)),
    )
)


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A sealed block: its range of the thread's turns, and where its state stands."""

    block_id: str
    namespace: str
    thread_id: str
    sequence: int
    start_turn: int
    end_turn: int
    formed_turn: int
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    status: str
    anchor_level: int
    anchor_position: int | None
    lifted_at: datetime | None
    lifted_by: str | None
    ready_at: datetime | None


@dataclass(frozen=True, slots=True)
class LiveVersions:
    """What readers of a namespace see: its derivation, and its graph, if it has one."""

    derivation_version: int
    graph_version_id: str | None


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block to seal; `layers` maps levels 3 to 5 to (text, estimated tokens)."""

    block_id: str
    namespace: str
    thread_id: str
    sequence: int
    start_turn: int
    end_turn: int
    formed_turn: int
    started_at: datetime
    ended_at: datetime
    layers: Mapping[int, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class NewSummary:
    """Validated L0-L2 of a block, and who made them."""

    block_id: str
    derivation_version: int
    title: str
    tags: tuple[str, ...]
    summary: str
    keypoints: tuple[str, ...]
    should_extract: bool
    job_id: str
    prompt_version: str
    model: str


def insert_block(tx: WriteTx, block: NewBlock) -> None:
    """Store a sealed block with its layers, pending."""
    tx.connection.execute(
        insert(blocks).values(
            tenant_id=tx.tenant_id,
            block_id=block.block_id,
            namespace=block.namespace,
            thread_id=block.thread_id,
            sequence=block.sequence,
            start_turn=block.start_turn,
            end_turn=block.end_turn,
            formed_turn=block.formed_turn,
            started_at=block.started_at,
            ended_at=block.ended_at,
        )
    )
    tx.connection.execute(
        insert(block_layers),
        [
            {
                "tenant_id": tx.tenant_id,
                "block_id": block.block_id,
                "level": level,
                "content": content,
                "tokens": tokens,
            }
            for level, (content, tokens) in block.layers.items()
        ],
    )
    tx.connection.execute(
        insert(block_states).values(
            tenant_id=tx.tenant_id,
            block_id=block.block_id,
            namespace=block.namespace,
            thread_id=block.thread_id,
        )
    )


def get_block(tx: ReadTx, block_id: str) -> BlockRow:
    """Return one block; NotFound when this tenant has none of that id."""
    row = _block_by_id().first(tx, block_id=block_id)
    if row is None:
        raise NotFound("no such block")
    return _block(row._asdict())


def get_block_and_live(tx: ReadTx, block_id: str) -> tuple[BlockRow, LiveVersions]:
    """Return one block as `get_block` does, and what its namespace is switched to now."""
    row = _block_and_live().first(tx, block_id=block_id)
    if row is None:
        raise NotFound("no such block")
    values = row._asdict()
    live = LiveVersions(values.pop("live_derivation"), values.pop("live_graph_version_id"))
    return _block(values), live


@cache
def _block_and_live() -> Direct:
    here = namespaces.c
    statement = _blocks_of(bindparam("tenant_id")).where(blocks.c.block_id == bindparam("block_id"))
    return Direct(
        statement.add_columns(
            here.derivation_version.label("live_derivation"),
            here.graph_version_id.label("live_graph_version_id"),
        ).join(
            namespaces,
            (here.tenant_id == blocks.c.tenant_id) & (here.namespace == blocks.c.namespace),
        )
    )


@cache
def _block_by_id() -> Direct:
    """Return the statement of one block, built once."""
    return Direct(
        _blocks_of(bindparam("tenant_id")).where(blocks.c.block_id == bindparam("block_id"))
    )


def list_blocks(tx: ReadTx, namespace: str, thread_id: str | None = None) -> list[BlockRow]:
    """Return the blocks of a namespace, or of one thread of it, in block-list order."""
    statement = _of_namespace(of_thread=thread_id is not None)
    rows = statement.rows(tx, namespace=namespace, thread_id=thread_id)
    return [_block(row._asdict()) for row in rows]


@cache
def _of_namespace(*, of_thread: bool) -> Direct:
    statement = _blocks_of(bindparam("tenant_id")).where(
        blocks.c.namespace == bindparam("namespace", type_=Text)
    )
    if of_thread:
        statement = statement.where(blocks.c.thread_id == bindparam("thread_id", type_=Text))
    return Direct(statement.order_by(blocks.c.sequence))


def newest_blocks(
    tx: ReadTx, namespace: str, thread_id: str, *, before: int | None, limit: int
) -> list[BlockRow]:
    """Return a thread's newest blocks, newest first, before a place in the block list."""
    statement = _select_blocks(tx).where(
        blocks.c.namespace == namespace, blocks.c.thread_id == thread_id
    )
    if before is not None:
        statement = statement.where(blocks.c.sequence < before)
    rows = tx.connection.execute(statement.order_by(blocks.c.sequence.desc()).limit(limit))
    return [_block(dict(row._mapping)) for row in rows]


def blocks_of_turns(
    tx: ReadTx, namespace: str, places: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], BlockRow]:
    """Return the block that holds each (thread, turn sequence); open-tail turns are left out."""
    held = blocks_holding(tx, namespace, places)
    if not held:
        return {}
    ids = {holder.block_id for holder in held.values()}
    rows = tx.connection.execute(_select_blocks(tx).where(blocks.c.block_id.in_(ids)))
    known = {row.block_id: _block(dict(row._mapping)) for row in rows}
    return {place: known[holder.block_id] for place, holder in held.items()}


def layer_texts(tx: ReadTx, levels: Mapping[str, int]) -> dict[str, str]:
    """Return the text of each block at the level asked of it, 3 to 5."""
    if not levels:
        return {}
    rows = _LAYER_TEXTS.rows(tx, blocks=list(levels), levels=list(levels.values()))
    return {row.block_id: row.content for row in rows}


def summaries_of(tx: ReadTx, block_ids: Sequence[str], *, version: int) -> dict[str, Row[Any]]:
    """Return the L0-L2 row of each block that has one, of one derivation version.

    A block that this version did not summarise anew keeps the summary of the nearest one before
    it, else of the first one after.
    """
    if not block_ids:
        return {}
    rows = _SUMMARIES.rows(tx, block_ids=list(block_ids), version=version)
    return {row.block_id: row for row in rows}


def save_summary(tx: WriteTx, summary: NewSummary) -> bool:
    """Store L0-L2; a later attempt of the same version replaces them. False: the block is gone."""
    values = {name: getattr(summary, name) for name in ("block_id", *_SUMMARY_COLUMNS)}
    values |= {"tags": list(summary.tags), "keypoints": list(summary.keypoints)}
    return _SAVE_SUMMARY.run(tx, **values) == 1


def mark_ready(tx: WriteTx, block_id: str) -> bool:
    """Make a block ready, anchored at L5 at the newest position; False when it was (D30)."""
    return _MARK_READY.run(tx, block_id=block_id) == 1


def lift(tx: WriteTx, block_id: str, *, level: int, position: int, by: str) -> None:
    """Anchor a ready block at a level from now on; a lift may also lower it."""
    tx.connection.execute(
        _update_state(tx, block_id).values(
            anchor_level=level,
            anchor_position=position,
            lifted_at=func.now(),
            lifted_by=by,
            updated_at=func.now(),
        )
    )


def _update_state(tx: WriteTx, block_id: str) -> Any:
    return update(block_states).where(
        block_states.c.tenant_id == tx.tenant_id, block_states.c.block_id == block_id
    )


def _select_blocks(tx: ReadTx) -> Any:
    return _blocks_of(tx.tenant_id)


def _blocks_of(tenant_id: Any) -> Any:
    state = block_states.c
    return (
        select(
            blocks,
            state.status,
            state.anchor_level,
            state.anchor_position,
            state.lifted_at,
            state.lifted_by,
            state.ready_at,
        )
        .join(
            block_states,
            (state.tenant_id == blocks.c.tenant_id) & (state.block_id == blocks.c.block_id),
        )
        .where(blocks.c.tenant_id == tenant_id)
    )


def _block(row: Mapping[str, Any]) -> BlockRow:
    return BlockRow(**{name: value for name, value in row.items() if name != "tenant_id"})
