"""A thread's blocks as they stand, and one block at every level: looked at, never anchored anew.

What people see of short-term memory. Reading here makes no batch and counts as no expansion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from retrieval.block_views import (
    PENDING,
    RAW_LEVEL,
    READY,
    latest_position,
    level_now,
    level_text,
    standing_of,
)
from retrieval.message_cards import MessageCard, message_card
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from shared.domain.budget import estimate_tokens
from shared.domain.decay import decay_curve, decay_weight, label_of
from shared.errors import NotFound
from shared.store.block_views import layer_tokens, ready_since
from shared.store.blocks import BlockRow, get_block, newest_blocks, summaries_of
from shared.store.database import ReadTx
from shared.store.messages import turns_range
from shared.store.namespaces import find_thread

_FIRST_RENDERED = 3
_TAIL_TURNS = 50


@dataclass(frozen=True, slots=True)
class AnchorCard:
    """From where a block decays: a level, at a position among its thread's ready blocks."""

    level: int
    position: int


@dataclass(frozen=True, slots=True)
class BlockStanding:
    """One block as it stands. Unready ones are read as their messages, at level 5.

    `weight` is exp(-λ · ready blocks since the anchor); `age` counts newer ready blocks.
    """

    block_id: str
    thread_id: str
    status: str
    turn_range: list[int]
    started_at: str
    ended_at: str
    title: str | None
    tags: list[str]
    level: int
    label: str
    tokens: int
    source_tokens: int
    age: int | None
    weight: float | None
    anchor: AnchorCard | None
    lifted_at: str | None
    lifted_by: str | None


@dataclass(frozen=True, slots=True)
class ThreadBlocks:
    """A page of a thread's blocks, newest first, and its open tail, oldest first.

    `open_tail` holds the messages of at most its newest 50 turns.
    """

    items: list[BlockStanding]
    next_cursor: str | None
    thread_id: str
    block_turn_size: int
    block_decay_lambda: float
    ready_block_count: int
    open_tail_turns: int
    open_tail: list[MessageCard]


