"""The tenant's default policy over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.default_policy import default_policy, patch_default_policy
from ingest.schemas.policy import DefaultPolicyPatch, DefaultPolicyPatched, DefaultPolicyView
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import DatabaseOf, SettingsOf, caller

router = APIRouter(prefix="/v1", tags=["namespaces"])
Reader = Annotated[Caller, Depends(caller(Permission.READ, Permission.INGEST))]
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]


@router.get("/policy", response_model=DefaultPolicyView, summary="The tenant's default policy")
def get_policy(caller: Reader, database: DatabaseOf, settings: SettingsOf) -> JSONResponse:
    """What a namespace follows in all that it does not set itself."""
    with database.read(caller.tenant_id) as tx:
        return JSONResponse(default_policy(tx, settings=settings))


@router.patch(
    "/policy", response_model=DefaultPolicyPatched, summary="Change the tenant's default policy"
)
def patch_policy(
    body: DefaultPolicyPatch, caller: Admin, database: DatabaseOf, settings: SettingsOf
) -> JSONResponse:
    """Holds at once; `apply_to_existing` also writes it over what namespaces set themselves."""
    return JSONResponse(patch_default_policy(database, body, caller=caller, settings=settings))
