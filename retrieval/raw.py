"""Search the source messages themselves: every message is findable from the moment it is stored.

The open tail is searched too and marked, and each hit stands with the messages beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.batches import new_batch_id, record_batch
from retrieval.message_cards import MessageCard, excerpt, message_card, message_ref
from retrieval.progress import Pending, empty_reason, next_step, pending
from retrieval.raw_ranking import RankedMessage, ranked_messages
from retrieval.reader import Reader
from retrieval.schemas import RawSearch
from shared.domain.search_terms import matched_terms
from shared.domain.turns import UNTHREADED
from shared.store.batches import BatchItem
from shared.store.blocks import BlockRow, blocks_of_turns
from shared.store.database import ReadTx, WriteTx
from shared.store.messages import StoredMessage


@dataclass(frozen=True, slots=True)
class Nearby:
    """The messages right beside a hit, in its thread."""

    before: MessageCard | None
    after: MessageCard | None


@dataclass(frozen=True, slots=True)
class RawHit:
    """One source message. A message of the open tail has no block yet."""

    message_id: str
    evidence_ref: str
    role: str
    name: str | None
    metadata: dict[str, object]
    message: MessageCard
    nearby: Nearby
    thread_id: str
    turn_id: str
    block_id: str | None
    turn_range: list[int] | None
    in_open_tail: bool
    source_time: str | None
    rank_score: float
    matched_words: list[str]
    match_reason: str


@dataclass(frozen=True, slots=True)
class RawReply:
    """What a raw search answers."""

    batch_id: str
    items: list[RawHit]
    scope: str
    empty_reason: str | None
    pending: Pending
    next_step: str | None


def search_raw(tx: WriteTx, reader: Reader, asked: RawSearch) -> RawReply:
    """Return the messages that answer a query, best first, and record them as a batch."""
    own_thread = reader.thread_id or UNTHREADED
    threads = [own_thread] if asked.scope == "session" else None
    ranked = ranked_messages(tx, reader, asked.query, threads=threads)[: asked.limit]
    items = _hits(tx, reader, asked.query, ranked)
    waiting = pending(tx, reader)
    # Messages are searchable at once, so nothing of them is ever still to be processed.
    reason = empty_reason(
        reader,
        Pending(0, None),
        is_empty=not items,
        is_filtered=not items
        and threads is not None
        and bool(ranked_messages(tx, reader, asked.query)),
        has_any=False,
    )
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_search_raw",
        query=asked.query,
        request=asked.model_dump(mode="json", exclude_defaults=True, by_alias=True),
        items=[BatchItem(item.evidence_ref, rank_score=item.rank_score) for item in items],
    )
    step = next_step(reason, raw_helps=False)
    return RawReply(batch_id, items, asked.scope, reason, waiting, step)


def _hits(tx: ReadTx, reader: Reader, query: str, ranked: Sequence[RankedMessage]) -> list[RawHit]:
    places = [(_thread(one.stored), one.stored.turn_sequence) for one in ranked]
    blocks = blocks_of_turns(tx, reader.name, places)
    return [_hit(query, one, blocks.get(place)) for one, place in zip(ranked, places, strict=True)]


def _hit(query: str, one: RankedMessage, block: BlockRow | None) -> RawHit:
    message = one.stored.message
    words = matched_terms(query, one.terms)
    card = message_card(one.stored, content=excerpt(message.content, words))
    return RawHit(
        message_id=message.id,
        evidence_ref=message_ref(message.id),
        role=card.role,
        name=card.name,
        metadata=dict(card.metadata),
        message=card,
        nearby=Nearby(_near(one.before), _near(one.after)),
        thread_id=card.thread_id,
        turn_id=card.turn_id,
        block_id=None if block is None else block.block_id,
        turn_range=None if block is None else [block.start_turn, block.end_turn],
        in_open_tail=block is None,
        source_time=card.occurred_at,
        rank_score=round(one.score, 6),
        matched_words=list(words),
        match_reason=_reason(one, words),
    )


def _reason(one: RankedMessage, words: Sequence[str]) -> str:
    said: list[str] = []
    if words:
        said.append(f"Matches {', '.join(repr(word) for word in words)}.")
    else:
        said.append("Stands beside a message that matches.")
    if one.is_named:
        said.append(f"Said by {one.stored.message.name}, whom the query names.")
    if one.tells_time:
        said.append("Tells a time, which the query asks for.")
    return " ".join(said)


def _near(stored: StoredMessage | None) -> MessageCard | None:
    return None if stored is None else message_card(stored, content=excerpt(stored.message.content))


def _thread(stored: StoredMessage) -> str:
    return stored.message.thread_id or UNTHREADED
