"""List blocks at their current level, and read one deeper: the reading anchors it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.batches import new_batch_id, record_batch
from retrieval.block_views import (
    RAW_LEVEL,
    READY,
    BlockCard,
    block_card,
    block_ref,
    latest_position,
    level_now,
    level_text,
    messages_of,
    ready_cards,
)
from retrieval.message_cards import MessageCard, message_card
from retrieval.progress import Pending, pending
from retrieval.reader import Reader
from shared.domain.decay import age_in_blocks, expansion_level
from shared.domain.turns import UNTHREADED
from shared.errors import Conflict, NotFound
from shared.store.batches import BatchItem
from shared.store.block_views import open_tail_turns
from shared.store.blocks import BlockRow, get_block, lift, list_blocks, summaries_of
from shared.store.database import ReadTx, WriteTx

_BY_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class BlocksReply:
    """The ready blocks in reach, oldest first, and how much there is beside them."""

    batch_id: str
    items: list[BlockCard]
    scope: str
    namespace: str
    thread_id: str
    block_count: int
    namespace_block_count: int
    open_tail_turns: int
    empty_reason: str | None
    pending: Pending


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a block decays from now on: a level, at a position among its thread's ready blocks."""

    level: int
    position: int


@dataclass(frozen=True, slots=True)
class BlockExpansionReply:
    """A block at the level asked for; at L5 also each message by itself."""

    batch_id: str
    block: BlockCard
    evidence_ref: str
    anchor: Anchor
    messages: list[MessageCard] | None


def get_blocks(tx: WriteTx, reader: Reader, *, scope: str) -> BlocksReply:
    """Return blocks at their current level and record them as a batch.

    `session` is the asking thread's own blocks and those without a thread, `namespace` all.
    """
    everything = list_blocks(tx, reader.name)
    own = {reader.thread_id or UNTHREADED, UNTHREADED}
    in_reach = [b for b in everything if scope == "namespace" or b.thread_id in own]
    items = ready_cards(tx, reader, in_reach)
    if scope == "namespace":
        tail = open_tail_turns(tx, reader.name)
    else:
        tail = sum(open_tail_turns(tx, reader.name, name) for name in own)
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_get_blocks",
        request={"scope": scope},
        items=[BatchItem(item.evidence_ref) for item in items],
    )
    return BlocksReply(
        batch_id=batch_id,
        items=items,
        scope=scope,
        namespace=reader.name,
        thread_id=reader.thread_id or UNTHREADED,
        block_count=len(items),
        namespace_block_count=len(everything),
        open_tail_turns=tail,
        empty_reason=None if items else _empty_reason(everything, in_reach, tail),
        pending=pending(tx, reader),
    )


def expand_block(
    tx: WriteTx, reader: Reader, block_id: str, *, level: object, by: str = _BY_AGENT
) -> BlockExpansionReply:
    """Return a block at a level, anchored there from now on, and record it as a batch.

    `by` says who reads deeper, an `agent` or a `user`.

    Raises InvalidInput for what is no level (D7), NotFound for no block of this namespace, and
    Conflict (`block_pending`) for one that is not ready.
    """
    block = get_block(tx, block_id)
    if block.namespace != reader.name:
        raise NotFound("no such block")
    if block.status != READY:
        raise Conflict(
            "the block is still being processed; its messages are in raw search and context",
            code="block_pending",
        )
    latest = latest_position(tx, reader, block.thread_id)
    wanted = expansion_level(level, level_now(reader, block, latest_position=latest))
    lift(tx, block_id, level=wanted, position=latest, by=by)
    card = _expanded(tx, reader, get_block(tx, block_id), wanted)
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_expand_block",
        request={"block_id": block_id, "level": wanted},
        items=[BatchItem(block_ref(block_id, wanted))],
    )
    messages = None
    if wanted == RAW_LEVEL:
        sources = messages_of(tx, block, original=reader.sees_source)
        messages = [message_card(stored) for stored in sources]
    return BlockExpansionReply(batch_id, card, card.evidence_ref, Anchor(wanted, latest), messages)


def _expanded(tx: ReadTx, reader: Reader, block: BlockRow, level: int) -> BlockCard:
    summary = summaries_of(tx, [block.block_id], version=reader.version).get(block.block_id)
    content = level_text(tx, block, level, summary=summary, original=reader.sees_source)
    ready = [one for one in list_blocks(tx, reader.name, block.thread_id) if one.status == READY]
    own = next(at for at, one in enumerate(ready, start=1) if one.block_id == block.block_id)
    return block_card(block, level, content=content, age=age_in_blocks(own, len(ready)))


def _empty_reason(everything: Sequence[BlockRow], in_reach: Sequence[BlockRow], tail: int) -> str:
    if in_reach:
        return "own_blocks_pending"
    if tail > 0:
        return "open_tail_pending"
    return "blocks_exist_in_other_threads" if everything else "no_blocks_in_namespace"
