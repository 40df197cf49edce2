"""Events as stored: read whole, written once; only status, links and weight move (D14).

Every read sees one derivation version (D19): the one the namespace is switched to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, Integer, Text, any_, bindparam, case, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from shared.domain.events import Criticality, EventStatus, EventType, Quote, Scope
from shared.store.database import ReadTx
from shared.store.direct import Direct
from shared.store.tables import event_links, event_sources, events
from shared.store.tables.events import LASTING
from shared.store.versions import in_version, live_derivation

VISIBLE = (EventStatus.ACTIVE, EventStatus.SUPERSEDED)
"""What a reader may find; forgotten and archived events are history only."""

_IDS = any_(bindparam("ids", type_=ARRAY(Text)))
_STATUSES = any_(bindparam("statuses", type_=ARRAY(Text)))
_VERSION = bindparam("version", type_=Integer)
SOURCES = (
    select(func.array_agg(aggregate_order_by(event_sources.c.message_id, event_sources.c.position)))
    .where(
        event_sources.c.tenant_id == events.c.tenant_id,
        event_sources.c.event_id == events.c.event_id,
    )
    .correlate(events)
    .scalar_subquery()
    .label("source_message_ids")
)
"""The messages an event cites, in order, as a column beside `events`."""

_EVENTS = select(events, SOURCES).where(events.c.tenant_id == bindparam("tenant_id"))
_IN_NAMESPACE = _EVENTS.where(
    events.c.namespace == bindparam("namespace"), in_version(_VERSION), events.c.status == _STATUSES
)
_BY_ID = _EVENTS.where(events.c.event_id == _IDS)
_FIND = Direct(_BY_ID)
_FIND_AND_LOCK = Direct(
    _BY_ID.order_by(events.c.event_id).with_for_update(key_share=True, of=events)
)
_OF_BLOCKS = Direct(
    _EVENTS.where(
        events.c.block_id == any_(bindparam("block_ids", type_=ARRAY(Text))), in_version(_VERSION)
    ).order_by(events.c.event_id)
)
_NEWEST_FIRST = _IN_NAMESPACE.order_by(events.c.event_id.desc()).limit(
    bindparam("most", type_=Integer)
)
_RECENT = Direct(_NEWEST_FIRST)
_RECENT_BEFORE = Direct(_NEWEST_FIRST.where(events.c.event_id < bindparam("before")))
_LASTING = Direct(_IN_NAMESPACE.where(LASTING).order_by(events.c.event_id))
_SAME = Direct(
    _IN_NAMESPACE.where(
        events.c.fingerprint == any_(bindparam("fingerprints", type_=ARRAY(Text)))
    ).order_by(events.c.event_id)
)
_OTHER = events.alias("other")
_LINKS = Direct(
    select(event_links.c.event_id, event_links.c.kind, event_links.c.other_event_id)
    .join(
        _OTHER,
        (_OTHER.c.tenant_id == bindparam("tenant_id"))
        & (
            _OTHER.c.event_id
            == case(
                (event_links.c.event_id == _IDS, event_links.c.other_event_id),
                else_=event_links.c.event_id,
            )
        ),
    )
    .where(
        event_links.c.tenant_id == bindparam("tenant_id"),
        (event_links.c.event_id == _IDS) | (event_links.c.other_event_id == _IDS),
        in_version(live_derivation(_OTHER), _OTHER),
    )
)
_SHOWN = [status.value for status in VISIBLE]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event with its sources, as every reader sees it.

    `happened_start` and `happened_end` are shown as stored: a date (`2026-03-09`) or an RFC 3339
    instant in the event's own zone. `happened_from` and `happened_until` are the same as a
    half-open span of instants.
    """

    event_id: str
    namespace: str
    thread_id: str
    block_id: str
    derivation_version: int
    job_id: str
    title: str
    summary: str
    narrative: str | None
    tags: tuple[str, ...]
    quotes: tuple[Quote, ...]
    participants: tuple[str, ...]
    event_type: EventType
    scope: Scope
    criticality: Criticality
    category: str | None
    mentioned_at: datetime | None
    zone: str
    happened_start: str | None
    happened_end: str | None
    happened_from: datetime | None
    happened_until: datetime | None
    precision: str
    basis: str
    time_status: str
    original_text: str | None
    fingerprint: str
    status: EventStatus
    status_before: EventStatus | None
    superseded_by: str | None
    pinned: bool
    formed_turn: int
    last_adopted_turn: int
    mention_count: int
    created_at: datetime
    updated_at: datetime
    source_message_ids: tuple[str, ...]
    curation_revision: int = 0


@dataclass(frozen=True, slots=True)
class EventLink:
    """A directed link between two events; conflicts are stored in both directions."""

    event_id: str
    kind: str
    other_event_id: str


def events_by_id(
    tx: ReadTx, event_ids: Collection[str], *, and_lock: bool = False
) -> dict[str, StoredEvent]:
    """Return this tenant's events of those ids, of any status; unknown ids are left out.

    `and_lock` also locks them until the commit, in order of their ids, so that two writers never
    wait crosswise.
    """
    if not event_ids:
        return {}
    statement = _FIND_AND_LOCK if and_lock else _FIND
    return {row.event_id: _event(row) for row in statement.rows(tx, ids=list(event_ids))}


