"""Events in the order of the time they speak of: happened, else said, else stored."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.event_cards import EventCard, event_card
from retrieval.places import read_place
from retrieval.reader import Reader
from shared.domain.event_filters import Window
from shared.store.database import ReadTx
from shared.store.event_lists import EventFilter, timeline_page
from shared.store.events import links_of


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """One event at its instant, in UTC so that a list in one order reads in one zone."""

    at: str
    event: EventCard


def read_timeline(
    tx: ReadTx,
    reader: Reader,
    *,
    window: Window | None,
    after: str | None,
    limit: int,
    newest_first: bool,
    only: EventFilter,
) -> list[TimelineItem]:
    """Return events by source time, after the place `after` (see `place_of`)."""
    wanted = window or Window()
    found = timeline_page(
        tx,
        reader.name,
        version=reader.version,
        limit=limit,
        after=None if after is None else read_place(after),
        start=wanted.start,
        end=wanted.end,
        newest_first=newest_first,
        only=only,
    )
    links = links_of(tx, [event.event_id for _, event in found])
    return [
        TimelineItem(at.isoformat(), event_card(reader, event, links=links)) for at, event in found
    ]


def place_of(item: TimelineItem) -> str:
    """Return where an item stands, for the next page."""
    return f"{item.at}|{item.event.event_id}"
