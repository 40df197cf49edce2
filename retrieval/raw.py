"""Search the source messages themselves: every message is findable from the moment it is stored.

The open tail is searched too and marked, and each hit stands with the messages beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from retrieval.batches import new_batch_id, record_batch
from retrieval.message_cards import MessageCard, excerpt, message_card, message_ref
from retrieval.message_reasons import match_reason
from retrieval.progress import Pending, next_step, pending
from retrieval.raw_ranking import Ranking, ranked_messages, why_no_message
from retrieval.reader import Reader
from retrieval.schemas import RawSearch
from retrieval.vector_lane import DegradedLane
from shared.domain.ranking.messages import Ranked
from shared.domain.ranking.said import Said
from shared.domain.ranking.scoring import shares_of
from shared.domain.ranking.weights import SHIPPED
from shared.domain.search_terms import QueryWord, query_words, words_held
from shared.domain.turns import UNTHREADED
from shared.store.batches import BatchItem
from shared.store.block_places import Holder, blocks_holding
from shared.store.database import ReadTx, WriteTx
from shared.store.messages import StoredMessage, messages_by_id


@dataclass(frozen=True, slots=True)
class Nearby:
    """The messages right beside a hit, in its thread."""

    before: MessageCard | None
    after: MessageCard | None


@dataclass(frozen=True, slots=True)
class RawHit:
    """One source message. A message of the open tail has no block yet.

    `signals` is what each part gave to the score, which is their sum.
    """

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
    signals: dict[str, float]


@dataclass(frozen=True, slots=True)
class RawReply:
    """What a raw search answers."""

    batch_id: str
    items: list[RawHit]
    scope: str
    empty_reason: str | None
    pending: Pending
    next_step: str | None
    degraded_lanes: list[DegradedLane]


def search_raw(tx: WriteTx, reader: Reader, asked: RawSearch) -> RawReply:
    """Return the messages that answer a query, best first, and record them as a batch."""
    own_thread = reader.thread_id or UNTHREADED
    threads = [own_thread] if asked.scope == "session" else None
    ranking = ranked_messages(tx, reader, asked.query, threads=threads)
    items = _hits(tx, reader, asked.query, ranking, limit=asked.limit)
    waiting = pending(tx, reader)
    reason = why_no_message(tx, reader, asked.query, threads=threads, is_empty=not items)
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
    degraded = list(ranking.degraded_lanes)
    return RawReply(batch_id, items, asked.scope, reason, waiting, step, degraded)


def _hits(tx: ReadTx, reader: Reader, query: str, ranking: Ranking, *, limit: int) -> list[RawHit]:
    best = ranking.ranked[:limit]
    places = {one.said.id: (one.said.thread, one.said.turn) for one in best}
    blocks = blocks_holding(tx, reader.name, places.values())
    beside = _beside(ranking.said, set(places.values()))
    shown = {name for one in best for name in (one.said.id, *beside[one.said.id]) if name}
    stored = messages_by_id(tx, shown)
    asked = query_words(query)
    return [
        _hit(
            asked,
            one,
            ranking,
            stored=stored[one.said.id],
            block=blocks.get(places[one.said.id]),
            nearby=_nearby(stored, *beside[one.said.id]),
        )
        for one in best
    ]


def _hit(
    asked: Sequence[QueryWord],
    one: Ranked,
    ranking: Ranking,
    *,
    stored: StoredMessage,
    block: Holder | None,
    nearby: Nearby,
) -> RawHit:
    message = stored.message
    words = words_held(asked, one.said.held)
    card = message_card(stored, content=excerpt(message.content, words))
    return RawHit(
        message_id=message.id,
        evidence_ref=message_ref(message.id),
        role=card.role,
        name=card.name,
        metadata=dict(card.metadata),
        message=card,
        nearby=nearby,
        thread_id=card.thread_id,
        turn_id=card.turn_id,
        block_id=None if block is None else block.block_id,
        turn_range=None if block is None else [block.start_turn, block.end_turn],
        in_open_tail=block is None,
        source_time=card.occurred_at,
        rank_score=round(one.score, 6),
        matched_words=list(words),
        match_reason=match_reason(ranking.asked, one, words),
        signals=shares_of(one.signals, SHIPPED),
    )


def _beside(
    said: Iterable[Said], places: Collection[tuple[str, int]]
) -> dict[str, tuple[str | None, str | None]]:
    """Return which messages stand right before and after each one of these turns, in its thread."""
    around = {(thread, turn + step) for thread, turn in places for step in (-1, 0, 1)}
    near = [one for one in said if (one.thread, one.turn) in around]
    near.sort(key=lambda one: (one.thread, one.turn, one.position))
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for earlier, later in pairwise(near):
        # Turns are loaded whole, so only a turn in between can be missing.
        if later.thread == earlier.thread and later.turn - earlier.turn <= 1:
            before[later.id] = earlier.id
            after[earlier.id] = later.id
    return {one.id: (before.get(one.id), after.get(one.id)) for one in near}


def _nearby(stored: Mapping[str, StoredMessage], before: str | None, after: str | None) -> Nearby:
    return Nearby(
        None if before is None else _excerpt(stored[before]),
        None if after is None else _excerpt(stored[after]),
    )


def _excerpt(stored: StoredMessage) -> MessageCard:
    return message_card(stored, content=excerpt(stored.message.content))
