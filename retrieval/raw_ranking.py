"""Rank source messages: candidates by their words and by the events taken from them (D22).

SQL finds the candidates; `shared.domain.ranking` scores them with what stands beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.progress import Pending, empty_reason
from retrieval.reader import Reader
from retrieval.vector_lane import SILENT, DegradedLane, MeaningLane, meaning_lane
from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.messages import Ranked, rank_messages
from shared.domain.ranking.question import Asked, read_question
from shared.domain.ranking.said import Said
from shared.store.database import ReadTx
from shared.store.event_search import messages_behind_events
from shared.store.search import messages_found
from shared.store.search_keys import DocumentKind
from shared.store.search_messages import messages_to_rank
from shared.store.search_statistics import collection_statistics
from shared.store.vectors import VectorKind

CANDIDATES = 200
"""How many messages are found by their own words; those beside them are ranked too."""

EVENT_CANDIDATES = 40
"""How many events lend their words to the messages that they were taken from."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The ways to find a message; all lanes' messages are candidates.

    A lane whose score counts is handed on to the ranking. `stats` is what the lane of words
    counted, None where it found nothing.
    """

    words: Collection[str]
    stats: Bm25Stats | None
    events: Mapping[str, float]
    meaning: MeaningLane = SILENT

    @property
    def message_ids(self) -> set[str]:
        """The candidates: what any lane found."""
        return {*self.words, *self.events, *self.meaning.nearest}


@dataclass(frozen=True, slots=True)
class Ranking:
    """The messages that answer a question, best first, and what was read in the question.

    `said` holds all that was looked at: each ranked message and those of the turns beside it.
    """

    asked: Asked
    ranked: tuple[Ranked, ...]
    said: tuple[Said, ...]
    degraded_lanes: tuple[DegradedLane, ...] = ()


def ranked_messages(
    tx: ReadTx, reader: Reader, query: str, *, threads: Sequence[str] | None = None
) -> Ranking:
    """Return the messages that answer a query, best first; equal scores: the later one first."""
    asked = read_question(query)
    lanes = _lanes(tx, reader, asked, threads=threads)
    candidates = lanes.message_ids
    if not candidates:
        return Ranking(asked, (), (), lanes.meaning.degraded)
    stats = lanes.stats or collection_statistics(
        tx, reader.name, DocumentKind.MESSAGE, terms=asked.terms
    )
    said = messages_to_rank(
        tx,
        reader.name,
        candidates,
        # What no message holds need not be looked for in any.
        terms=[term for term in asked.terms if term in stats.document_frequencies],
        threads=threads,
        events=lanes.events,
    )
    ranked = rank_messages(asked, said, stats=stats, likeness=lanes.meaning.likeness)
    return Ranking(asked, tuple(ranked), tuple(said), lanes.meaning.degraded)


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


def _lanes(tx: ReadTx, reader: Reader, asked: Asked, *, threads: Sequence[str] | None) -> Lanes:
    found = messages_found(tx, reader.name, asked.terms, limit=CANDIDATES, threads=threads)
    return Lanes(
        words=found.ids,
        stats=found.stats,
        events=messages_behind_events(tx, reader.scope, asked.terms, limit=EVENT_CANDIDATES),
        # A query without a word to look for finds nothing in any lane (D48).
        meaning=meaning_lane(tx, reader, VectorKind.MESSAGE, threads=threads)
        if asked.terms
        else SILENT,
    )