def events_of_blocks(
    tx: ReadTx, block_ids: Collection[str], *, version: int
) -> dict[str, list[StoredEvent]]:
    """Return the events drawn from each block, oldest first."""
    if not block_ids:
        return {}
    grouped: dict[str, list[StoredEvent]] = {}
    for row in _OF_BLOCKS.rows(tx, block_ids=list(block_ids), version=version):
        grouped.setdefault(row.block_id, []).append(_event(row))
    return grouped


def recent_events(
    tx: ReadTx,
    namespace: str,
    *,
    version: int,
    limit: int,
    statuses: Collection[EventStatus] = VISIBLE,
    before: str | None = None,
) -> list[StoredEvent]:
    """Return the newest events of the namespace, newest first, older than the id `before`."""
    statement = _RECENT if before is None else _RECENT_BEFORE
    rows = statement.rows(
        tx,
        namespace=namespace,
        version=version,
        statuses=[status.value for status in statuses],
        most=limit,
        before=before,
    )
    return [_event(row) for row in rows]


def lasting_events(tx: ReadTx, namespace: str, *, version: int) -> list[StoredEvent]:
    """Return the visible events that never fade: pinned ones and those critical to safety."""
    rows = _LASTING.rows(tx, namespace=namespace, version=version, statuses=_SHOWN)
    return [_event(row) for row in rows]


def same_fingerprint(
    tx: ReadTx, namespace: str, fingerprints: Collection[str], *, version: int
) -> dict[str, StoredEvent]:
    """Return visible events that say exactly the same, by fingerprint (D15)."""
    hashes = {hash_fingerprint(fingerprint): fingerprint for fingerprint in fingerprints}
    if not hashes:
        return {}
    newest_last = _SAME.rows(
        tx, namespace=namespace, version=version, statuses=_SHOWN, fingerprints=list(hashes)
    )
    return {hashes[row.fingerprint]: _event(row) for row in newest_last}


def links_of(tx: ReadTx, event_ids: Collection[str]) -> list[EventLink]:
    """Return every link between one of the events and an event that readers see."""
    if not event_ids:
        return []
    rows = _LINKS.rows(tx, ids=list(event_ids))
    return [EventLink(row.event_id, row.kind, row.other_event_id) for row in rows]


def hash_fingerprint(fingerprint: str) -> str:
    """Return what is stored of a fingerprint: it may be long, and Postgres takes no NUL."""
    return hashlib.sha256(fingerprint.encode()).hexdigest()


def count_by_block(tx: ReadTx, block_id: str, *, version: int) -> int:
    """Return how many events of one version the block gave."""
    statement = (
        select(func.count())
        .select_from(events)
        .where(
            events.c.tenant_id == tx.tenant_id,
            events.c.block_id == block_id,
            in_version(version),
        )
    )
    count: int = tx.connection.execute(statement).scalar_one()
    return count


def shown(moment: date | datetime | None) -> str | None:
    """Return a date as `YYYY-MM-DD`, an instant as RFC 3339 with its offset, None as None."""
    return None if moment is None else moment.isoformat()


def span_of(
    start: date | datetime | None, end: date | datetime | None, zone: Any
) -> tuple[datetime, datetime] | tuple[None, None]:
    """Return [from, until) of inclusive bounds, days counted in `zone` (a tzinfo).

    An instant without an end lasts no time; its span ends where it begins.
    """
    if start is None:
        return None, None
    last = start if end is None else end
    begin = start if isinstance(start, datetime) else _midnight(start, zone)
    until = last if isinstance(last, datetime) else _midnight(last + timedelta(days=1), zone)
    return begin, max(begin, until)


def _midnight(day: date, zone: Any) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _event(row: Any) -> StoredEvent:
    return StoredEvent(
        event_id=row.event_id,
        namespace=row.namespace,
        thread_id=row.thread_id,
        block_id=row.block_id,
        derivation_version=row.derivation_version,
        job_id=row.job_id,
        title=row.title,
        summary=row.summary,
        narrative=row.narrative,
        tags=tuple(row.tags),
        quotes=tuple(Quote(quote["message_id"], quote["text"]) for quote in row.quotes),
        participants=tuple(row.participants),
        event_type=EventType(row.event_type),
        scope=Scope(row.scope),
        criticality=Criticality(row.criticality),
        category=row.category,
        mentioned_at=row.mentioned_at,
        zone=row.zone,
        happened_start=row.happened_start,
        happened_end=row.happened_end,
        happened_from=row.happened_from,
        happened_until=row.happened_until,
        precision=row.precision,
        basis=row.basis,
        time_status=row.time_status,
        original_text=row.original_text,
        fingerprint=row.fingerprint,
        status=EventStatus(row.status),
        status_before=EventStatus(row.status_before) if row.status_before else None,
        superseded_by=row.superseded_by,
        pinned=row.pinned,
        formed_turn=row.formed_turn,
        last_adopted_turn=row.last_adopted_turn,
        mention_count=row.mention_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
        source_message_ids=tuple(row.source_message_ids or ()),
        curation_revision=row.curation_revision,
    )
