"""Contradictions over HTTP: list them with both sides, settle one, take it back."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse

from ingest.conflicts import conflict_views, resolve_conflict
from ingest.curation import Curation
from ingest.schemas.curation import ConflictPage, ConflictResolved, ResolveIn
from shared.domain.curation import ConflictState
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import ClockOf, DatabaseOf, IdempotencyKey, SettingsOf, caller, reach
from shared.http.paging import PageOf
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.conflicts import get_conflict, list_conflicts
from shared.store.namespaces import get_namespace, policy_defaults
from shared.store.receipts import Receipt, once, request_hash

router = APIRouter(prefix="/v1/namespaces/{ns}/curation/conflicts", tags=["curation"])
Curator = Annotated[Caller, Depends(caller(Permission.CURATE))]


@router.get("", response_model=ConflictPage, summary="List contradictions, newest first")
def get_conflicts(
    ns: str,
    caller: Curator,
    database: DatabaseOf,
    settings: SettingsOf,
    page: PageOf,
    state: Annotated[Literal["open", "resolved", "closed", "all"], Query()] = "open",
    event_id: Annotated[str | None, Query(description="Those it is a side of.")] = None,
) -> JSONResponse:
    """The open ones unless asked otherwise, each with both quotes and their sources."""
    namespace = reach(caller, ns)
    side = None if event_id is None else check_id(event_id, Prefix.EVENT, "/query/event_id")
    with database.read(caller.tenant_id) as tx:
        get_namespace(tx, namespace, defaults=policy_defaults(settings))
        found = list_conflicts(
            tx,
            namespace,
            state=None if state == "all" else ConflictState(state),
            event_id=side,
            before=page.after,
            limit=page.probe,
        )
        views = {view["conflict_id"]: view for view in conflict_views(tx, found)}
    answer = page.answer(
        found, key=lambda one: one.conflict_id, view=lambda one: views[one.conflict_id]
    )
    return JSONResponse(answer)


@router.post(
    "/{cfl}/resolve",
    response_model=ConflictResolved,
    openapi_extra=refuses("conflict_resolved", "conflict_closed", "stale_revision"),
    summary="Settle a contradiction, or take the decision back",
)
def post_resolve(
    ns: str,
    cfl: str,
    body: ResolveIn,
    caller: Curator,
    database: DatabaseOf,
    settings: SettingsOf,
    clock: ClockOf,
    key: IdempotencyKey,
) -> JSONResponse:
    """`keep` one event, which supersedes the other, or `both`; `reopen` restores what was."""
    namespace, conflict_id = reach(caller, ns), check_id(cfl, Prefix.CONFLICT, "/path/cfl")
    name = body.receipt_id or key
    content = [conflict_id, body.content()]
    receipt = None
    if name is not None:
        receipt = Receipt(namespace, "conflict.resolve", name, request_hash(content))
    with database.write(caller.tenant_id) as tx:
        row = get_namespace(tx, namespace, defaults=policy_defaults(settings))
        get_conflict(tx, namespace, conflict_id)
        curation = Curation(caller, row, clock.now(), settings.max_attempts)
        told = once(tx, receipt, lambda: resolve_conflict(tx, curation, conflict_id, asked=body))
        # Not kept with the receipt: an erasure must find no text there.
        view = conflict_views(tx, [get_conflict(tx, namespace, conflict_id)])[0]
    return JSONResponse(told | view)
