"""How retrieval went: what answers rested on, and a thread's retrieval as one transcript."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from retrieval.routes.edge import ReadEdge
from retrieval.routes.page_reply import PageReply
from retrieval.times import read_instant
from retrieval.transcript import Transcript, read_transcript
from retrieval.usage_audit import UseCard, usage_page
from shared.domain.tenancy import Permission, check_name
from shared.http.paging import PageOf, encode_cursor
from shared.ids import Prefix, check_id
from shared.store.usage_audit import UseFilter

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["audit"])


@router.get("/usage-audit", summary="What answers rested on, newest first")
def get_usage_audit(
    ns: str,
    edge: ReadEdge,
    page: PageOf,
    thread_id: Annotated[str | None, Query(description="Of the answer or the batch.")] = None,
    event_id: Annotated[str | None, Query()] = None,
    turn_id: Annotated[str | None, Query(description="The turn of the answer.")] = None,
    batch_id: Annotated[str | None, Query()] = None,
) -> PageReply[UseCard]:
    """From the answer's turn over the verdict and the selected memories to the source messages."""
    if thread_id is not None:
        check_name(thread_id, "/query/thread_id")
    only = UseFilter(
        thread_id=thread_id,
        event_id=_id(event_id, Prefix.EVENT, "/query/event_id"),
        turn_id=_id(turn_id, Prefix.TURN, "/query/turn_id"),
        batch_id=_id(batch_id, Prefix.BATCH, "/query/batch_id"),
    )
    may_curate = edge.caller.may(Permission.CURATE)
    with edge.reading(ns) as (tx, reader):
        found = usage_page(
            tx,
            reader,
            only=only,
            before=page.after,
            limit=page.probe,
            sees_set_aside=may_curate,
        )
    return PageReply.of(page, found, key=lambda card: card.use_receipt_id)


@router.get("/threads/{thread}/batches", summary="A thread's retrieval as one transcript")
def get_thread_batches(
    ns: str,
    thread: str,
    edge: ReadEdge,
    page: PageOf,
    since: Annotated[str | None, Query(description="RFC 3339; leaves out earlier ones.")] = None,
    timezone: str | None = None,
) -> Transcript:
    """Oldest first, with the sentence that lets a model state what is uncertain."""
    thread_id = check_name(thread, "/path/thread")
    start = None
    if since is not None:
        start = read_instant(since, timezone=timezone, pointer="/query/since")
    with edge.reading(ns) as (tx, reader):
        told = read_transcript(
            tx, reader, thread_id, after=page.after, since=start, limit=page.limit
        )
    last = told.next_cursor
    return replace(told, next_cursor=None if last is None else encode_cursor(last))


def _id(given: str | None, prefix: Prefix, pointer: str) -> str | None:
    return None if given is None else check_id(given, prefix, pointer)
