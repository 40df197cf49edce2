"""Lists of events, page by page: by when they were stored, or by the time they speak of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, func, select, text, tuple_

from shared.domain.events import EventStatus, EventType
from shared.domain.tokens import normalise
from shared.store.database import ReadTx
from shared.store.event_filters import SOURCE_TIME
from shared.store.events import VISIBLE, StoredEvent, events_by_id
from shared.store.tables import events
from shared.store.versions import in_version


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events a list shows; every condition is hard, an empty one means no condition."""

    statuses: Collection[EventStatus] = VISIBLE
    event_types: Collection[EventType] = ()
    thread_id: str | None = None
    participants: Collection[str] = ()
    """All of these take part; a name matches in part, either in the other, in any case."""


def newest_page(
    tx: ReadTx,
    namespace: str,
    *,
    version: int,
    limit: int,
    before: str | None = None,
    only: EventFilter,
) -> list[StoredEvent]:
    """Return the newest events of the namespace, newest first, older than the id `before`."""
    statement = _where(select(events.c.event_id), tx, namespace, version=version, only=only)
    if before is not None:
        statement = statement.where(events.c.event_id < before)
    statement = statement.order_by(events.c.event_id.desc()).limit(limit)
    names = list(tx.connection.execute(statement).scalars())
    found = events_by_id(tx, names)
    return [found[name] for name in names]


def timeline_page(
    tx: ReadTx,
    namespace: str,
    *,
    version: int,
    limit: int,
    after: tuple[datetime, str] | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    newest_first: bool = False,
    only: EventFilter,
) -> list[tuple[datetime, StoredEvent]]:
    """Return events by source time (happened, else said, else stored), each with that time.

    `after` is the (time, id) of the last one seen; `start` and `end` are inclusive.
    """
    place = tuple_(SOURCE_TIME, events.c.event_id)
    wanted = select(events.c.event_id, SOURCE_TIME.label("at"))
    statement = _where(wanted, tx, namespace, version=version, only=only)
    if start is not None:
        statement = statement.where(start <= SOURCE_TIME)
    if end is not None:
        statement = statement.where(end >= SOURCE_TIME)
    if after is not None:
        statement = statement.where(place < after if newest_first else place > after)
    if newest_first:
        statement = statement.order_by(SOURCE_TIME.desc(), events.c.event_id.desc())
    else:
        statement = statement.order_by(SOURCE_TIME, events.c.event_id)
    rows = list(tx.connection.execute(statement.limit(limit)))
    found = events_by_id(tx, [row.event_id for row in rows])
    return [(row.at, found[row.event_id]) for row in rows]


def _where(
    statement: Select[Any], tx: ReadTx, namespace: str, *, version: int, only: EventFilter
) -> Select[Any]:
    statement = statement.where(
        events.c.tenant_id == tx.tenant_id,
        events.c.namespace == namespace,
        in_version(version),
        events.c.status.in_([status.value for status in only.statuses]),
    )
    if only.event_types:
        kinds = [kind.value for kind in only.event_types]
        statement = statement.where(events.c.event_type.in_(kinds))
    if only.thread_id is not None:
        statement = statement.where(events.c.thread_id == only.thread_id)
    for name in only.participants:
        statement = statement.where(_takes_part(normalise(name)))
    return statement


def _takes_part(name: str) -> ColumnElement[bool]:
    """Match where the rows are: a page must not be filled by reading all events."""
    participant = func.unnest(events.c.participants).table_valued("name", name="participant")
    known = func.lower(func.normalize(participant.c.name, text("NFKC")))
    either = (func.strpos(known, name) > 0) | (func.strpos(name, known) > 0)
    return exists(select(1).select_from(participant).where(either, known != ""))
