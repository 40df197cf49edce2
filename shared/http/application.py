"""One shape for every application: guarded bodies, problem documents, health once, OpenAPI.

Services hand in their routers; a deployment may hand in those of several and gets one document.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from fastapi import APIRouter, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from shared.clock import Clock, SystemClock
from shared.domain.tenancy import Caller
from shared.errors import Forbidden, NotFound, StrataGateError
from shared.http import api_page, health
from shared.http.body_guard import BodyGuard
from shared.http.openapi import DocumentedApp
from shared.http.problems import (
    Problem,
    on_http_error,
    on_validation_error,
    problem_response,
    request_id_of,
)
from shared.http.request_edge import RequestEdge
from shared.logs import configure_logs_once, get_logger
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, QueueDatabase
from shared.tracing import start_tracing, stop_tracing

_log = get_logger("http")
_WORTH_COMPRESSING = 1_024

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_app(
    settings: Settings,
    title: str,
    routers: Sequence[APIRouter],
    *,
    clock: Clock | None = None,
    lifespans: Sequence[Lifespan] = (),
) -> FastAPI:
    """Return an application that serves `routers` and, once, health, metrics and version.

    `app.state` holds `settings`, `clock`, `database` and `queue_database`. `lifespans` are
    entered at start, after the database is there, and left at the end.
    """
    configure_logs_once(settings.log_format, settings.log_level)
    app = DocumentedApp(
        title=title,
        version=health.release(),
        lifespan=_lifespan(lifespans),
        middleware=_middleware(settings),
        exception_handlers={
            StrataGateError: _on_error,
            RequestValidationError: on_validation_error,
            HTTPException: on_http_error,
        },
        # So that the document has its schema; which errors a route has is told there.
        responses={422: {"model": Problem}},
        generate_unique_id_function=_operation_id,
        strict_content_type=False,
        docs_url=None,  # its page loads its scripts from elsewhere; ours works offline
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.clock = clock or SystemClock()
    app.state.database = Database(settings)
    app.state.queue_database = QueueDatabase(settings)
    for router in (*routers, health.router, api_page.router):
        app.include_router(router)
    return app


def _middleware(settings: Settings) -> list[Middleware]:
    """Return the layers around every route, outermost first."""
    layers = [Middleware(RequestEdge, hsts_max_age_s=settings.hsts_max_age_s)]
    origins = [origin.strip() for origin in settings.cors_origins.split(",") if origin.strip()]
    if origins:
        layers.append(
            Middleware(
                CORSMiddleware,
                allow_origins=origins,
                allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
                allow_headers=[
                    "Authorization",
                    "Content-Type",
                    "Idempotency-Key",
                    "Mcp-Protocol-Version",
                ],
                expose_headers=["X-Request-Id", "Retry-After"],
            )
        )
    layers += [
        # Streams of events pass as they come: the middleware leaves their type alone.
        Middleware(GZipMiddleware, minimum_size=_WORTH_COMPRESSING, compresslevel=5),
        Middleware(
            BodyGuard,
            limit_bytes=settings.body_limit_bytes,
            packed_limit_bytes=settings.restore_limit_bytes,
        ),
    ]
    return layers


def _lifespan(lifespans: Sequence[Lifespan]) -> Lifespan:
    @asynccontextmanager
    async def run(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if start_tracing("api"):
                stack.callback(stop_tracing)
            stack.callback(app.state.queue_database.close)
            stack.callback(app.state.database.close)
            for lifespan in lifespans:
                await stack.enter_async_context(lifespan(app))
            yield

    return run


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, StrataGateError):
        raise error
    caller: Caller | None = getattr(request.state, "caller", None)
    if isinstance(error, NotFound | Forbidden) and caller is not None:
        await run_in_threadpool(_audit_denied, request, caller, error.code)
    return problem_response(error, request_id_of(request))


def _audit_denied(request: Request, caller: Caller, code: str) -> None:
    """Keep who asked for what is not theirs: guessing at ids leaves a trail (of that tenant)."""
    named = {**request.path_params, **_named_in_query(request)}
    asked = {name: str(value)[:200] for name, value in named.items()}
    entry = AuditEntry(
        action=code,
        key_id=caller.key_id,
        detail={
            "method": request.method,
            "route": getattr(request.scope.get("route"), "path", ""),
            "asked": asked,
            "request_id": request_id_of(request),
        },
    )
    database: Database = request.app.state.database
    try:
        with database.write(caller.tenant_id) as tx:
            record(tx, entry)
    except StrataGateError as failure:
        _log.warning("audit_lost", code=failure.code, action=code)


def _named_in_query(request: Request) -> dict[str, str]:
    namespace = request.query_params.get("namespace")
    return {} if namespace is None else {"namespace": namespace}


def _operation_id(route: APIRoute) -> str:
    return route.name
