"""/mcp: MCP's streamable HTTP, stateless; one POST is one call with the key of its request.

The tenant comes from the key alone and travels in a context variable. Nothing is held between
calls: no session, no stream, no database connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from retrieval.mcp.server import CallFailed, Fixed, MemoryServer, placed_call
from retrieval.routes.edge import Edge
from retrieval.tools.calls import ToolCall, asked_for
from retrieval.tools.running import run_tool
from shared.auth import authenticate
from shared.domain.tenancy import Caller, check_name
from shared.errors import (
    Forbidden,
    InvalidInput,
    NotFound,
    StrataGateError,
    Unavailable,
    WrongMediaType,
)
from shared.http.problems import problem_of, problem_response
from shared.limits import take_request
from shared.logs import get_logger
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database

PATH = "/mcp"
_FIXING = ("namespace", "thread_id")
_log = get_logger("mcp")


@dataclass(frozen=True, slots=True)
class _Asking:
    """Who asks in this request, through which edge, and what the address has fixed."""

    edge: Edge
    fixed: Fixed
    request_id: str


_asking: ContextVar[_Asking] = ContextVar("stratagate_mcp_asking")


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[None]:
    """Serve MCP while the application runs: a lifespan of `build_app`."""
    settings: Settings = app.state.settings
    server = MemoryServer(_answer, lambda: _asking.get().fixed)
    server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.body_limit_bytes,
        transport_security=_security(settings),
    )
    async with server.session_manager.run():
        app.state.mcp = server.session_manager
        try:
            yield
        finally:
            app.state.mcp = None


class _Endpoint:
    """Checks host, key and address; then the request is the SDK's."""

    path = PATH

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        scope["route"] = self  # for the log line and the figures, as of any other route
        try:
            sessions = getattr(scope["app"].state, "mcp", None)
            if sessions is None:
                raise Unavailable("MCP is not being served yet", retry_after_s=1)
            asking = await _who_asks(scope)
        except StrataGateError as error:
            answer = problem_response(error, scope["state"]["request_id"])
            await answer(scope, receive, send)
            return
        token = _asking.set(asking)
        try:
            await sessions.handle_request(scope, receive, send)
        finally:
            _asking.reset(token)


router = APIRouter()
# Not GET and DELETE: there is no stream to open and no session to end, and 405 says so.
router.routes.append(Route(PATH, _Endpoint(), methods=["POST"], include_in_schema=False))


async def _who_asks(scope: Scope) -> _Asking:
    state = scope["app"].state
    await _check_host(scope, state.settings)
    fixed = _fixed_by(scope["query_string"])
    authorization = Request(scope).headers.get("authorization")
    caller = await to_thread.run_sync(_counted, state.database, authorization, state.settings)
    scope["state"]["caller"] = caller
    edge = Edge(caller, state.database, state.clock, state.settings)
    return _Asking(edge, fixed, scope["state"]["request_id"])


def _counted(database: Database, authorization: str | None, settings: Settings) -> Caller:
    """Return whose key it is, once the request is counted like any other of its tenant."""
    caller = authenticate(database, authorization)
    take_request(database, caller, settings)
    return caller


async def _check_host(scope: Scope, settings: Settings) -> None:
    """Let the SDK judge the headers before the key is looked at, and say it as a problem."""
    guard = TransportSecurityMiddleware(_security(settings))
    refused = await guard.validate_request(Request(scope), is_post=True)
    if refused is None:
        return
    if refused.status_code == WrongMediaType.status or b"Content-Type" in refused.body:
        raise WrongMediaType("send Content-Type: application/json")
    raise Forbidden(
        "this Host or Origin is not one that /mcp answers to; an operator can add it to "
        "STRATAGATE_MCP_ALLOWED_HOSTS",
        code="host_not_allowed",
    )


def _security(settings: Settings) -> TransportSecuritySettings:
    hosts = [host.strip() for host in settings.mcp_allowed_hosts.split(",") if host.strip()]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )


def _fixed_by(query: bytes) -> Fixed:
    """Read `?namespace=…&thread_id=…`; whatever else is refused, for a slip would fix nothing."""
    given: dict[str, str] = {}
    for name, value in parse_qsl(query.decode("ascii", "replace"), keep_blank_values=True):
        if name not in _FIXING or name in given:
            raise InvalidInput.at(
                "/query", "takes namespace and thread_id, each once", "unknown_field"
            )
        given[name] = check_name(value, f"/query/{name}")
    return Fixed(**given)


async def _answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Run a call in a thread, in the name of this request's key."""
    asking = _asking.get()
    try:
        call = placed_call(name, arguments, asking.fixed)
        return await to_thread.run_sync(_run, asking, call)
    except StrataGateError as error:
        raise CallFailed(problem_of(error, asking.request_id)) from error
    except Exception as error:
        # The edge: whatever failed, a model sees the id and no trace.
        _log.error("tool_failed", exc_info=error)
        ours = StrataGateError("something failed on our side; the request id finds it in our logs")
        raise CallFailed(problem_of(ours, asking.request_id)) from error


def _run(asking: _Asking, call: ToolCall) -> dict[str, Any]:
    edge = asking.edge
    try:
        return run_tool(edge, call, limit_bytes=edge.settings.tool_result_limit_bytes, base="")
    except NotFound:
        _audit_not_found(asking, call)
        raise


def _audit_not_found(asking: _Asking, call: ToolCall) -> None:
    """Keep who asked for what is not theirs, as every route does."""
    asked = {name: value[:200] for name, value in asked_for(call).items()}
    entry = AuditEntry(
        action="not_found",
        key_id=asking.edge.caller.key_id,
        detail={
            "method": "POST",
            "route": PATH,
            "asked": {"tool_name": call.name[:200], **asked},
            "request_id": asking.request_id,
        },
    )
    try:
        with asking.edge.database.write(asking.edge.caller.tenant_id) as tx:
            record(tx, entry)
    except StrataGateError as failure:
        _log.warning("audit_lost", code=failure.code, action="not_found")
