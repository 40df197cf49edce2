"""Namespaces and their policy."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.policy import (
    namespace_with_counts,
    patch_namespace,
    put_namespace,
    seal_overfull_tails,
)
from ingest.schemas.administration import NamespacePage
from ingest.schemas.policy import (
    NamespacePatched,
    NamespaceView,
    NamespaceWithCounts,
    PolicyIn,
    PolicyPatch,
)
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import DatabaseOf, SettingsOf, caller, reach
from shared.http.paging import PageOf
from shared.store.namespaces import list_namespaces

router = APIRouter(prefix="/v1", tags=["namespaces"])
Reader = Annotated[Caller, Depends(caller(Permission.READ, Permission.INGEST))]
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]


@router.get("/namespaces", response_model=NamespacePage, summary="List namespaces by name")
def get_namespaces(caller: Reader, database: DatabaseOf, page: PageOf) -> JSONResponse:
    """Those that the key reaches, in order of their names."""
    with database.read(caller.tenant_id) as tx:
        found = list_namespaces(tx, after=page.after, limit=page.probe, only=caller.namespaces)
    return JSONResponse(
        page.answer(found, key=lambda name: name, view=lambda name: {"namespace": name})
    )


@router.put(
    "/namespaces/{ns}",
    response_model=NamespaceView,
    responses={201: {"model": NamespaceView, "description": "The namespace is new."}},
    summary="Begin a namespace, or replace its policy",
)
def put_one_namespace(
    ns: str, body: PolicyIn, caller: Admin, database: DatabaseOf, settings: SettingsOf
) -> JSONResponse:
    """Fields left out follow the tenant's default policy."""
    namespace = reach(caller, ns)
    with database.write(caller.tenant_id) as tx:
        view, is_new = put_namespace(tx, namespace, body, caller=caller, settings=settings)
    seal_overfull_tails(database, namespace, caller=caller, settings=settings)
    return JSONResponse(view, 201 if is_new else 200)


@router.get(
    "/namespaces/{ns}",
    response_model=NamespaceWithCounts,
    summary="A namespace's policy and its counts per stage",
)
def get_one_namespace(
    ns: str, caller: Reader, database: DatabaseOf, settings: SettingsOf
) -> JSONResponse:
    """404 until its PUT or its first turn."""
    namespace = reach(caller, ns)
    with database.read(caller.tenant_id) as tx:
        view = namespace_with_counts(tx, namespace, settings=settings)
    return JSONResponse(view)


@router.patch(
    "/namespaces/{ns}",
    response_model=NamespacePatched,
    summary="Change a namespace's policy",
)
def patch_one_namespace(
    ns: str, body: PolicyPatch, caller: Admin, database: DatabaseOf, settings: SettingsOf
) -> JSONResponse:
    """A new block size answers with the λ that keeps decay per turn, applied only if asked."""
    namespace = reach(caller, ns)
    with database.write(caller.tenant_id) as tx:
        view = patch_namespace(tx, namespace, body, caller=caller, settings=settings)
    sealed = seal_overfull_tails(database, namespace, caller=caller, settings=settings)
    return JSONResponse({**view, "sealed_block_ids": sealed})
