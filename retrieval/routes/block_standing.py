"""Blocks looked at over HTTP: a thread's blocks as they stand, and one block at every level."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from retrieval.block_standing import BlockRecord, ThreadBlocks, read_block, thread_blocks
from retrieval.routes.edge import ReadEdge
from shared.domain.tenancy import check_name
from shared.errors import InvalidInput
from shared.http.paging import PageOf, encode_cursor
from shared.ids import Prefix, check_id

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["blocks"])


@router.get("/threads/{thread}/blocks", summary="A thread's blocks as they stand, newest first")
def get_thread_blocks(ns: str, thread: str, edge: ReadEdge, page: PageOf) -> ThreadBlocks:
    """Level, weight, anchor and tokens of each, and the open tail; no batch, no new anchor."""
    thread_id = check_name(thread, "/path/thread")
    before = _place(page.after)
    with edge.reading(ns, thread_id) as (tx, reader):
        told, last = thread_blocks(tx, reader, thread_id, before=before, limit=page.limit)
    return replace(told, next_cursor=None if last is None else encode_cursor(str(last)))


@router.get("/blocks/{blk}", summary="Look at a block at every level")
def get_block_record(ns: str, blk: str, edge: ReadEdge) -> BlockRecord:
    """With tokens, share of L5 and the curve it decays along; it is not anchored anew by this."""
    block_id = check_id(blk, Prefix.BLOCK, "/path/blk")
    with edge.reading(ns) as (tx, reader):
        return read_block(tx, reader, block_id)


def _place(after: str | None) -> int | None:
    if after is None:
        return None
    if not (after.isascii() and after.isdigit() and len(after) <= 18):
        raise InvalidInput.at(
            "/query/cursor", "give the next_cursor of the page before", "invalid_cursor"
        )
    return int(after)
