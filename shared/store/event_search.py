"""Find events by words and by hard filters, both where the rows are (D20, D22).

Filters narrow before any limit, so a filter never loses a match to a cap on candidates.
Participants match in part, by a rule that SQL does not know; asking for them lifts the limit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from shared.domain.event_filters import (
    VISIBLE_STATUSES,
    EventFilter,
    TemporalIntent,
    Window,
    names_all,
)
from shared.store.database import ReadTx
from shared.store.search import HITS, Hit, best_first, bm25_parameters, hit_of
from shared.store.search_index import DocumentKind
from shared.store.tables import events
from shared.store.versions import in_version

SOURCE_TIME = func.coalesce(events.c.happened_from, events.c.mentioned_at, events.c.created_at)
"""What places an event in time: when it happened, else was said, else was stored."""


@dataclass(frozen=True, slots=True)
class EventScope:
    """Which events a search may see at all: one namespace's live derivation version (D19)."""

    namespace: str
    version: int
    except_thread: str | None = None


def search_events(
    tx: ReadTx,
    scope: EventScope,
    terms: Mapping[str, float],
    *,
    wanted: EventFilter,
    limit: int,
) -> list[Hit]:
    """Return the events that hold a term and pass the filter, best first."""
    if not terms:
        return []
    asked = list(terms)
    statement = best_first(
        select(HITS, events.c.participants)
        .join(
            events,
            (events.c.tenant_id == tx.tenant_id) & (events.c.event_id == HITS.c.document_id),
        )
        .where(*_conditions(scope, wanted))
    )
    for bounded in (not wanted.participants, False):
        parameters = bm25_parameters(
            tx,
            scope.namespace,
            DocumentKind.EVENT,
            terms=terms,
            version=str(scope.version),
            kept=2 * limit if bounded else None,
        )
        rows = tx.connection.execute(_limited(statement, wanted, limit), parameters).all()
        if not bounded or len(rows) == limit or (rows and not rows[0].is_cut):
            break
    named = (row for row in rows if names_all(row.participants, wanted.participants))
    return [hit_of(row, asked) for row, _ in zip(named, range(limit), strict=False)]


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
    order: tuple[ColumnElement[Any], ...]
    if intent is TemporalIntent.FIRST:
        order = (SOURCE_TIME.asc(), events.c.event_id)
    elif intent is TemporalIntent.LATEST:
        order = (SOURCE_TIME.desc(), events.c.event_id.desc())
    else:
        order = (events.c.last_adopted_turn.desc(), events.c.event_id.desc())
    statement = (
        select(events.c.event_id, events.c.participants)
        .where(events.c.tenant_id == tx.tenant_id, *_conditions(scope, wanted))
        .order_by(*order)
    )
    if only is not None:
        statement = statement.where(events.c.event_id.in_(only))
    rows = tx.connection.execute(_limited(statement, wanted, limit))
    named = (row.event_id for row in rows if names_all(row.participants, wanted.participants))
    return [event_id for event_id, _ in zip(named, range(limit), strict=False)]


def has_visible_events(tx: ReadTx, scope: EventScope) -> bool:
    """Tell whether the namespace has any event that a search could return."""
    return bool(passing_events(tx, replace(scope, except_thread=None), EventFilter(), limit=1))


def _limited(statement: Select[Any], wanted: EventFilter, limit: int) -> Select[Any]:
    return statement if wanted.participants else statement.limit(limit)


def _conditions(scope: EventScope, wanted: EventFilter) -> Sequence[ColumnElement[bool]]:
    statuses = sorted(status.value for status in wanted.statuses & VISIBLE_STATUSES)
    conditions: list[ColumnElement[bool]] = [
        events.c.namespace == scope.namespace,
        in_version(scope.version),
        events.c.status.in_(statuses),
    ]
    if scope.except_thread is not None:
        conditions.append(events.c.thread_id != scope.except_thread)
    if wanted.event_types:
        conditions.append(events.c.event_type.in_(sorted(t.value for t in wanted.event_types)))
    if wanted.mentioned is not None:
        conditions.append(_within_instant(wanted.mentioned))
    if wanted.occurred is not None:
        conditions.append(_overlapping(wanted.occurred))
    return conditions


def _within_instant(window: Window) -> ColumnElement[bool]:
    said = events.c.mentioned_at
    bounds: list[ColumnElement[bool]] = [said.is_not(None)]
    if window.start is not None:
        bounds.append(said >= window.start)
    if window.end is not None:
        bounds.append(said <= window.end)
    return and_(*bounds)


def _overlapping(window: Window) -> ColumnElement[bool]:
    """The stored span is half-open, but for an instant, which lasts no time."""
    begin, until = events.c.happened_from, events.c.happened_until
    bounds: list[ColumnElement[bool]] = [begin.is_not(None)]
    if window.start is not None:
        bounds.append(or_(until > window.start, and_(begin == until, begin >= window.start)))
    if window.end is not None:
        bounds.append(begin <= window.end)
    return and_(*bounds)
