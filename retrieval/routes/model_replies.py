"""Model replies over HTTP, for administrators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from retrieval.model_replies import ModelReplyPage, model_replies
from retrieval.routes.edge import AdminEdge
from shared.http.paging import PageOf

router = APIRouter(prefix="/v1/retrieval/{ns}", tags=["administration"])


@router.get(
    "/model-replies", response_model=ModelReplyPage, summary="What models answered, newest first"
)
def get_model_replies(
    ns: str,
    edge: AdminEdge,
    page: PageOf,
    failed: Annotated[
        bool | None, Query(description="true: failed ones alone; false: those taken.")
    ] = None,
) -> dict[str, Any]:
    """The five latest that were taken, and the whole text of each that failed; redacted."""
    with edge.reading(ns) as (tx, reader):
        return model_replies(tx, reader, page, failed=failed)
