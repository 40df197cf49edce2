"""Erasure with proof over HTTP: plan, begin, watch, verify; and the end of a namespace."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.erasures import (
    erasure_view,
    one_erasure,
    plan_erasure,
    require_own_namespace,
    start_erasure,
    verify_erasure,
)
from ingest.schemas.erasures import (
    ErasureIn,
    ErasurePlan,
    ErasureStarted,
    ErasureView,
    VerifiedView,
    VerifyIn,
)
from shared.domain.erasure import SelectorKind
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import DatabaseOf, IdempotencyKey, SettingsOf, caller, reach
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["erasures"])
Eraser = Annotated[Caller, Depends(caller(Permission.ERASE))]


@router.post(
    "/namespaces/{ns}/erasures",
    status_code=202,
    response_model=ErasureStarted,
    responses={200: {"model": ErasurePlan, "description": "A dry run: what would go."}},
    summary="Erase turns, an event or a namespace, with proof",
    openapi_extra=refuses("wrong_id_type"),
)
def post_erasure(
    ns: str,
    body: ErasureIn,
    caller: Eraser,
    database: DatabaseOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """What is selected goes everywhere it is, for good; what is left of a block is derived anew."""
    namespace = reach(caller, ns)
    kind, value = body.selector.kind, body.selector.value
    require_own_namespace(caller, namespace, kind, value)
    if body.dry_run:
        with database.read(caller.tenant_id) as read:
            plan = plan_erasure(read, namespace, kind, value, settings=settings)
        return JSONResponse(plan)
    asked = body.model_dump(mode="json")
    receipt = Receipt(namespace, "erasure", key, request_hash(asked)) if key else None
    with database.write(caller.tenant_id) as tx:
        content: dict[str, Any] = {}

        def act() -> dict[str, Any]:
            content.update(start_erasure(tx, caller, namespace, kind, value, settings=settings))
            return content

        answer = once(tx, receipt, act)
    is_known = answer["duplicate"] or content.get("duplicate", False)
    return JSONResponse(answer | {"duplicate": is_known}, 202)


@router.delete(
    "/namespaces/{ns}",
    status_code=202,
    response_model=ErasureStarted,
    summary="Erase a namespace with everything in it",
)
def delete_namespace(
    ns: str, caller: Eraser, database: DatabaseOf, settings: SettingsOf
) -> JSONResponse:
    """The same as an erasure that selects the namespace; asked again, the same erasure."""
    namespace = reach(caller, ns)
    with database.write(caller.tenant_id) as tx:
        content = start_erasure(
            tx, caller, namespace, SelectorKind.NAMESPACE, namespace, settings=settings
        )
    return JSONResponse(content, 202)


@router.get(
    "/erasures/{era}", response_model=ErasureView, summary="How an erasure goes, and its proof"
)
def get_erasure(era: str, caller: Eraser, database: DatabaseOf) -> JSONResponse:
    """The certificate is there once it is done."""
    erasure_id = check_id(era, Prefix.ERASURE, "/path/era")
    with database.read(caller.tenant_id) as tx:
        view = erasure_view(one_erasure(tx, caller, erasure_id))
    return JSONResponse(view)


@router.post(
    "/erasures/{era}/verify",
    response_model=VerifiedView,
    summary="Check a certificate, and that things are gone",
)
def post_verify(era: str, body: VerifyIn, caller: Eraser, database: DatabaseOf) -> JSONResponse:
    """Only who knows an id can ask whether it was erased: hashes are all that is kept."""
    erasure_id = check_id(era, Prefix.ERASURE, "/path/era")
    with database.read(caller.tenant_id) as tx:
        view = verify_erasure(
            tx,
            one_erasure(tx, caller, erasure_id),
            ids=body.ids,
            receipt_ids=body.receipt_ids,
            certificate=body.certificate,
        )
    return JSONResponse(view)
