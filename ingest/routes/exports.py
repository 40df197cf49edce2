"""A namespace out as a bundle, and in again."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, StreamingResponse

from ingest.exports import export_view, one_export, open_bundle, start_export
from ingest.restore import restore_bundle
from ingest.restore_reading import read_bundle
from ingest.schemas.exports import ExportStarted, ExportView, Restored
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import (
    ClockOf,
    DatabaseOf,
    IdempotencyKey,
    SettingsOf,
    caller,
    reach,
)
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["exports"])
# A bundle holds what was sent, also where readers see a redacted view of it.
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]
_FILE: dict[str, Any] = {"application/gzip": {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "/namespaces/{ns}/exports",
    status_code=202,
    response_model=ExportStarted,
    openapi_extra=refuses("quota_jobs"),
    summary="Write a namespace as a portable bundle",
)
def post_export(
    ns: str, caller: Admin, database: DatabaseOf, settings: SettingsOf, key: IdempotencyKey
) -> JSONResponse:
    """Watch it; the bundle is one snapshot of what is live, and is kept for some days."""
    namespace = reach(caller, ns)
    receipt = Receipt(namespace, "export", key, request_hash([])) if key else None
    with database.write(caller.tenant_id) as tx:
        content = once(tx, receipt, lambda: start_export(tx, caller, namespace, settings=settings))
    return JSONResponse(content, 202)


@router.get("/exports/{exp}", response_model=ExportView, summary="How an export goes")
def get_export(exp: str, caller: Admin, database: DatabaseOf) -> JSONResponse:
    """Once it is done it says what the bundle holds, and where to fetch it."""
    export_id = check_id(exp, Prefix.EXPORT, "/path/exp")
    with database.read(caller.tenant_id) as tx:
        view = export_view(one_export(tx, caller, export_id))
    return JSONResponse(view)


@router.get(
    "/exports/{exp}/bundle",
    response_class=StreamingResponse,
    responses={200: {"content": _FILE, "description": "The bundle, a gzip file."}},
    openapi_extra=refuses("export_not_ready"),
    summary="Fetch the bundle of an export",
)
def get_bundle(exp: str, caller: Admin, database: DatabaseOf) -> StreamingResponse:
    """A gzip file of JSON lines; its SHA-256 is in the export."""
    export_id = check_id(exp, Prefix.EXPORT, "/path/exp")
    export, pieces = open_bundle(database, caller, export_id)
    headers = {
        "Content-Length": str(export.size_bytes),
        "Content-Disposition": f'attachment; filename="{export_id}.ndjson.gz"',
    }
    return StreamingResponse(pieces, media_type="application/gzip", headers=headers)


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post(
    "/namespaces/{ns}/restore",
    status_code=201,
    response_model=Restored,
    openapi_extra={"requestBody": {"required": True, "content": _FILE}}
    | refuses("namespace_not_empty", "bundle_erased", "bundle_too_large", "invalid_bundle"),
    summary="Restore a bundle into an empty namespace",
)
def post_restore(
    ns: str,
    body: Annotated[bytes, Depends(_body)],
    caller: Admin,
    database: DatabaseOf,
    settings: SettingsOf,
    clock: ClockOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """All of it or nothing: every line is checked before one is written."""
    namespace = reach(caller, ns)
    bundle = read_bundle(body, limit_bytes=settings.bundle_limit_bytes)
    digest = hashlib.sha256(body).hexdigest()
    receipt = Receipt(namespace, "restore", key, digest) if key else None
    with database.write(caller.tenant_id) as tx:
        content = once(
            tx,
            receipt,
            lambda: restore_bundle(
                tx, caller, namespace, body, bundle, settings=settings, now=clock.now()
            ),
        )
    return JSONResponse(content, 201)
