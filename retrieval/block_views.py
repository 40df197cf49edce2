"""Blocks as they are read: each at the level it has decayed to.

Levels 3 to 5 are stored as the redacted view alone, so what is read here never holds more (D38).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from shared.domain.blocks import Summary, block_header, render_summary
from shared.domain.budget import estimate_tokens
from shared.domain.decay import age_in_blocks, label_of, level_at
from shared.domain.jobs import LIVE_STATES, JobKind, JobState
from shared.domain.layers import render_l5
from shared.store.blocks import BlockRow, layer_texts, summaries_of
from shared.store.database import ReadTx
from shared.store.jobs import jobs_of
from shared.store.messages import StoredMessage, turns_range
from shared.store.namespaces import find_thread

READY = "ready"
PENDING = "pending"
FAILED = "failed"
RAW_LEVEL = 5
_FIRST_RENDERED = 3
_MAKES_READY = frozenset({JobKind.SUMMARIZE.value, JobKind.EXTRACT.value})
_LOST = frozenset({JobState.DEAD.value, JobState.DEGRADED.value, JobState.CANCELLED.value})
_LIVE = frozenset(state.value for state in LIVE_STATES)


@dataclass(frozen=True, slots=True)
class BlockCard:
    """One block at one level. `age` counts the newer ready blocks of its thread."""

    block_id: str
    evidence_ref: str
    thread_id: str
    turn_range: list[int]
    started_at: str
    ended_at: str
    age: int
    level: int
    label: str
    header: str
    content: str
    tokens: int
    lifted_at: str | None
    lifted_by: str | None


def block_ref(block_id: str, level: int) -> str:
    """Return the evidence ref of a block at a level (D33)."""
    return f"block:{block_id}:level:{level}"


def level_now(reader: Reader, block: BlockRow, *, latest_position: int) -> int:
    """Return the level a ready block has decayed to."""
    return level_at(
        block.anchor_level,
        block.anchor_position or latest_position,
        latest_position=latest_position,
        decay_lambda=reader.namespace.policy.block_decay_lambda,
    )


def latest_position(tx: ReadTx, reader: Reader, thread_id: str) -> int:
    """Return how many blocks of a thread are ready: the position of the newest."""
    thread = find_thread(tx, reader.name, thread_id)
    return 0 if thread is None else thread.ready_count


def ready_cards(tx: ReadTx, reader: Reader, blocks: Sequence[BlockRow]) -> list[BlockCard]:
    """Return the ready ones of `blocks` at their current level, in the order given.

    `blocks` holds all blocks of each of its threads: ages count among them.
    """
    ready = [block for block in blocks if block.status == READY]
    latest = {name: latest_position(tx, reader, name) for name in {b.thread_id for b in ready}}
    summaries = summaries_of(tx, [b.block_id for b in ready], version=reader.version)
    totals: dict[str, int] = {}
    for block in ready:
        totals[block.thread_id] = totals.get(block.thread_id, 0) + 1
    levels = {b.block_id: level_now(reader, b, latest_position=latest[b.thread_id]) for b in ready}
    texts = level_texts(tx, levels, summaries=summaries)
    seen: dict[str, int] = {}
    cards: list[BlockCard] = []
    for block in ready:
        seen[block.thread_id] = seen.get(block.thread_id, 0) + 1
        age = age_in_blocks(seen[block.thread_id], totals[block.thread_id])
        content = texts[block.block_id]
        cards.append(block_card(block, levels[block.block_id], content=content, age=age))
    return cards


def level_texts(
    tx: ReadTx, levels: Mapping[str, int], *, summaries: Mapping[str, Any]
) -> dict[str, str]:
    """Return the text of each block at its level; without a summary of this version, its L3."""
    stored = {
        block_id: max(level, _FIRST_RENDERED)
        for block_id, level in levels.items()
        if level >= _FIRST_RENDERED or block_id not in summaries
    }
    layers = layer_texts(tx, stored)
    return {
        block_id: layers[block_id]
        if block_id in stored
        else summary_text(summaries[block_id], level)
        for block_id, level in levels.items()
    }


def level_text(
    tx: ReadTx, block: BlockRow, level: int, *, summary: Any, original: bool = False
) -> str:
    """Return a block's text at a level; without a summary of this version, its L3.

    `original` gives L5 as it was sent, for admin readers alone.
    """
    if level == RAW_LEVEL and original:
        return render_l5([one.message for one in messages_of(tx, block, original=True)])
    summaries = {} if summary is None else {block.block_id: summary}
    return level_texts(tx, {block.block_id: level}, summaries=summaries)[block.block_id]


def summary_text(summary: Any, level: int) -> str:
    """Return the text of a level from 0 to 2."""
    derived = Summary(
        title=summary.title,
        tags=tuple(summary.tags),
        summary=summary.summary,
        keypoints=tuple(summary.keypoints),
        should_extract=summary.should_extract,
    )
    return shown_text(render_summary(derived, level))


def messages_of(tx: ReadTx, block: BlockRow, *, original: bool = False) -> list[StoredMessage]:
    """Return a block's source messages, in order."""
    return turns_range(
        tx,
        block.namespace,
        block.thread_id,
        first=block.start_turn,
        last=block.end_turn,
        original=original,
    )


def block_card(block: BlockRow, level: int, *, content: str, age: int) -> BlockCard:
    """Return a block's card at a level."""
    lifted = block.lifted_at
    return BlockCard(
        block_id=block.block_id,
        evidence_ref=block_ref(block.block_id, level),
        thread_id=block.thread_id,
        turn_range=[block.start_turn, block.end_turn],
        started_at=block.started_at.isoformat(),
        ended_at=block.ended_at.isoformat(),
        age=age,
        level=level,
        label=label_of(level),
        header=header_of(block, level),
        content=content,
        tokens=estimate_tokens(content),
        lifted_at=None if lifted is None else lifted.isoformat(),
        lifted_by=block.lifted_by,
    )


def header_of(block: BlockRow, level: int) -> str:
    """Return the line that names a block above its text."""
    return block_header(
        block.block_id, level, first_turn=block.start_turn, last_turn=block.end_turn
    )


def standing_of(tx: ReadTx, blocks: Sequence[BlockRow]) -> Mapping[str, str]:
    """Return each block's standing: ready, pending, or failed.

    Failed: one of the jobs that make a block ready ended without doing so, and none is live.
    """
    unready = [block.block_id for block in blocks if block.status != READY]
    states: dict[str, set[str]] = {name: set() for name in unready}
    for job in jobs_of(tx, unready):
        if job.kind in _MAKES_READY:
            states[job.subject].add(job.state)
    standing = {block.block_id: READY for block in blocks}
    for name, found in states.items():
        standing[name] = FAILED if found & _LOST and not found & _LIVE else PENDING
    return standing
