"""Turns in, one or many, and sealing by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from ingest.schemas.turns import (
    BatchAnswer,
    Sealed,
    TurnErased,
    TurnIgnored,
    TurnIn,
    TurnStored,
)
from ingest.sealing import SealedTail, seal_now
from ingest.turns import commit_turn, prepare_turn
from ingest.turns.batch import BatchEdge, items_of, store_batch
from shared.domain.tenancy import Caller, Permission, check_name
from shared.errors import NotFound
from shared.http.dependencies import (
    ClockOf,
    DatabaseOf,
    IdempotencyKey,
    SettingsOf,
    caller,
    reach,
)
from shared.http.problems import request_id_of
from shared.http.refusals import refuses
from shared.limits import check_jobs
from shared.metrics import BLOCKS_SEALED, TURNS_STORED
from shared.settings import Settings
from shared.store.database import WriteTx
from shared.store.limits import limit_defaults
from shared.store.namespaces import find_thread, lock_thread, policy_defaults
from shared.store.policies import rules_for
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["turns"])
Ingester = Annotated[Caller, Depends(caller(Permission.INGEST))]
_BATCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/TurnIn"}}
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
        },
    }
}


@router.post(
    "/namespaces/{ns}/turns",
    status_code=201,
    response_model=TurnStored | TurnErased,
    responses={200: {"model": TurnIgnored, "description": "A sub-agent's turn; not stored."}},
    openapi_extra=refuses("no_human_message", "quota_turns", "quota_storage", "quota_jobs"),
    summary="Store one completed turn",
)
def post_turn(
    ns: str,
    body: TurnIn,
    caller: Ingester,
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """The turn is durable when the answer leaves; the same receipt gets the first answer again."""
    namespace = reach(caller, ns)
    turn = prepare_turn(body, clock.now(), receipt_id=key)
    with database.write(caller.tenant_id) as tx:
        content = commit_turn(tx, namespace, turn, settings=settings)
    count_turn(content)
    return JSONResponse(content, 200 if content.get("stored") is False else 201)


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post(
    "/namespaces/{ns}/turns/batch",
    response_model=BatchAnswer,
    openapi_extra=_BATCH_BODY
    | refuses("too_many_items", "quota_turns", "quota_storage", "quota_jobs"),
    summary="Store up to 1,000 turns, one result an item",
)
def post_turns(
    ns: str,
    request: Request,
    body: Annotated[bytes, Depends(_body)],
    caller: Ingester,
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
) -> JSONResponse:
    """A JSON array or NDJSON; items are stored in order, and a bad one does not fail the others."""
    namespace = reach(caller, ns)
    items = items_of(body, request.headers.get("content-type", "").lower())
    edge = BatchEdge(database, caller.tenant_id, namespace, settings, clock, request_id_of(request))
    results = store_batch(edge, items)
    turns = [result["turn"] for result in results if "turn" in result]
    for turn in turns:
        count_turn(turn)
    duplicates = sum(1 for turn in turns if turn["duplicate"])
    ignored = sum(1 for turn in turns if turn.get("stored") is False)
    content = {
        "items": results,
        "stored": len(turns) - duplicates - ignored,
        "duplicates": duplicates,
        "ignored": ignored,
        "failed": len(results) - len(turns),
    }
    return JSONResponse(content)


@router.post(
    "/namespaces/{ns}/threads/{thread}/seal",
    response_model=Sealed,
    openapi_extra=refuses("quota_jobs"),
    summary="Seal a thread's open tail now",
)
def post_seal(
    ns: str,
    thread: str,
    caller: Ingester,
    database: DatabaseOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """For the end of a conversation; `unthreaded` addresses turns without a thread."""
    namespace = reach(caller, ns)
    thread_id = check_name(thread, "/path/thread")
    receipt = Receipt(namespace, "seal", key, request_hash([thread_id])) if key else None
    with database.write(caller.tenant_id) as tx:
        if find_thread(tx, namespace, thread_id) is None:
            raise NotFound("no such thread")
        content = once(tx, receipt, lambda: _sealed(tx, namespace, thread_id, settings))
    if not content["duplicate"]:
        BLOCKS_SEALED.inc(len(content["sealed_block_ids"]))
    return JSONResponse(content)


def _sealed(tx: WriteTx, namespace: str, thread_id: str, settings: Settings) -> dict[str, Any]:
    policy, limits = rules_for(
        tx, namespace, defaults=policy_defaults(settings), limits=limit_defaults(settings)
    )
    check_jobs(tx, limits)
    row = lock_thread(tx, namespace, thread_id)
    sealed: SealedTail = seal_now(tx, namespace, row, policy=policy, settings=settings)
    return {
        "thread_id": thread_id,
        "sealed_block_ids": list(sealed.block_ids),
        "open_tail_turns": sealed.open_tail_turns,
    }


def count_turn(answer: dict[str, Any]) -> None:
    """Count what the answer to a turn says in the metrics."""
    if not answer["duplicate"] and answer.get("stored") is not False:
        TURNS_STORED.inc()
        BLOCKS_SEALED.inc(len(answer["sealed_block_ids"]))
