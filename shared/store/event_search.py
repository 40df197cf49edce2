"""Find events by words and by hard filters, both where the rows are (D20, D22).

Filters narrow before any limit, so a filter never loses a match to a cap on candidates.
Participants match in part, by a rule that SQL does not know; asking for them lifts the limit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ARRAY, Integer, Select, Text, any_, bindparam, select

from shared.domain.event_filters import EventFilter, TemporalIntent, names_all
from shared.domain.events import Criticality, EventStatus
from shared.store.database import ReadTx, plan_for_any
from shared.store.direct import Direct
from shared.store.event_filters import (
    SOURCE_TIME,
    EventScope,
    FilterShape,
    filter_values,
    shape_of,
)
from shared.store.events import SOURCES
from shared.store.search import terms_of
from shared.store.search_hits import HITS, best_first, bm25_parameters
from shared.store.search_keys import DocumentKind
from shared.store.tables import events

__all__ = ["EventScope"]

_UNLIMITED: Final = 2**31 - 1
_BESIDE_A_THREAD: Final = 2_000
"""How many of the best events are looked through for those of other threads than the one named."""

_LIMIT = bindparam("limit", type_=Integer)
_STANDING = (
    events.c.event_id,
    events.c.status,
    events.c.superseded_by,
    events.c.happened_from,
    events.c.mentioned_at,
    events.c.created_at,
    events.c.criticality,
    events.c.pinned,
    events.c.mention_count,
    events.c.last_adopted_turn,
)
_COLUMNS: Final = len(_STANDING)
_BY_ID = Direct(
    select(*_STANDING).where(
        events.c.tenant_id == bindparam("tenant_id"),
        events.c.event_id == any_(bindparam("ids", type_=ARRAY(Text))),
    )
)


# A tuple, not a dataclass: a search makes hundreds of them.
class EventStanding(NamedTuple):
    """What of an event its place among others depends on; its words are left where they are."""

    event_id: str
    status: EventStatus
    superseded_by: str | None
    happened_from: datetime | None
    mentioned_at: datetime | None
    created_at: datetime
    criticality: Criticality
    pinned: bool
    mention_count: int
    last_adopted_turn: int


@dataclass(frozen=True, slots=True)
class EventHit:
    """An event that holds a term of the query and passes the filter, with its BM25 score."""

    document_id: str
    score: float
    matched_terms: tuple[str, ...]
    standing: EventStanding


def search_events(
    tx: ReadTx,
    scope: EventScope,
    terms: Mapping[str, float],
    *,
    wanted: EventFilter,
    limit: int,
) -> list[EventHit]:
    """Return the events that hold a term and pass the filter, best first."""
    if not terms:
        return []
    statement = _hits_of(shape_of(scope, wanted))
    rows = _found(tx, statement, scope, terms, wanted=wanted, limit=limit)
    named_terms = terms_of(rows, list(terms))
    return [
        EventHit(row.document_id, row.score, named_terms(row.held), _standing(row))
        for row in _naming(rows, wanted, limit)
    ]


def messages_behind_events(
    tx: ReadTx, scope: EventScope, terms: Mapping[str, float], *, limit: int
) -> dict[str, float]:
    """Return the messages that the best events were taken from, with their best event's score."""
    if not terms:
        return {}
    wanted = EventFilter()
    statement = _sources_of(shape_of(scope, wanted))
    best: dict[str, float] = {}
    for row in _found(tx, statement, scope, terms, wanted=wanted, limit=limit):
        for message_id in row.source_message_ids or ():
            best[message_id] = max(row.score, best.get(message_id, 0.0))
    return best


def standings_of(tx: ReadTx, event_ids: Collection[str]) -> dict[str, EventStanding]:
    """Return this tenant's events of those ids as they stand; unknown ids are left out."""
    if not event_ids:
        return {}
    return {row.event_id: _standing(row) for row in _BY_ID.rows(tx, ids=list(event_ids))}


def passing_events(
    tx: ReadTx,
    scope: EventScope,
    wanted: EventFilter,
    *,
    intent: TemporalIntent | None = None,
    limit: int,
    only: Collection[str] | None = None,
) -> list[str]:
    """Return ids of events that pass the filter: earliest or latest first, else last used first.

    `only` asks about these events alone.
    """
    if only is not None and not only:
        return []
    statement = _passing(shape_of(scope, wanted), intent, asks_about_some=only is not None)
    values = dict(filter_values(scope, wanted))
    if only is not None:
        values["ids"] = list(only)
    rows = statement.rows(tx, limit=_UNLIMITED if wanted.participants else limit, **values)
    return [row.event_id for row in _naming(rows, wanted, limit)]


