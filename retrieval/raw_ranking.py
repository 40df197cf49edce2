"""Rank source messages: candidates by their words and by the events taken from them (D22).

SQL finds the candidates; `shared.domain.ranking` scores them with what stands beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.progress import Pending, empty_reason
from retrieval.reader import Reader
from retrieval.vector_lane import SILENT, DegradedLane, MeaningLane, meaning_lane
from shared.domain.event_filters import EventFilter
from shared.domain.ranking.messages import Ranked, rank_messages
from shared.domain.ranking.question import Asked, read_question
from shared.domain.ranking.said import Said
from shared.domain.turns import UNTHREADED
from shared.store.block_views import messages_around
from shared.store.database import ReadTx
from shared.store.event_search import search_events
from shared.store.events import events_by_id
from shared.store.messages import StoredMessage, messages_by_id
from shared.store.search import bm25_search
from shared.store.search_index import DocumentKind
from shared.store.search_statistics import TermCounts, collection_statistics, term_counts
from shared.store.vectors import VectorKind

CANDIDATES = 200
"""How many messages are found by their own words; those beside them are ranked too."""

EVENT_CANDIDATES = 40
"""How many events lend their words to the messages that they were taken from."""

_NOTHING = TermCounts(0, {})


@dataclass(frozen=True, slots=True)
class Lanes:
    """The ways to find a message, each with its score by message id.

    All lanes' messages are candidates. A lane whose score counts is handed on in `_as_said`.
    """

    words: Mapping[str, float]
    events: Mapping[str, float]
    meaning: MeaningLane = SILENT

    @property
    def message_ids(self) -> set[str]:
        """The candidates: what any lane found."""
        return {*self.words, *self.events, *self.meaning.nearest}


@dataclass(frozen=True, slots=True)
class Ranking:
    """The messages that answer a question, best first, and what was read in the question.

    `stored` holds each ranked message and those beside it, by id.
    """

    asked: Asked
    ranked: tuple[Ranked, ...]
    stored: Mapping[str, StoredMessage]
    degraded_lanes: tuple[DegradedLane, ...] = ()


def ranked_messages(
    tx: ReadTx, reader: Reader, query: str, *, threads: Sequence[str] | None = None
) -> Ranking:
    """Return the messages that answer a query, best first; equal scores: the later one first."""
    asked = read_question(query)
    lanes = _lanes(tx, reader, asked, threads=threads)
    stored = _with_turns_beside(tx, reader, lanes.message_ids, threads=threads)
    if not stored:
        return Ranking(asked, (), {}, lanes.meaning.degraded)
    ranked = rank_messages(
        asked,
        _said(tx, reader, asked, stored=stored.values(), lanes=lanes),
        stats=collection_statistics(tx, reader.name, DocumentKind.MESSAGE, terms=asked.terms),
        likeness=lanes.meaning.likeness,
    )
    return Ranking(asked, tuple(ranked), stored, lanes.meaning.degraded)


def why_no_message(
    tx: ReadTx, reader: Reader, query: str, *, threads: Sequence[str] | None, is_empty: bool
) -> str | None:
    """Return why a search over messages found nothing, None when it found something.

    Messages are searchable at once, so nothing of them is ever still to be processed.
    """
    is_filtered = (
        is_empty and threads is not None and bool(ranked_messages(tx, reader, query).ranked)
    )
    return empty_reason(
        reader, Pending(0, None), is_empty=is_empty, is_filtered=is_filtered, has_any=False
    )


def thread_of(stored: StoredMessage) -> str:
    """Return a message's thread as it is stored and shown."""
    return stored.message.thread_id or UNTHREADED


def _lanes(tx: ReadTx, reader: Reader, asked: Asked, *, threads: Sequence[str] | None) -> Lanes:
    kind = DocumentKind.MESSAGE
    hits = bm25_search(tx, reader.name, kind, asked.terms, limit=CANDIDATES, threads=threads)
    return Lanes(
        words={hit.document_id: hit.score for hit in hits},
        events=_event_scores(tx, reader, asked),
        # A query without a word to look for finds nothing in any lane (D48).
        meaning=meaning_lane(tx, reader, VectorKind.MESSAGE, threads=threads)
        if asked.terms
        else SILENT,
    )


def _with_turns_beside(
    tx: ReadTx, reader: Reader, message_ids: Collection[str], *, threads: Sequence[str] | None
) -> dict[str, StoredMessage]:
    """Return the candidates and every message of a turn at or beside one, by id."""
    found = messages_by_id(tx, message_ids)
    places = {(thread_of(one), one.turn_sequence) for one in found.values()}
    if threads is not None:
        places = {place for place in places if place[0] in threads}
    rows = messages_around(tx, reader.name, places)
    return {one.message.id: one for row in rows.values() for one in row}


def _event_scores(tx: ReadTx, reader: Reader, asked: Asked) -> dict[str, float]:
    """Return each message's best event's score, of the events that hold a term of the query."""
    hits = search_events(
        tx, reader.scope, asked.terms, wanted=EventFilter(), limit=EVENT_CANDIDATES
    )
    known = events_by_id(tx, [hit.document_id for hit in hits])
    best: dict[str, float] = {}
    for hit in hits:
        for message_id in known[hit.document_id].source_message_ids:
            best[message_id] = max(hit.score, best.get(message_id, 0.0))
    return best


def _said(
    tx: ReadTx, reader: Reader, asked: Asked, *, stored: Collection[StoredMessage], lanes: Lanes
) -> list[Said]:
    ids = [one.message.id for one in stored]
    kind = DocumentKind.MESSAGE
    counts = term_counts(tx, reader.name, kind, document_ids=ids, terms=asked.terms)
    return [_as_said(one, counts.get(one.message.id, _NOTHING), lanes) for one in stored]


def _as_said(one: StoredMessage, counts: TermCounts, lanes: Lanes) -> Said:
    message = one.message
    return Said(
        id=message.id,
        thread=thread_of(one),
        turn=one.turn_sequence,
        position=one.position,
        role=message.role.value,
        speaker=message.name,
        said_at=message.occurred_at,
        content=message.content,
        held=counts.frequencies,
        length=counts.length,
        events=lanes.events.get(message.id, 0.0),
    )
