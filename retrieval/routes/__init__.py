"""The retrieval service's HTTP: thin handlers, one file a resource."""

from fastapi import APIRouter

from retrieval.routes import (
    audit,
    block_standing,
    blocks,
    context,
    events,
    gate,
    graph,
    model_replies,
    raw,
    tools,
)

router = APIRouter()
for part in (
    events,
    graph,
    raw,
    blocks,
    block_standing,
    context,
    gate,
    tools,
    audit,
    model_replies,
):
    router.include_router(part.router)

__all__ = ["router"]
