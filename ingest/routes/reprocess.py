"""Batch re-derivation over HTTP: begin, watch, compare, switch, drop."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.reprocess import (
    diff_view,
    drop_version,
    start_reprocess,
    switch_to,
    version_views,
)
from ingest.schemas.reprocess import (
    DiffView,
    DroppedView,
    GraphVersionPage,
    GraphVersionView,
    ReprocessIn,
    ReprocessStarted,
    SwitchedView,
    SwitchIn,
)
from shared.domain.tenancy import Caller, Permission
from shared.errors import NotFound
from shared.http.dependencies import DatabaseOf, IdempotencyKey, SettingsOf, caller, reach
from shared.http.paging import PageOf
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.settings import Settings
from shared.store.database import ReadTx
from shared.store.graph_versions import find_version, list_versions
from shared.store.namespaces import find_namespace, policy_defaults
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["reprocess"])
Reader = Annotated[Caller, Depends(caller(Permission.READ, Permission.ADMIN))]
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]


@router.post(
    "/reprocess",
    status_code=202,
    response_model=ReprocessStarted,
    openapi_extra=refuses("reprocess_running", "stage_off", "quota_jobs"),
    summary="Derive a namespace anew, beside what is live",
)
def post_reprocess(
    ns: str,
    body: ReprocessIn,
    caller: Admin,
    database: DatabaseOf,
    settings: SettingsOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """The same request joins the version it began, and tries again what failed there."""
    namespace = reach(caller, ns)
    asked = body.asked
    receipt = _receipt(namespace, "reprocess", key, asked.as_request())
    with database.write(caller.tenant_id) as tx:
        _require_namespace(tx, namespace, settings)
        content = once(
            tx,
            receipt,
            lambda: start_reprocess(tx, caller, namespace, asked=asked, settings=settings),
        )
    return JSONResponse(content, 202)


@router.get(
    "/graph-versions", response_model=GraphVersionPage, summary="List versions with progress"
)
def get_versions(
    ns: str, caller: Reader, database: DatabaseOf, settings: SettingsOf, page: PageOf
) -> JSONResponse:
    """Newest first: what is live, built beside it, live before, or dropped."""
    namespace = reach(caller, ns)
    with database.read(caller.tenant_id) as tx:
        _require_namespace(tx, namespace, settings)
        found = list_versions(tx, namespace, before=page.after, limit=page.probe)
        views = {one["graph_version_id"]: one for one in version_views(tx, found)}
    answer = page.answer(
        found,
        key=lambda one: one.graph_version_id,
        view=lambda one: views[one.graph_version_id],
    )
    return JSONResponse(answer)


@router.get(
    "/graph-versions/{gvn}", response_model=GraphVersionView, summary="One version's progress"
)
def get_version(ns: str, gvn: str, caller: Reader, database: DatabaseOf) -> JSONResponse:
    """It is whole when every block is held."""
    namespace, version_id = reach(caller, ns), check_id(gvn, Prefix.GRAPH_VERSION, "/path/gvn")
    with database.read(caller.tenant_id) as tx:
        view = version_views(tx, [find_version(tx, namespace, version_id)])[0]
    return JSONResponse(view)


@router.get(
    "/graph-versions/{gvn}/diff",
    response_model=DiffView,
    summary="What a switch to a version would change",
)
def get_version_diff(ns: str, gvn: str, caller: Admin, database: DatabaseOf) -> JSONResponse:
    """Events, nodes, facts and edges added, changed and gone, as readers would see them."""
    namespace, version_id = reach(caller, ns), check_id(gvn, Prefix.GRAPH_VERSION, "/path/gvn")
    with database.read(caller.tenant_id) as tx:
        view = diff_view(tx, namespace, version_id)
    return JSONResponse(view)


@router.post(
    "/graph-versions/{gvn}/switch",
    response_model=SwitchedView,
    openapi_extra=refuses("shadow_incomplete", "version_dropped"),
    summary="Make a version live",
)
def post_switch(
    ns: str,
    gvn: str,
    caller: Admin,
    database: DatabaseOf,
    settings: SettingsOf,
    key: IdempotencyKey,
    body: SwitchIn | None = None,
) -> JSONResponse:
    """Graph and events at once; the version before stays, to switch back to."""
    namespace, version_id = reach(caller, ns), check_id(gvn, Prefix.GRAPH_VERSION, "/path/gvn")
    accept_failed = body is not None and body.accept_failed
    receipt = _receipt(namespace, "version.switch", key, [version_id, accept_failed])
    with database.write(caller.tenant_id) as tx:
        find_version(tx, namespace, version_id)
        content = once(
            tx,
            receipt,
            lambda: switch_to(
                tx, caller, namespace, version_id, accept_failed=accept_failed, settings=settings
            ),
        )
    return JSONResponse(content)


@router.post(
    "/graph-versions/{gvn}/drop",
    response_model=DroppedView,
    openapi_extra=refuses("version_live"),
    summary="Remove a version that is not live",
)
def post_drop(
    ns: str, gvn: str, caller: Admin, database: DatabaseOf, key: IdempotencyKey
) -> JSONResponse:
    """Its jobs end, its graph goes; events stay for the receipts that name them."""
    namespace, version_id = reach(caller, ns), check_id(gvn, Prefix.GRAPH_VERSION, "/path/gvn")
    receipt = _receipt(namespace, "version.drop", key, [version_id])
    with database.write(caller.tenant_id) as tx:
        find_version(tx, namespace, version_id)
        content = once(tx, receipt, lambda: drop_version(tx, caller, namespace, version_id))
    return JSONResponse(content)


def _receipt(namespace: str, operation: str, key: str | None, content: object) -> Receipt | None:
    return Receipt(namespace, operation, key, request_hash(content)) if key else None


def _require_namespace(tx: ReadTx, namespace: str, settings: Settings) -> None:
    if find_namespace(tx, namespace, defaults=policy_defaults(settings)) is None:
        raise NotFound("no such namespace")