@dataclass(frozen=True, slots=True)
class LevelView:
    """A block's text at one level; `share` is its tokens over those of level 5."""

    level: int
    label: str
    content: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Where a block will stand that many ready blocks after its anchor."""

    blocks: int
    weight: float
    level: int


@dataclass(frozen=True, slots=True)
class BlockRecord(BlockStanding):
    """One block at every level it has, and the curve it decays along."""

    blocks_since_anchor: int | None
    levels: list[LevelView]
    curve: list[CurvePoint]


def thread_blocks(
    tx: ReadTx, reader: Reader, thread_id: str, *, before: int | None, limit: int
) -> tuple[ThreadBlocks, int | None]:
    """Return a page of a thread's blocks, and the place of the next page if there is one.

    NotFound when the namespace has no such thread.
    """
    thread = find_thread(tx, reader.name, thread_id)
    if thread is None:
        raise NotFound("no such thread")
    found = newest_blocks(tx, reader.name, thread_id, before=before, limit=limit + 1)
    shown = found[:limit]
    first = max(thread.sealed_turn_count, thread.turn_count - _TAIL_TURNS) + 1
    tail = turns_range(tx, reader.name, thread_id, first=first, last=None)
    policy = reader.namespace.policy
    page = ThreadBlocks(
        items=_standings(tx, reader, shown, latest=thread.ready_count),
        next_cursor=None,
        thread_id=thread_id,
        block_turn_size=policy.block_turn_size,
        block_decay_lambda=policy.block_decay_lambda,
        ready_block_count=thread.ready_count,
        open_tail_turns=thread.turn_count - thread.sealed_turn_count,
        open_tail=[message_card(stored) for stored in tail],
    )
    return page, shown[-1].sequence if len(found) > limit else None


def read_block(tx: ReadTx, reader: Reader, block_id: str) -> BlockRecord:
    """Return a block at every level; L0 to L2 are there once it is summarised.

    NotFound for no block of this namespace. All levels show the redacted text.
    """
    block = get_block(tx, block_id)
    if block.namespace != reader.name:
        raise NotFound("no such block")
    latest = latest_position(tx, reader, block.thread_id)
    (standing,) = _standings(tx, reader, [block], latest=latest)
    shown = {one.name: getattr(standing, one.name) for one in fields(BlockStanding)}
    since, curve = None, []
    if standing.anchor is not None:
        since = max(0, latest - standing.anchor.position)
        decay = reader.namespace.policy.block_decay_lambda
        points = decay_curve(standing.anchor.level, decay_lambda=decay, at_least=since + 3)
        curve = [CurvePoint(at, round(weight, 4), level) for at, weight, level in points]
    return BlockRecord(
        **shown, blocks_since_anchor=since, levels=_levels(tx, reader, block), curve=curve
    )


def _levels(tx: ReadTx, reader: Reader, block: BlockRow) -> list[LevelView]:
    summary = summaries_of(tx, [block.block_id], version=reader.version).get(block.block_id)
    first = _FIRST_RENDERED if summary is None else 0
    texts = {
        level: level_text(tx, block, level, summary=summary)
        for level in range(first, RAW_LEVEL + 1)
    }
    whole = max(1, estimate_tokens(texts[RAW_LEVEL]))
    return [
        LevelView(
            level,
            label_of(level),
            content,
            tokens=estimate_tokens(content),
            share=round(estimate_tokens(content) / whole, 4),
        )
        for level, content in texts.items()
    ]


def _standings(
    tx: ReadTx, reader: Reader, blocks: Sequence[BlockRow], *, latest: int
) -> list[BlockStanding]:
    """Return blocks of one thread as they stand, in the order given: newest first."""
    if not blocks:
        return []
    names = [block.block_id for block in blocks]
    standing = standing_of(tx, blocks)
    summaries = summaries_of(tx, names, version=reader.version)
    layers = layer_tokens(tx, names)
    newer = ready_since(tx, reader.name, blocks[0].thread_id, blocks[0].sequence)
    cards: list[BlockStanding] = []
    for block in blocks:
        status = standing.get(block.block_id, PENDING)
        is_ready = status == READY
        level = level_now(reader, block, latest_position=latest) if is_ready else RAW_LEVEL
        summary = summaries.get(block.block_id)
        if level < _FIRST_RENDERED and summary is not None:
            tokens = estimate_tokens(level_text(tx, block, level, summary=summary))
        else:
            tokens = layers.get((block.block_id, max(level, _FIRST_RENDERED)), 0)
        cards.append(
            _standing(
                reader,
                block,
                status,
                level=level,
                tokens=tokens,
                source_tokens=layers.get((block.block_id, RAW_LEVEL), 0),
                summary=summary,
                age=newer if is_ready else None,
                latest=latest,
            )
        )
        newer += is_ready
    return cards


def _standing(
    reader: Reader,
    block: BlockRow,
    status: str,
    *,
    level: int,
    tokens: int,
    source_tokens: int,
    summary: Any,
    age: int | None,
    latest: int,
) -> BlockStanding:
    anchor, weight = None, None
    if age is not None:
        position = block.anchor_position or latest
        anchor = AnchorCard(block.anchor_level, position)
        decay = reader.namespace.policy.block_decay_lambda
        weight = round(decay_weight(position, latest, decay_lambda=decay), 4)
    lifted = block.lifted_at
    return BlockStanding(
        block_id=block.block_id,
        thread_id=block.thread_id,
        status=status,
        turn_range=[block.start_turn, block.end_turn],
        started_at=block.started_at.isoformat(),
        ended_at=block.ended_at.isoformat(),
        title=None if summary is None else shown_text(summary.title),
        tags=[] if summary is None else [shown_text(tag) for tag in summary.tags],
        level=level,
        label=label_of(level),
        tokens=tokens,
        source_tokens=source_tokens,
        age=age,
        weight=weight,
        anchor=anchor,
        lifted_at=None if lifted is None else lifted.isoformat(),
        lifted_by=block.lifted_by,
    )
