"""A host's event stream in: folded into turns, each stored as any other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from ingest.folding import namespace_of, store_stream
from ingest.routes.turns import count_turn
from ingest.schemas.host_events import HostEventsAnswer, HostEventsIn, ScopedHostEventsIn
from ingest.turns.batch import BatchEdge
from shared import auth
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import ClockOf, DatabaseOf, SettingsOf, caller, reach
from shared.http.problems import request_id_of
from shared.http.refusals import refuses

router = APIRouter(prefix="/v1", tags=["turns"])
Ingester = Annotated[Caller, Depends(caller(Permission.INGEST))]


def edge(
    request: Request, caller: Ingester, database: DatabaseOf, clock: ClockOf, settings: SettingsOf
) -> BatchEdge:
    """Return what storing needs; its namespace is put in by the route."""
    return BatchEdge(database, caller.tenant_id, "", settings, clock, request_id_of(request))


EdgeOf = Annotated[BatchEdge, Depends(edge)]


@router.post(
    "/namespaces/{ns}/host-events",
    response_model=HostEventsAnswer,
    openapi_extra=refuses("too_many_items"),
    summary="Fold a host's event stream into turns of a namespace",
)
def post_host_events(ns: str, body: HostEventsIn, caller: Ingester, edge: EdgeOf) -> JSONResponse:
    """One result a turn, in order; an unfinished last turn is reported and not stored."""
    return _stored(edge, reach(caller, ns), body)


@router.post(
    "/host-events",
    response_model=HostEventsAnswer,
    openapi_extra=refuses("too_many_items"),
    summary="Fold a host's event stream into turns of the namespace its scope names",
)
def post_scoped_host_events(
    body: ScopedHostEventsIn, caller: Ingester, edge: EdgeOf
) -> JSONResponse:
    """`project` is known by its working directory, `session` by its id, `global` by its name."""
    return _stored(edge, auth.reach(caller, namespace_of(body)), body)


def _stored(edge: BatchEdge, namespace: str, body: HostEventsIn) -> JSONResponse:
    answer = store_stream(edge.of(namespace), body)
    for item in answer["items"]:
        if "result" in item:
            count_turn(item["result"])
    return JSONResponse(answer)
