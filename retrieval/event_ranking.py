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
from shared.domain.fusion import Scaling, scaled_scores
from shared.domain.ranking.scoring import Scored, Signals, rank_by_signals
from shared.domain.ranking.weights import EVENTS, Signal
from shared.domain.search_terms import query_terms
from shared.store.database import ReadTx
from shared.store.event_search import (
    EventHit,
    EventScope,
    EventStanding,
    passing_events,
    search_events,
    standings_of,
)
from shared.store.events import StoredEvent, events_by_id

CANDIDATES = 200
"""How many hits of each lane are ranked; filters narrow before it."""

_NEAREST = 40
"""How many events are candidates by their meaning alone, of those that pass the filters."""

_ASKED_AT_ONCE = 400
_TIME_WORD = 0.25
"""What a time word counts as a word once it is read as a window."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """What is asked of the events. `windows` are the query's own time words with their spans,
    `candidates` how many hits of each lane are ranked, `text_terms` the terms of the text where
    they are known already."""

    text: str
    wanted: EventFilter = field(default_factory=EventFilter)
    intent: TemporalIntent | None = None
    windows: tuple[tuple[str, Window], ...] = ()
    except_thread: str | None = None
    candidates: int = CANDIDATES
    text_terms: Mapping[str, float] | None = None

    @property
    def terms(self) -> dict[str, float]:
        """The terms to look for, time words counting less than others."""
        asked = dict(query_terms(self.text) if self.text_terms is None else self.text_terms)
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
    """One event's place: the signals it was scored by, the query's terms it holds, and what else
    led to it."""

    event: StoredEvent
    score: float
    signals: Signals
    terms: tuple[str, ...] = ()
    time_words: tuple[str, ...] = ()
    passes_filter: bool = False
    replaces: str | None = None
    is_alike: bool = False


def ranked_events(
    tx: ReadTx, reader: Reader, query: EventQuery, lane: MeaningLane = SILENT, *, limit: int
) -> list[RankedEvent]:
    """Return the best matching events, best first; with a lane of meaning also those it finds.

    A query that is not blank but holds no searchable term finds nothing (D48).
    """
    terms = query.terms
    if query.text.strip() and not terms:
        return []
    scope = replace(reader.scope, except_thread=query.except_thread)
    hits = search_events(tx, scope, terms, wanted=query.wanted, limit=query.candidates)
    found = _Found(
        hits={hit.document_id: hit for hit in hits},
        happened=_in_windows(tx, scope, query, is_said=False),
        said=_in_windows(tx, scope, query, is_said=True),
        passing=_passing(tx, scope, query),
        alike=_alike(tx, scope, query, lane),
    )
    known = _standings(tx, found)
    fused = rank_by_signals(_signals(reader, query, found, known, lane), EVENTS)
    return _shown(tx, scope, query, fused, found=found, known=known, limit=limit)


@dataclass(frozen=True, slots=True)
class _Found:
    """What each lane found, by id; what happened or was said then has the words that say when."""

    hits: Mapping[str, EventHit]
    happened: Mapping[str, tuple[str, ...]]
    said: Mapping[str, tuple[str, ...]]
    passing: frozenset[str]
    alike: frozenset[str]


def _standings(tx: ReadTx, found: _Found) -> dict[str, EventStanding]:
    known = {name: hit.standing for name, hit in found.hits.items()}
    missing = {*found.happened, *found.said, *found.passing, *found.alike} - known.keys()
    return known | standings_of(tx, missing)


def _signals(
    reader: Reader,
    query: EventQuery,
    found: _Found,
    known: Mapping[str, EventStanding],
    lane: MeaningLane,
) -> dict[Signal, Mapping[str, float]]:
    words = {name: hit.score for name, hit in found.hits.items()}
    weight = {name: weight_now(reader, event) for name, event in known.items()}
    best = Scaling.BEST
    return {
        Signal.WORDS: scaled_scores(words, best),
        Signal.MEANING: scaled_scores(_above_lowest(lane, known), best),
        Signal.HAPPENED_THEN: dict.fromkeys(found.happened.keys() & known.keys(), 1.0),
        Signal.SAID_THEN: dict.fromkeys(found.said.keys() & known.keys(), 1.0),
        Signal.ORDER: scaled_scores(_by_time(known, words, query.intent), Scaling.SPAN),
        Signal.WEIGHT: scaled_scores(weight, best),
    }


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
    tx: ReadTx, scope: EventScope, query: EventQuery, *, is_said: bool
) -> dict[str, tuple[str, ...]]:
    """Return which events happened, or were said, within which time words of the query."""
    found: dict[str, tuple[str, ...]] = {}
    for words, window in query.windows:
        wanted = query.wanted
        narrowed = (
            replace(wanted, mentioned=_both(window, wanted.mentioned))
            if is_said
            else replace(wanted, occurred=_both(window, wanted.occurred))
        )
        for name in passing_events(tx, scope, narrowed, intent=query.intent, limit=CANDIDATES):
            found[name] = (*found.get(name, ()), words)
    return found


def _both(window: Window, other: Window | None) -> Window:
    if other is None:
        return window
    starts = [start for start in (window.start, other.start) if start is not None]
    ends = [end for end in (window.end, other.end) if end is not None]
    return Window(max(starts, default=None), min(ends, default=None))


def _by_time(
    known: Mapping[str, EventStanding], words: Collection[str], intent: TemporalIntent | None
) -> dict[str, float]:
    """Score the relevant events by how early or late they stand."""
    if intent is None:
        return {}
    relevant = [event for name, event in known.items() if not words or name in words]
    ordered = sorted(relevant, key=_instant, reverse=intent is TemporalIntent.FIRST)
    return {event.event_id: float(place) for place, event in enumerate(ordered)}


def _instant(event: EventStanding) -> tuple[datetime, str]:
    return event.happened_from or event.mentioned_at or event.created_at, event.event_id


def _shown(
    tx: ReadTx,
    scope: EventScope,
    query: EventQuery,
    fused: Sequence[Scored],
    *,
    found: _Found,
    known: Mapping[str, EventStanding],
    limit: int,
) -> list[RankedEvent]:
    """Read the best events whole, each with what led to it."""
    order, replaced = _current_first(tx, scope, query, [one.id for one in fused], known)
    scored = {one.id: one for one in fused}
    chosen = order[:limit]
    events = events_by_id(tx, chosen)
    shown = []
    for name in chosen:
        # What replaced another stands in its place, where it was not found itself.
        of = scored[replaced.get(name, name)]
        if name in events:
            shown.append(
                RankedEvent(
                    event=events[name],
                    score=round(of.score, 6),
                    signals=of.signals,
                    terms=found.hits[name].matched_terms if name in found.hits else (),
                    time_words=tuple(
                        dict.fromkeys((*found.happened.get(name, ()), *found.said.get(name, ())))
                    ),
                    passes_filter=name in found.passing,
                    replaces=replaced.get(name),
                    is_alike=name in found.alike,
                )
            )
    return shown


def _current_first(
    tx: ReadTx,
    scope: EventScope,
    query: EventQuery,
    found: Sequence[str],
    known: Mapping[str, EventStanding],
) -> tuple[list[str], dict[str, str]]:
    """Put what replaced a found event above it, looking it up where no word found it.

    Return the order, and for each event looked up the one that it replaced.
    """
    ranked = set(found)
    missing = {
        after for name in found if (after := known[name].superseded_by) and after not in ranked
    }
    allowed = passing_events(tx, scope, query.wanted, limit=len(missing), only=missing)
    replacing = standings_of(tx, allowed)
    order: list[str] = []
    replaced: dict[str, str] = {}
    for name in found:
        after = known[name].superseded_by
        if after in replacing and after not in replaced:
            replaced[after] = name
            order.append(after)
        order.append(name)
    successors = {
        name: event.superseded_by
        for name, event in {**known, **replacing}.items()
        if event.status is EventStatus.SUPERSEDED and event.superseded_by
    }
    return current_first(order, successors), replaced
