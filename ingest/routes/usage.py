"""Spend over HTTP."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator

from ingest.schemas.usage import UsagePage
from ingest.usage import asked_span, budget_today, limits_now, usage_page
from shared.auth import reach
from shared.domain.tenancy import Caller, Permission, check_name
from shared.http.dependencies import ClockOf, DatabaseOf, SettingsOf, caller
from shared.http.paging import PageOf
from shared.http.problems import field_error
from shared.http.refusals import refuses

router = APIRouter(prefix="/v1", tags=["administration"])
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _written_as_day(value: object) -> object:
    """Refuse numbers, which would be read as seconds since 1970."""
    if isinstance(value, str) and _DAY.fullmatch(value) is None:
        raise field_error("invalid_value", "give a day such as 2026-05-05")
    return value


Day = Annotated[date | None, BeforeValidator(_written_as_day)]
Reader = Annotated[Caller, Depends(caller(Permission.READ))]


@router.get(
    "/usage",
    response_model=UsagePage,
    openapi_extra=refuses("inverted_window"),
    summary="Tokens by UTC day, namespace, step and model",
)
def get_usage(
    caller: Reader,
    database: DatabaseOf,
    settings: SettingsOf,
    clock: ClockOf,
    page: PageOf,
    namespace: Annotated[str | None, Query()] = None,
    first: Annotated[Day, Query(alias="from", description="UTC day, inclusive.")] = None,
    last: Annotated[Day, Query(alias="to", description="UTC day, inclusive.")] = None,
) -> JSONResponse:
    """With the total of the span, today's spend against the budgets, and the tenant's limits."""
    now = clock.now()
    if namespace is not None:
        reach(caller, check_name(namespace, "/query/namespace"))
    span = asked_span(caller, namespace=namespace, first=first, last=last, now=now)
    with database.read(caller.tenant_id) as tx:
        today = budget_today(tx, caller, namespace, settings=settings, now=now)
        limits = limits_now(tx, caller, settings=settings)
        return JSONResponse({**usage_page(tx, span, page), "today": today, "limits": limits})
