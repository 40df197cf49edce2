"""Rank events: words first, then the time asked for, then weight among what is relevant (D22).

Filters are hard and narrow in SQL. A superseded event stands right below what replaced it, and
the replacement is shown even where no word of the query hits it (D44).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from retrieval.event_cards import weight_now
from retrieval.reader import Reader
from retrieval.vector_lane import SILENT, MeaningLane
from shared.domain.event_filters import (
    EventFilter,
    TemporalIntent,
    Window,
    current_first,
)
from shared.domain.events import EventStatus
from shared.domain.fusion import Scaling, ScoredPart, weighted_score_fusion
from shared.domain.ranking.weights import SHIPPED, Signal
from shared.domain.search_terms import query_terms
from shared.store.database import ReadTx
from shared.store.event_search import EventScope, passing_events, search_events
from shared.store.events import StoredEvent, events_by_id

CANDIDATES = 200
"""How many hits of each lane are ranked; filters narrow before it."""

_WORDS, _WINDOW, _SAID, _INTENT, _WEIGHT = 1.0, 0.5, 0.2, 0.4, 0.1
_MEANING = SHIPPED[Signal.MEANING]
_NEAREST = 40
"""How many events are candidates by their meaning alone, of those that pass the filters."""

_ASKED_AT_ONCE = 400
_TIME_WORD = 0.25
"""What a time word counts as a word once it is read as a window."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """What is asked of the events. `windows` are the query's own time words with their spans,
    `candidates` how many hits of each lane are ranked."""

    text: str
    wanted: EventFilter = field(default_factory=EventFilter)
    intent: TemporalIntent | None = None
    windows: tuple[tuple[str, Window], ...] = ()
    except_thread: str | None = None
    candidates: int = CANDIDATES

    @property
    def terms(self) -> dict[str, float]:
        """The terms to look for, time words counting less than others."""
        asked = query_terms(self.text)
        for words, _ in self.windows:
            for term in query_terms(words):
                if term in asked:
                    asked[term] *= _TIME_WORD
        return asked

    @property
    def is_positive(self) -> bool:
        """Tell whether a filter says what is wanted, so that passing it is a match of its own."""
        wanted = self.wanted
        return bool(
            wanted.event_types or wanted.participants or wanted.occurred or wanted.mentioned
        )


@dataclass(frozen=True, slots=True)
class RankedEvent:
    """One event's place: the query's terms it holds, and what else led to it."""

    event: StoredEvent
    score: float
    terms: tuple[str, ...] = ()
    time_words: tuple[str, ...] = ()
    passes_filter: bool = False
    replaces: str | None = None
    is_alike: bool = False


def ranked_events(
    tx: ReadTx, reader: Reader, query: EventQuery, lane: MeaningLane = SILENT
) -> list[RankedEvent]:
    """Return the matching events, best first; with a lane of meaning also those it finds.

    A query that is not blank but holds no searchable term finds nothing (D48).
    """
    terms = query.terms
    if query.text.strip() and not terms:
        return []
    scope = replace(reader.scope, except_thread=query.except_thread)
    hits = search_events(tx, scope, terms, wanted=query.wanted, limit=query.candidates)
    words = {hit.document_id: hit.score for hit in hits}
    happened, said = _in_windows(tx, scope, query)
    passing = _passing(tx, scope, query)
    alike = _alike(tx, scope, query, lane)
    known = events_by_id(tx, {*words, *happened, *said, *passing, *alike})
    fused = weighted_score_fusion(
        (
            ScoredPart("words", words, _WORDS),
            ScoredPart("meaning", _above_lowest(lane, known), _MEANING),
            ScoredPart("window", dict.fromkeys(happened, 1.0), _WINDOW),
            ScoredPart("said", dict.fromkeys(said, 1.0), _SAID),
            ScoredPart("intent", _by_time(known, words, query.intent), _INTENT, Scaling.SPAN),
            ScoredPart(
                "weight", {name: weight_now(reader, e) for name, e in known.items()}, _WEIGHT
            ),
        )
    )
    matched = {hit.document_id: hit.matched_terms for hit in hits}
    ranked = [
        RankedEvent(
            event=known[one.id],
            score=round(one.score, 6),
            terms=matched.get(one.id, ()),
            time_words=tuple(dict.fromkeys((*happened.get(one.id, ()), *said.get(one.id, ())))),
            passes_filter=one.id in passing,
            is_alike=one.id in alike,
        )
        for one in fused
    ]
    return _current_first(tx, scope, query, ranked)


def matches_without_filters(tx: ReadTx, reader: Reader, query: EventQuery) -> bool:
    """Tell whether something would be found if no filter were given."""
    if query.is_positive:
        return bool(passing_events(tx, reader.scope, EventFilter(), limit=1))
    if not query.wanted.narrows:
        return False
    return bool(search_events(tx, reader.scope, query.terms, wanted=EventFilter(), limit=1))


def _passing(tx: ReadTx, scope: EventScope, query: EventQuery) -> frozenset[str]:
    """Return what passes the filters though it may share no word; all of it without a text."""
    if query.text.strip() and not query.is_positive:
        return frozenset()
    return frozenset(passing_events(tx, scope, query.wanted, intent=query.intent, limit=CANDIDATES))


def _alike(tx: ReadTx, scope: EventScope, query: EventQuery, lane: MeaningLane) -> frozenset[str]:
    """Return the events most like the query, of those that pass its filters."""
    found: list[str] = []
    ordered = lane.by_likeness
    for start in range(0, len(ordered), _ASKED_AT_ONCE):
        asked = ordered[start : start + _ASKED_AT_ONCE]
        passing = set(passing_events(tx, scope, query.wanted, limit=len(asked), only=asked))
        found += [name for name in asked if name in passing]
        if len(found) >= _NEAREST:
            break
    return frozenset(found[:_NEAREST])


def _above_lowest(lane: MeaningLane, known: Collection[str]) -> dict[str, float]:
    """Return how far each event stands above the one least like the query."""
    if lane.likeness is None:
        return {}
    cosines, lowest = lane.likeness.cosines, lane.likeness.lowest
    return {name: cosines[name] - lowest for name in known if name in cosines}


def _in_windows(
    tx: ReadTx, scope: EventScope, query: EventQuery
) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """Return which events happened, and which were said, within which time words of the query."""
    happened: dict[str, tuple[str, ...]] = {}
    said: dict[str, tuple[str, ...]] = {}
    for words, window in query.windows:
        wanted = query.wanted
        occurred = replace(wanted, occurred=_both(window, wanted.occurred))
        mentioned = replace(wanted, mentioned=_both(window, wanted.mentioned))
        for found, narrowed in ((happened, occurred), (said, mentioned)):
            for name in passing_events(tx, scope, narrowed, intent=query.intent, limit=CANDIDATES):
                found[name] = (*found.get(name, ()), words)
    return happened, said


def _both(window: Window, other: Window | None) -> Window:
    if other is None:
        return window
    starts = [start for start in (window.start, other.start) if start is not None]
    ends = [end for end in (window.end, other.end) if end is not None]
    return Window(max(starts, default=None), min(ends, default=None))


def _by_time(
    known: Mapping[str, StoredEvent], words: Collection[str], intent: TemporalIntent | None
) -> dict[str, float]:
    """Score the relevant events by how early or late they stand, from 0 to 1."""
    if intent is None:
        return {}
    relevant = [event for name, event in known.items() if not words or name in words]
    ordered = sorted(relevant, key=_instant, reverse=intent is TemporalIntent.FIRST)
    return {event.event_id: float(place) for place, event in enumerate(ordered)}


def _instant(event: StoredEvent) -> tuple[datetime, str]:
    return event.happened_from or event.mentioned_at or event.created_at, event.event_id


def _current_first(
    tx: ReadTx, scope: EventScope, query: EventQuery, ranked: Sequence[RankedEvent]
) -> list[RankedEvent]:
    """Put what replaced a found event above it, looking it up where no word found it."""
    by_id = {one.event.event_id: one for one in ranked}
    missing = {
        one.event.superseded_by
        for one in ranked
        if one.event.superseded_by and one.event.superseded_by not in by_id
    }
    allowed = passing_events(tx, scope, query.wanted, limit=len(missing), only=missing)
    replacing = events_by_id(tx, allowed)
    order: list[str] = []
    for one in ranked:
        successor = replacing.get(one.event.superseded_by or "")
        if successor is not None and successor.event_id not in by_id:
            by_id[successor.event_id] = RankedEvent(
                successor, one.score, replaces=one.event.event_id
            )
            order.append(successor.event_id)
        order.append(one.event.event_id)
    successors = {
        name: one.event.superseded_by
        for name, one in by_id.items()
        if one.event.status is EventStatus.SUPERSEDED and one.event.superseded_by
    }
    return [by_id[name] for name in current_first(order, successors)]
