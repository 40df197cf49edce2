"""Search blocks: each is ranked by its messages together, and shown at its current level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.batches import new_batch_id, record_batch
from retrieval.block_views import (
    RAW_LEVEL,
    READY,
    BlockCard,
    block_card,
    latest_position,
    level_now,
    level_text,
    standing_of,
)
from retrieval.message_cards import excerpt, message_ref
from retrieval.message_reasons import match_reason
from retrieval.progress import Pending, next_step, pending
from retrieval.raw_ranking import Ranking, ranked_messages, why_no_message
from retrieval.reader import Reader
from retrieval.schemas import BlockSearch
from retrieval.vector_lane import DegradedLane
from shared.domain.decay import age_in_blocks
from shared.domain.ranking.blocks import RankedBlock, rank_blocks
from shared.domain.ranking.messages import Ranked
from shared.domain.search_terms import matched_terms
from shared.domain.turns import UNTHREADED
from shared.store.batches import BatchItem
from shared.store.blocks import BlockRow, blocks_of_turns, list_blocks, summaries_of
from shared.store.database import ReadTx, WriteTx

_SHOWN_MESSAGES = 3
"""How many of its best messages a block is shown with."""

_ONLY_IN_TAIL = "What matches was said last and is in no block yet: search raw memory."


@dataclass(frozen=True, slots=True)
class BlockMessage:
    """A message that speaks for its block."""

    message_id: str
    evidence_ref: str
    name: str | None
    excerpt: str
    rank_score: float
    match_reason: str


@dataclass(frozen=True, slots=True)
class BlockHit:
    """One block at its current level; one that is not ready comes as its messages, at L5.

    `rank_score` sums its messages' sharpened shares of the best score; `messages` are the best
    of them.
    """

    block_id: str
    evidence_ref: str
    status: str
    block: BlockCard
    rank_score: float
    messages: list[BlockMessage]


@dataclass(frozen=True, slots=True)
class BlockSearchReply:
    """What a search of blocks answers."""

    batch_id: str
    items: list[BlockHit]
    scope: str
    empty_reason: str | None
    pending: Pending
    next_step: str | None
    degraded_lanes: list[DegradedLane]


def search_blocks(tx: WriteTx, reader: Reader, asked: BlockSearch) -> BlockSearchReply:
    """Return the blocks whose messages answer a query, best first, and record them as a batch.

    `session` looks at the asking thread's blocks alone. What was said last is in no block yet:
    raw search and context have it.
    """
    threads = [reader.thread_id or UNTHREADED] if asked.scope == "session" else None
    ranking = ranked_messages(tx, reader, asked.query, threads=threads)
    items = _hits(tx, reader, asked, ranking)
    waiting = pending(tx, reader)
    reason = why_no_message(tx, reader, asked.query, threads=threads, is_empty=not items)
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="search_blocks",
        query=asked.query,
        request=asked.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        items=[BatchItem(item.evidence_ref, rank_score=item.rank_score) for item in items],
    )
    step = next_step(reason)
    if not items and ranking.ranked:
        reason, step = "open_tail_pending", _ONLY_IN_TAIL
    degraded = list(ranking.degraded_lanes)
    return BlockSearchReply(batch_id, items, asked.scope, reason, waiting, step, degraded)


def _hits(tx: ReadTx, reader: Reader, asked: BlockSearch, ranking: Ranking) -> list[BlockHit]:
    places = {one.said.id: (one.said.thread, one.said.turn) for one in ranking.ranked}
    blocks = blocks_of_turns(tx, reader.name, sorted(set(places.values())))
    block_of = {name: blocks[place].block_id for name, place in places.items() if place in blocks}
    best = rank_blocks(ranking.ranked, block_of)[: asked.limit]
    rows = {row.block_id: row for row in blocks.values()}
    chosen = [rows[one.block_id] for one in best]
    cards = _cards(tx, reader, chosen)
    standing = standing_of(tx, chosen)
    return [
        _hit(asked.query, ranking, one, cards[one.block_id], standing[one.block_id]) for one in best
    ]


def _hit(query: str, ranking: Ranking, one: RankedBlock, card: BlockCard, status: str) -> BlockHit:
    return BlockHit(
        block_id=one.block_id,
        evidence_ref=card.evidence_ref,
        status=status,
        block=card,
        rank_score=round(one.score, 6),
        messages=[_message(query, ranking, m) for m in one.messages[:_SHOWN_MESSAGES]],
    )


def _message(query: str, ranking: Ranking, one: Ranked) -> BlockMessage:
    words = matched_terms(query, one.said.held)
    return BlockMessage(
        message_id=one.said.id,
        evidence_ref=message_ref(one.said.id),
        name=one.said.speaker,
        excerpt=excerpt(one.said.content, words),
        rank_score=round(one.score, 6),
        match_reason=match_reason(ranking.asked, one, words),
    )


def _cards(tx: ReadTx, reader: Reader, chosen: Sequence[BlockRow]) -> Mapping[str, BlockCard]:
    """Return the chosen blocks' cards; only their own texts are rendered."""
    summaries = summaries_of(tx, [row.block_id for row in chosen], version=reader.version)
    cards: dict[str, BlockCard] = {}
    for thread_id in {row.thread_id for row in chosen}:
        latest = latest_position(tx, reader, thread_id)
        ready = [b.block_id for b in list_blocks(tx, reader.name, thread_id) if b.status == READY]
        index = {block_id: number for number, block_id in enumerate(ready, start=1)}
        for row in (one for one in chosen if one.thread_id == thread_id):
            level, age = RAW_LEVEL, 0
            if row.block_id in index:
                level = level_now(reader, row, latest_position=latest)
                age = age_in_blocks(index[row.block_id], len(ready))
            content = level_text(tx, row, level, summary=summaries.get(row.block_id))
            cards[row.block_id] = block_card(row, level, content=content, age=age)
    return cards
