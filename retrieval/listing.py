"""Plain lists: a namespace's threads and events. They make no batch and rank nothing."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.event_cards import EventCard, event_card
from retrieval.reader import Reader
from shared.store.database import ReadTx
from shared.store.event_lists import EventFilter, newest_page
from shared.store.events import links_of
from shared.store.namespaces import ThreadRow, list_threads


@dataclass(frozen=True, slots=True)
class ThreadCard:
    """One thread's counters."""

    thread_id: str
    turn_count: int
    sealed_turn_count: int
    open_tail_turns: int
    block_count: int
    ready_block_count: int
    last_turn_at: str | None


def threads_page(tx: ReadTx, reader: Reader, *, after: str | None, limit: int) -> list[ThreadCard]:
    """Return threads by name, after the name `after`."""
    return [_thread(row) for row in list_threads(tx, reader.name, after=after, limit=limit)]


def events_page(
    tx: ReadTx,
    reader: Reader,
    *,
    before: str | None,
    limit: int,
    only: EventFilter,
) -> list[EventCard]:
    """Return events, newest first, older than the id `before`."""
    found = newest_page(
        tx, reader.name, version=reader.version, limit=limit, before=before, only=only
    )
    links = links_of(tx, [event.event_id for event in found])
    return [event_card(reader, event, links=links) for event in found]


def _thread(row: ThreadRow) -> ThreadCard:
    last = row.last_turn_at
    return ThreadCard(
        thread_id=row.thread_id,
        turn_count=row.turn_count,
        sealed_turn_count=row.sealed_turn_count,
        open_tail_turns=row.turn_count - row.sealed_turn_count,
        block_count=row.block_count,
        ready_block_count=row.ready_count,
        last_turn_at=None if last is None else last.isoformat(),
    )
