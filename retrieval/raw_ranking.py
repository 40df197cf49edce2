"""Rank source messages by inspectable parts: words, who speaks, and whether a time is told (D22).

A document holds a message's own words. What stands right beside it in the same sitting is
joined here, at half weight, so that an answer is found by the words of its question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from retrieval.reader import Reader
from shared.domain.bm25 import Bm25Stats, score_document
from shared.domain.questions import asks_when
from shared.domain.search_terms import query_terms, search_terms
from shared.domain.temporal.resolver import resolve
from shared.store.block_views import messages_around
from shared.store.database import ReadTx
from shared.store.messages import StoredMessage, messages_by_id
from shared.store.search import K1, B, bm25_search
from shared.store.search_index import DocumentKind
from shared.store.search_statistics import TermCounts, collection_statistics, term_counts

CANDIDATES = 200
"""How many messages are found by their own words; those beside them are ranked too."""

BESIDE = 0.5
"""What a word of a neighbouring message counts, in frequency and in length."""

NAMED = 0.4
"""What a message by a speaker whom the query names gains, of the best score."""

TELLS_TIME = 0.2
"""What a message with a resolvable time gains, of the best score, when the query asks when."""

SITTING = timedelta(hours=6)
"""Messages further apart than this are not of one sitting, so they lend each other nothing."""

_TIMED = 60
_LONGEST_TIMED = 2_000
_NOTHING = TermCounts(0, {})


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """One message's place, what it holds of the query itself, and what else led to it."""

    stored: StoredMessage
    score: float
    terms: tuple[str, ...]
    before: StoredMessage | None
    after: StoredMessage | None
    is_named: bool = False
    tells_time: bool = False


def ranked_messages(
    tx: ReadTx, reader: Reader, query: str, *, threads: Sequence[str] | None = None
) -> list[RankedMessage]:
    """Return the messages that answer a query, best first; equal scores: the later one first."""
    terms = query_terms(query)
    hits = bm25_search(
        tx, reader.name, DocumentKind.MESSAGE, terms, limit=CANDIDATES, threads=threads
    )
    if not hits:
        return []
    found = messages_by_id(tx, [hit.document_id for hit in hits])
    places = {(hit.thread_id, found[hit.document_id].turn_sequence) for hit in hits}
    rows = messages_around(tx, reader.name, places)
    scored = _scored(tx, reader, terms, rows=list(rows.values()))
    named = _favour_named(scored, terms)
    timed = _favour_timed(named) if asks_when(query) else named
    return sorted(timed, key=_order)


def _scored(
    tx: ReadTx,
    reader: Reader,
    terms: Mapping[str, float],
    *,
    rows: Sequence[Sequence[StoredMessage]],
) -> list[RankedMessage]:
    """Score each message with its neighbours' words joined; those without any are left out."""
    kind = DocumentKind.MESSAGE
    ids = [stored.message.id for row in rows for stored in row]
    counts = term_counts(tx, reader.name, kind, document_ids=ids, terms=terms)
    own = collection_statistics(tx, reader.name, kind, terms=terms)
    stats = replace(own, average_length=own.average_length * (1 + 2 * BESIDE))
    scored: list[RankedMessage] = []
    for row in rows:
        for index, stored in enumerate(row):
            before, after = _beside(row, index, -1), _beside(row, index, +1)
            lenders = [one for one in (before, after) if one and _same_sitting(stored, one)]
            score = _score(stored, lenders, counts=counts, stats=stats, terms=terms)
            if score > 0:
                held = tuple(counts.get(stored.message.id, _NOTHING).frequencies)
                scored.append(RankedMessage(stored, score, held, before, after))
    return scored


def _score(
    stored: StoredMessage,
    lenders: Sequence[StoredMessage],
    *,
    counts: Mapping[str, TermCounts],
    stats: Bm25Stats,
    terms: Mapping[str, float],
) -> float:
    own = counts.get(stored.message.id, _NOTHING)
    length = float(own.length)
    frequencies: dict[str, float] = dict(own.frequencies)
    for lender in lenders:
        lent = counts.get(lender.message.id, _NOTHING)
        length += BESIDE * lent.length
        for term, frequency in lent.frequencies.items():
            frequencies[term] = frequencies.get(term, 0.0) + BESIDE * frequency
    return score_document(frequencies, length, stats=stats, query_weights=terms, k1=K1, b=B)


def _favour_named(
    scored: Sequence[RankedMessage], terms: Mapping[str, float]
) -> list[RankedMessage]:
    """Lift the messages of a speaker whom the query names."""
    best = max((one.score for one in scored), default=0.0)
    names = {one.stored.message.name for one in scored} - {None}
    asked = {name for name in names if name and not terms.keys().isdisjoint(search_terms(name))}
    return [
        replace(one, score=one.score + NAMED * best, is_named=True)
        if one.stored.message.name in asked
        else one
        for one in scored
    ]


def _favour_timed(scored: Sequence[RankedMessage]) -> list[RankedMessage]:
    """Lift, among the best, the messages that tell a time."""
    ranked = sorted(scored, key=_order)
    best = ranked[0].score if ranked else 0.0
    return [
        replace(one, score=one.score + TELLS_TIME * best, tells_time=True)
        if place < _TIMED and _tells_time(one.stored)
        else one
        for place, one in enumerate(ranked)
    ]


def _tells_time(stored: StoredMessage) -> bool:
    message = stored.message
    if message.occurred_at is None:
        return False
    read = resolve(message.content[:_LONGEST_TIMED], message.occurred_at, message.zone)
    return any(found.start is not None for found in read)


def _beside(row: Sequence[StoredMessage], index: int, step: int) -> StoredMessage | None:
    """Return the next message of the thread in one direction, None at a gap in what is loaded."""
    place = index + step
    if not 0 <= place < len(row):
        return None
    near = abs(row[place].turn_sequence - row[index].turn_sequence) <= 1
    return row[place] if near else None


def _same_sitting(one: StoredMessage, other: StoredMessage) -> bool:
    first, second = one.message.occurred_at, other.message.occurred_at
    return first is None or second is None or abs(first - second) <= SITTING


def _order(one: RankedMessage) -> tuple[float, float, int, int, str]:
    said = one.stored.message.occurred_at
    moment = said.timestamp() if said else 0.0
    place = (-one.stored.turn_sequence, -one.stored.position)
    return (-one.score, -moment, *place, one.stored.message.id)
