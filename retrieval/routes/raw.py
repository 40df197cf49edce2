"""Source messages over HTTP, and what became of a turn."""

from __future__ import annotations

from fastapi import APIRouter

from retrieval.listing import ThreadCard, threads_page
from retrieval.raw import RawReply, search_raw
from retrieval.routes.edge import ReadEdge
from retrieval.routes.page_reply import PageReply
from retrieval.schemas import RawSearch
from retrieval.turn_receipt import TurnReceipt, read_turn_receipt
from shared.http.paging import PageOf
from shared.ids import Prefix, check_id

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["sources"])


@router.post("/raw/search", summary="Search source messages, open tail included")
def post_raw_search(ns: str, asked: RawSearch, edge: ReadEdge) -> RawReply:
    """Each hit with the messages right beside it."""
    with edge.writing(ns, asked.thread_id, asked.query) as (tx, reader):
        return search_raw(tx, reader, asked)


@router.get("/threads", summary="List threads")
def get_threads(ns: str, edge: ReadEdge, page: PageOf) -> PageReply[ThreadCard]:
    """By name, with their counters."""
    with edge.reading(ns) as (tx, reader):
        found = threads_page(tx, reader, after=page.after, limit=page.probe)
    return PageReply.of(page, found, key=lambda card: card.thread_id)


@router.get("/turns/{trn}/receipt", summary="What became of a turn")
def get_turn_receipt(ns: str, trn: str, edge: ReadEdge) -> TurnReceipt:
    """Stage by stage: stored, sealed, summarised, events, graph, searchable since."""
    turn_id = check_id(trn, Prefix.TURN, "/path/trn")
    with edge.reading(ns) as (tx, reader):
        return read_turn_receipt(tx, reader, turn_id)
