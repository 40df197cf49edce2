"""Keys over HTTP: made, listed, rotated and revoked by an admin key of the whole tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.keys import check_may_administer, key_view, make_key, revoke, rotate
from ingest.schemas.administration import KeyIn, KeyMade, KeyPage, KeyView, RotationIn
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import DatabaseOf, IdempotencyKey, caller
from shared.http.paging import PageOf
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.database import WriteTx
from shared.store.keys import list_keys
from shared.store.receipts import NO_NAMESPACE, Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["keys"])
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]


@router.get("/keys", response_model=KeyPage, summary="List keys, newest first")
def get_keys(caller: Admin, database: DatabaseOf, page: PageOf) -> JSONResponse:
    """Revoked ones too, never a secret."""
    check_may_administer(caller)
    with database.read(caller.tenant_id) as tx:
        found = list_keys(tx, before=page.after, limit=page.probe)
    return JSONResponse(page.answer(found, key=lambda row: row.key_id, view=key_view))


@router.post("/keys", status_code=201, response_model=KeyMade, summary="Make a key")
def post_key(body: KeyIn, caller: Admin, database: DatabaseOf, key: IdempotencyKey) -> JSONResponse:
    """Its secret is in this answer alone; a repetition with the same Idempotency-Key has null."""
    check_may_administer(caller)
    content = body.model_dump(mode="json")
    content["permissions"].sort()
    receipt = Receipt(NO_NAMESPACE, "key.create", key, request_hash(content)) if key else None
    with database.write(caller.tenant_id) as tx:
        made = _once_with_secret(tx, receipt, lambda: make_key(tx, caller, body))
    return JSONResponse(made, 201)


@router.post(
    "/keys/{key_id}/rotate",
    response_model=KeyMade,
    openapi_extra=refuses("key_not_active"),
    summary="Give a key a new secret",
)
def post_rotation(
    key_id: str,
    caller: Admin,
    database: DatabaseOf,
    key: IdempotencyKey,
    body: RotationIn | None = None,
) -> JSONResponse:
    """The secret before opens until the overlap ends; a repetition shows no secret again."""
    check_may_administer(caller)
    checked = check_id(key_id, Prefix.KEY, "/path/key_id")
    overlap_s = (body or RotationIn()).overlap_s
    content = request_hash([checked, overlap_s])
    receipt = Receipt(NO_NAMESPACE, "key.rotate", key, content) if key else None
    with database.write(caller.tenant_id) as tx:
        rotated = _once_with_secret(
            tx, receipt, lambda: rotate(tx, caller, checked, overlap_s=overlap_s)
        )
    return JSONResponse(rotated)


@router.delete("/keys/{key_id}", response_model=KeyView, summary="Revoke a key")
def delete_key(key_id: str, caller: Admin, database: DatabaseOf) -> JSONResponse:
    """It stops working at once, on every process."""
    check_may_administer(caller)
    checked = check_id(key_id, Prefix.KEY, "/path/key_id")
    with database.write(caller.tenant_id) as tx:
        return JSONResponse(revoke(tx, caller, checked))


def _once_with_secret(
    tx: WriteTx, receipt: Receipt | None, act: Callable[[], tuple[dict[str, Any], str]]
) -> dict[str, Any]:
    """Do `act` once and return its view with its secret; a repetition has null in its place."""
    secrets: list[str] = []

    def view() -> dict[str, Any]:
        shown, secret = act()
        secrets.append(secret)
        return shown

    content = once(tx, receipt, view)
    return {**content, "key": secrets[0] if secrets else None}
