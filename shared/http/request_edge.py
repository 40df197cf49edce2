"""The outermost layer of a request: its id, its log line, its figures, and the last catch."""

from __future__ import annotations

import time

import structlog
from opentelemetry.trace import Span, SpanKind, StatusCode
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.domain.tenancy import Caller, is_name
from shared.http.problems import internal_response
from shared.http.security_headers import security_headers
from shared.ids import Prefix, new_id
from shared.logs import get_logger
from shared.metrics import HTTP_REQUESTS, HTTP_SECONDS
from shared.tracing import spanning

_log = get_logger("http")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_SERVER_ERROR = 500
_QUIET = frozenset({"/health/live", "/health/ready", "/metrics"})


class RequestEdge:
    """Gives each request an id, answers 500 when all else failed, and counts what left.

    Every answer carries the headers that keep browsers from guessing, framing and keeping it;
    `hsts_max_age_s` above 0 adds Strict-Transport-Security.
    """

    def __init__(self, app: ASGIApp, hsts_max_age_s: int = 0) -> None:
        self.app = app
        self.hsts_max_age_s = hsts_max_age_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = new_id(Prefix.REQUEST)
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 0

        async def noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    *security_headers(
                        scope["path"], message["headers"], hsts_max_age_s=self.hsts_max_age_s
                    ),
                    (b"x-request-id", request_id.encode()),
                ]
            await send(message)

        with (
            structlog.contextvars.bound_contextvars(request_id=request_id),
            spanning(
                "HTTP request",
                SpanKind.SERVER,
                parent=_header(scope, b"traceparent"),
                # One id to look for where nobody began a trace: the request's own.
                trace_id=request_id.partition("_")[2],
            ) as span,
        ):
            try:
                await self.app(scope, receive, noting_status)
            except Exception as error:  # noqa: BLE001 - the edge: whatever failed, no trace leaves
                _log.error("request_failed", route=_route(scope), exc_info=error)
                if status == 0:
                    await internal_response(request_id)(scope, receive, noting_status)
            _tell(scope, status, time.perf_counter() - started)
            _name(span, scope, status)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    method = scope["method"] if scope["method"] in _METHODS else "other"
    HTTP_REQUESTS.labels(method, route, str(status)).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
    if route not in _QUIET:
        told = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        _log.info("request", **told, **_whose(scope))


def _whose(scope: Scope) -> dict[str, str]:
    """Return the tenant, once the key has told it, and the namespace, once its route has."""
    caller: Caller | None = scope["state"].get("caller")
    namespace = scope.get("path_params", {}).get("ns")
    if caller is None:
        return {}
    if not isinstance(namespace, str) or not is_name(namespace):
        return {"tenant_id": caller.tenant_id}
    return {"tenant_id": caller.tenant_id, "namespace": namespace}


def _name(span: Span, scope: Scope, status: int) -> None:
    if not span.is_recording():
        return
    method = scope["method"] if scope["method"] in _METHODS else "other"
    route = _route(scope)
    span.update_name(f"{method} {route}")
    whose = {f"stratagate.{name}": value for name, value in _whose(scope).items()}
    told = {"http.request.method": method, "http.route": route}
    span.set_attributes({**told, "http.response.status_code": status, **whose})
    if status >= _SERVER_ERROR:
        span.set_status(StatusCode.ERROR)


def _header(scope: Scope, name: bytes) -> str | None:
    value = next((value for key, value in scope["headers"] if key == name), None)
    return None if value is None else value.decode("ascii", "replace")


def _route(scope: Scope) -> str:
    """Return the route's template: paths hold names of namespaces and would never end as labels."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "unmatched"
