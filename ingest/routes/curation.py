"""Curation over HTTP: what people may change of an event."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse

from ingest.curation import Curation, curate_event
from ingest.schemas.curation import CurationPatch, CurationView
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import ClockOf, DatabaseOf, SettingsOf, caller, reach
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.namespaces import get_namespace, policy_defaults

router = APIRouter(prefix="/v1/namespaces/{ns}/curation", tags=["curation"])
Curator = Annotated[Caller, Depends(caller(Permission.CURATE))]


@router.patch(
    "/events/{evt}",
    response_model=CurationView,
    openapi_extra=refuses("stale_revision"),
    summary="Forget, restore, archive or pin an event, or say how critical it is",
)
def patch_event(
    ns: str,
    evt: str,
    body: CurationPatch,
    caller: Curator,
    database: DatabaseOf,
    settings: SettingsOf,
    clock: ClockOf,
) -> JSONResponse:
    """Its text stays; every change is audited and can be taken back."""
    namespace, event_id = reach(caller, ns), check_id(evt, Prefix.EVENT, "/path/evt")
    with database.write(caller.tenant_id) as tx:
        row = get_namespace(tx, namespace, defaults=policy_defaults(settings))
        curation = Curation(caller, row, clock.now(), settings.max_attempts)
        view = curate_event(tx, curation, event_id, asked=body)
    return JSONResponse(view)
