"""Search the source messages themselves: every message is findable from the moment it is stored.

The open tail is searched too and marked; what stands beside a hit counts for it at query time,
so that an answer is found by the words of its question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from retrieval.batches import new_batch_id, record_batch
from retrieval.message_cards import MessageCard, excerpt, message_card, message_ref
from retrieval.progress import Pending, empty_reason, next_step, pending
from retrieval.reader import Reader
from retrieval.schemas import RawSearch
from shared.domain.search_terms import matched_terms, query_terms
from shared.domain.turns import UNTHREADED
from shared.store.batches import BatchItem
from shared.store.block_views import messages_around
from shared.store.blocks import BlockRow, blocks_of_turns
from shared.store.database import ReadTx, WriteTx
from shared.store.messages import StoredMessage, messages_by_id
from shared.store.search import Hit, bm25_search
from shared.store.search_index import DocumentKind

CANDIDATES = 200
BEFORE, AFTER = 0.3, 0.15
"""What a hit gives to the message after it (whose context it is) and to the one before."""

SITTING = timedelta(hours=6)
"""Messages further apart than this are not of one sitting, so they lend each other nothing."""


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


@dataclass(frozen=True, slots=True)
class _Scored:
    stored: StoredMessage
    score: float
    terms: tuple[str, ...]
    before: StoredMessage | None
    after: StoredMessage | None


def search_raw(tx: WriteTx, reader: Reader, asked: RawSearch) -> RawReply:
    """Return the messages that answer a query, best first, and record them as a batch."""
    own_thread = reader.thread_id or UNTHREADED
    threads = [own_thread] if asked.scope == "session" else None
    ranked = _ranked(tx, reader, asked.query, threads=threads)[: asked.limit]
    items = _hits(tx, reader, asked.query, ranked)
    waiting = pending(tx, reader)
    # Messages are searchable at once, so nothing of them is ever still to be processed.
    reason = empty_reason(
        reader,
        Pending(0, None),
        is_empty=not items,
        is_filtered=not items and threads is not None and bool(_ranked(tx, reader, asked.query)),
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


def _ranked(
    tx: ReadTx, reader: Reader, query: str, *, threads: Sequence[str] | None = None
) -> list[_Scored]:
    hits = bm25_search(
        tx,
        reader.name,
        DocumentKind.MESSAGE,
        query_terms(query),
        limit=CANDIDATES,
        threads=threads,
    )
    found = messages_by_id(tx, [hit.document_id for hit in hits])
    by_id = {hit.document_id: hit for hit in hits}
    places = {(hit.thread_id, found[hit.document_id].turn_sequence) for hit in hits}
    scored: list[_Scored] = []
    for row in messages_around(tx, reader.name, places).values():
        scored += _with_neighbours(row, by_id)
    return sorted(scored, key=_order)


def _with_neighbours(row: Sequence[StoredMessage], hits: Mapping[str, Hit]) -> list[_Scored]:
    """Score the messages of one thread: their own words, and part of their neighbours'."""
    scored: list[_Scored] = []
    for index, stored in enumerate(row):
        before = _beside(row, index, -1)
        after = _beside(row, index, +1)
        own = hits.get(stored.message.id)
        score = own.score if own else 0.0
        score += BEFORE * _lent(stored, before, hits) + AFTER * _lent(stored, after, hits)
        if score > 0:
            scored.append(_Scored(stored, score, own.matched_terms if own else (), before, after))
    return scored


def _beside(row: Sequence[StoredMessage], index: int, step: int) -> StoredMessage | None:
    """Return the next message of the thread in one direction, None at a gap in what is loaded."""
    place = index + step
    if not 0 <= place < len(row):
        return None
    near = abs(row[place].turn_sequence - row[index].turn_sequence) <= 1
    return row[place] if near else None


def _lent(stored: StoredMessage, other: StoredMessage | None, hits: Mapping[str, Hit]) -> float:
    hit = None if other is None else hits.get(other.message.id)
    if other is None or hit is None:
        return 0.0
    one, two = stored.message.occurred_at, other.message.occurred_at
    if one is not None and two is not None and abs(one - two) > SITTING:
        return 0.0
    return hit.score


def _order(one: _Scored) -> tuple[float, float, int, int, str]:
    """Best first; equal scores: the later message first."""
    said = one.stored.message.occurred_at
    moment = said.timestamp() if said else 0.0
    place = (-one.stored.turn_sequence, -one.stored.position)
    return (-one.score, -moment, *place, one.stored.message.id)


def _hits(tx: ReadTx, reader: Reader, query: str, ranked: Sequence[_Scored]) -> list[RawHit]:
    places = [(_thread(one.stored), one.stored.turn_sequence) for one in ranked]
    blocks = blocks_of_turns(tx, reader.name, places)
    return [_hit(query, one, blocks.get(place)) for one, place in zip(ranked, places, strict=True)]


def _hit(query: str, one: _Scored, block: BlockRow | None) -> RawHit:
    message = one.stored.message
    words = matched_terms(query, one.terms)
    card = message_card(one.stored, content=excerpt(message.content, words))
    if words:
        reason = f"Matches {', '.join(repr(word) for word in words)}."
    else:
        reason = "Stands beside a message that matches."
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
        match_reason=reason,
    )


def _near(stored: StoredMessage | None) -> MessageCard | None:
    return None if stored is None else message_card(stored, content=excerpt(stored.message.content))


def _thread(stored: StoredMessage) -> str:
    return stored.message.thread_id or UNTHREADED
