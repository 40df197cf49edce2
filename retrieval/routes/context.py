"""A conversation's context over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from retrieval.recall import ContextReply, recall_context
from retrieval.routes.edge import ReadEdge
from retrieval.schemas import ContextRequest

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["context"])


@router.post("/context", summary="What a conversation's next turn should know")
def post_context(ns: str, asked: ContextRequest, edge: ReadEdge) -> ContextReply:
    """Blocks, open tail and, apart, what other conversations know. Reinforces nothing."""
    with edge.reading(ns, asked.thread_id, asked.query) as (tx, reader):
        return recall_context(tx, reader, asked)
