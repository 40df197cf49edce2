"""Blocks over HTTP: at their current level, or read deeper."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from retrieval.block_search import BlockSearchReply, search_blocks
from retrieval.blocks import BlockExpansionReply, BlocksReply, expand_block, get_blocks
from retrieval.routes.edge import ReadEdge
from retrieval.schemas import BlockLift, BlockSearch
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id

router = APIRouter(prefix="/v1/retrieval/{ns}/blocks", tags=["blocks"])


@router.get("", summary="Blocks at their current level, as a batch")
def get_all_blocks(
    ns: str,
    edge: ReadEdge,
    scope: Literal["session", "namespace"] = "session",
    thread_id: str | None = None,
) -> BlocksReply:
    """`session`: the thread's own blocks and those without a thread."""
    with edge.writing(ns, thread_id) as (tx, reader):
        return get_blocks(tx, reader, scope=scope)


@router.post("/search", summary="Search blocks by what their messages say")
def post_block_search(ns: str, asked: BlockSearch, edge: ReadEdge) -> BlockSearchReply:
    """Each ready block at its current level, with the messages that speak for it."""
    with edge.writing(ns, asked.thread_id, asked.query) as (tx, reader):
        return search_blocks(tx, reader, asked)


@router.post(
    "/{blk}/expand",
    openapi_extra=refuses("block_pending"),
    summary="Read a block at another level, as a new batch",
)
def post_block_expand(
    ns: str, blk: str, edge: ReadEdge, asked: BlockLift | None = None
) -> BlockExpansionReply:
    """It decays from the level read; L5 is the redacted text unless the key is an admin's."""
    block_id = check_id(blk, Prefix.BLOCK, "/path/blk")
    wanted = asked or BlockLift()
    with edge.writing(ns, wanted.thread_id) as (tx, reader):
        return expand_block(tx, reader, block_id, level=wanted.level, by=wanted.by)
