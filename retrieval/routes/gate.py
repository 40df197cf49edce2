"""The evidence gate over HTTP: assess a batch, then record what was used of it."""

from __future__ import annotations

from fastapi import APIRouter

from retrieval.assess import AssessmentReply, assess_batch
from retrieval.receipts import UseReply, record_use
from retrieval.routes.edge import ReadEdge, UseEdge
from retrieval.schemas import AssessmentRequest, UseRequest
from shared.errors import InvalidInput
from shared.http.dependencies import IdempotencyKey, check_receipt_id
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id

router = APIRouter(prefix="/v1/batches/{bat}", tags=["gate"])


@router.post(
    "/assessment",
    openapi_extra=refuses("batch_expired", "batch_recorded"),
    summary="Assess a batch",
)
def post_assessment(bat: str, asked: AssessmentRequest, edge: ReadEdge) -> AssessmentReply:
    """Any JSON is normalised; advisories stand beside the verdict and never overrule it."""
    batch_id = check_id(bat, Prefix.BATCH, "/path/bat")
    with edge.judging(batch_id) as (tx, reader, batch):
        return assess_batch(tx, reader, batch, raw=asked.model_dump())


@router.post(
    "/use",
    openapi_extra=refuses("batch_expired", "batch_recorded", "not_assessed", "not_adopted"),
    summary="Record what an answer used",
)
def post_use(bat: str, asked: UseRequest, edge: UseEdge, key: IdempotencyKey) -> UseReply:
    """The only call that reinforces; the same receipt_id gets the first answer again."""
    batch_id = check_id(bat, Prefix.BATCH, "/path/bat")
    receipt_id = key
    if asked.receipt_id is not None:
        receipt_id = check_receipt_id(asked.receipt_id, "/receipt_id")
    if receipt_id is None:
        raise InvalidInput.at(
            "/receipt_id", "give a receipt_id, or an Idempotency-Key header", "missing_field"
        )
    with edge.judging(batch_id) as (tx, reader, batch):
        return record_use(tx, reader, batch, asked=asked, receipt_id=receipt_id)
