"""Events over HTTP: search, expand, list, read, and the timeline."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from retrieval.curation_trail import EventRecord
from retrieval.event_cards import EventCard
from retrieval.expand import EventExpansionReply, expand_event, read_event
from retrieval.listing import events_page
from retrieval.routes.edge import ReadEdge
from retrieval.routes.page_reply import PageReply
from retrieval.schemas import EventExpansion, EventSearch
from retrieval.search import EventReply, search_events
from retrieval.timeline import TimelineItem, place_of, read_timeline
from retrieval.times import read_window
from shared.auth import require
from shared.domain.events import EventStatus, EventType
from shared.domain.tenancy import Permission, check_name
from shared.http.paging import PageOf
from shared.ids import Prefix, check_id
from shared.store.event_lists import EventFilter
from shared.store.events import VISIBLE

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["events"])

Participant = Annotated[str, Query(max_length=200)]
Statuses = Literal["active", "superseded", "forgotten", "archived"]


def listed(
    edge: ReadEdge,
    statuses: Annotated[list[Statuses] | None, Query()] = None,
    event_types: Annotated[list[EventType] | None, Query(max_length=11)] = None,
    thread_id: Annotated[str | None, Query(description="Events of one thread.")] = None,
    participants: Annotated[
        list[Participant] | None, Query(max_length=24, description="All of these take part.")
    ] = None,
) -> EventFilter:
    """Read which events a list shows; Forbidden for those that only curators may see."""
    wanted = [EventStatus(name) for name in statuses] if statuses else list(VISIBLE)
    if not set(wanted) <= set(VISIBLE):
        require(edge.caller, (Permission.CURATE,))
    if thread_id is not None:
        check_name(thread_id, "/query/thread_id")
    named = [name for name in participants or () if name.strip()]
    return EventFilter(wanted, event_types or (), thread_id, named)


Listed = Annotated[EventFilter, Depends(listed)]


@router.post("/events/search", summary="Search events")
def post_events_search(ns: str, asked: EventSearch, edge: ReadEdge) -> EventReply:
    """Filters are hard; the reply says what matched, what is pending, and why it is empty."""
    with edge.writing(ns, asked.thread_id, asked.query) as (tx, reader):
        return search_events(tx, reader, asked)


@router.post("/events/{evt}/expand", summary="Read an event whole, as a new batch")
def post_event_expand(
    ns: str, evt: str, edge: ReadEdge, asked: EventExpansion | None = None
) -> EventExpansionReply:
    """With narrative, quotes and source messages."""
    event_id = check_id(evt, Prefix.EVENT, "/path/evt")
    thread_id = asked.thread_id if asked else None
    with edge.writing(ns, thread_id) as (tx, reader):
        return expand_event(tx, reader, event_id)


@router.get("/events", summary="List events, newest first")
def get_events(
    ns: str,
    edge: ReadEdge,
    page: PageOf,
    only: Listed,
) -> PageReply[EventCard]:
    """A plain list makes no batch; `forgotten` and `archived` are for keys that may curate."""
    with edge.reading(ns) as (tx, reader):
        found = events_page(tx, reader, before=page.after, limit=page.probe, only=only)
    return PageReply.of(page, found, key=lambda card: card.event_id)


@router.get("/events/{evt}", summary="Read an event whole")
def get_event(ns: str, evt: str, edge: ReadEdge) -> EventRecord:
    """With what people decided about it; what is read here cannot be recorded as used."""
    event_id = check_id(evt, Prefix.EVENT, "/path/evt")
    may_curate = edge.caller.may(Permission.CURATE)
    with edge.reading(ns) as (tx, reader):
        return read_event(tx, reader, event_id, sees_set_aside=may_curate)


@router.get("/timeline", summary="Events in the order of the time they speak of")
def get_timeline(
    ns: str,
    edge: ReadEdge,
    page: PageOf,
    only: Listed,
    start: Annotated[str | None, Query(alias="from")] = None,
    end: Annotated[str | None, Query(alias="to")] = None,
    timezone: str | None = None,
    order: Literal["oldest", "newest"] = "oldest",
) -> PageReply[TimelineItem]:
    """When it happened, else when it was said; both bounds are inclusive."""
    window = read_window(start, end, timezone=timezone, pointer="/query/from")
    with edge.reading(ns) as (tx, reader):
        found = read_timeline(
            tx,
            reader,
            window=window,
            after=page.after,
            limit=page.probe,
            newest_first=order == "newest",
            only=only,
        )
    return PageReply.of(page, found, key=place_of)
