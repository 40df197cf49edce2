"""Events in the order of time they speak of, page by page."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import select, tuple_

from shared.domain.events import EventStatus
from shared.store.database import ReadTx
from shared.store.event_search import SOURCE_TIME
from shared.store.events import VISIBLE, StoredEvent, events_by_id
from shared.store.tables import events
from shared.store.versions import in_version


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
    statuses: Collection[EventStatus] = VISIBLE,
) -> list[tuple[datetime, StoredEvent]]:
    """Return events by source time (happened, else said, else stored), each with that time.

    `after` is the (time, id) of the last one seen; `start` and `end` are inclusive.
    """
    place = tuple_(SOURCE_TIME, events.c.event_id)
    statement = select(events.c.event_id, SOURCE_TIME.label("at")).where(
        events.c.tenant_id == tx.tenant_id,
        events.c.namespace == namespace,
        in_version(version),
        events.c.status.in_([status.value for status in statuses]),
    )
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