def has_visible_events(tx: ReadTx, scope: EventScope) -> bool:
    """Tell whether the namespace has any event that a search could return."""
    return bool(passing_events(tx, replace(scope, except_thread=None), EventFilter(), limit=1))


def _found(
    tx: ReadTx,
    statement: Direct,
    scope: EventScope,
    terms: Mapping[str, float],
    *,
    wanted: EventFilter,
    limit: int,
) -> list[Any]:
    rows: list[Any] = []
    # Filters leave out some of what is kept; where they leave out too much it is asked again.
    narrows = wanted.narrows or scope.except_thread is not None
    plan_for_any(tx)
    for kept in _bounds(scope, wanted, limit):
        parameters = bm25_parameters(
            scope.namespace,
            DocumentKind.EVENT,
            terms=terms,
            version=str(scope.version),
            kept=kept,
        )
        rows = statement.rows(
            tx,
            **parameters,
            **filter_values(scope, wanted),
            limit=_UNLIMITED if wanted.participants else limit,
        )
        # Without a filter few rows mean that only rare words were looked for: common ones alone
        # would add what hardly matches, and cost a second in a large namespace.
        if len(rows) == limit or (rows and not (narrows and rows[0].is_cut)):
            break
    return rows


def _bounds(scope: EventScope, wanted: EventFilter, limit: int) -> tuple[int | None, ...]:
    """Return how many candidates are kept, try by try; None cuts nothing.

    What a filter asks for must be found, however much else matches better. What other
    conversations know is background: where one thread holds nearly all, it may be incomplete.
    """
    if wanted.participants:
        return (None,)
    if wanted.narrows:
        return (2 * limit, None)
    if scope.except_thread is not None:
        return (2 * limit, max(_BESIDE_A_THREAD, 2 * limit))
    return (limit + limit // 4, None)


@cache
def _hits_of(shape: FilterShape) -> Direct:
    told = (HITS.c.document_id, HITS.c.score, HITS.c.held, HITS.c.places, HITS.c.is_cut)
    return Direct(_joined(shape, select(*_STANDING, *told, events.c.participants)))


@cache
def _sources_of(shape: FilterShape) -> Direct:
    return Direct(_joined(shape, select(HITS.c.score, HITS.c.is_cut, SOURCES)))


def _joined(shape: FilterShape, statement: Select[Any]) -> Select[Any]:
    found = statement.select_from(HITS).join(
        events,
        (events.c.tenant_id == bindparam("tenant_id")) & (events.c.event_id == HITS.c.document_id),
    )
    return best_first(found.where(*shape.conditions(found_by_key=True))).limit(_LIMIT)


@cache
def _passing(shape: FilterShape, intent: TemporalIntent | None, *, asks_about_some: bool) -> Direct:
    order: Sequence[Any] = (events.c.last_adopted_turn.desc(), events.c.event_id.desc())
    if intent is TemporalIntent.FIRST:
        order = (SOURCE_TIME.asc(), events.c.event_id)
    elif intent is TemporalIntent.LATEST:
        order = (SOURCE_TIME.desc(), events.c.event_id.desc())
    statement = select(events.c.event_id, events.c.participants).where(*shape.conditions())
    if asks_about_some:
        statement = statement.where(events.c.event_id == any_(bindparam("ids", type_=ARRAY(Text))))
    return Direct(statement.order_by(*order).limit(_LIMIT))


def _naming(rows: list[Any], wanted: EventFilter, limit: int) -> list[Any]:
    """Return the first rows that name all wanted participants."""
    if not wanted.participants:
        return rows
    return [row for row in rows if names_all(row.participants, wanted.participants)][:limit]


def _standing(row: Any) -> EventStanding:
    event_id, status, superseded_by, happened, said, stored, criticality, *rest = row[:_COLUMNS]
    return EventStanding(
        event_id,
        EventStatus(status),
        superseded_by,
        happened,
        said,
        stored,
        Criticality(criticality),
        *rest,
    )
