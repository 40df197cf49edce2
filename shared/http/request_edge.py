"""The outermost layer of a request: its id, its log line, its figures, and the last catch."""

from __future__ import annotations

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.http.problems import internal_response
from shared.ids import Prefix, new_id
from shared.logs import get_logger
from shared.metrics import HTTP_REQUESTS, HTTP_SECONDS

_log = get_logger("http")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_QUIET = frozenset({"/health/live", "/health/ready", "/metrics"})


class RequestEdge:
    """Gives each request an id, answers 500 when all else failed, and counts what left."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

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
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, noting_status)
            except Exception as error:  # noqa: BLE001 - the edge: whatever failed, no trace leaves
                _log.error("request_failed", route=_route(scope), exc_info=error)
                if status == 0:
                    await internal_response(request_id)(scope, receive, noting_status)
            _tell(scope, status, time.perf_counter() - started)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    route = _route(scope)
    method = scope["method"] if scope["method"] in _METHODS else "other"
    HTTP_REQUESTS.labels(method, route, str(status)).inc()
    HTTP_SECONDS.labels(method, route).observe(seconds)
    if route not in _QUIET:
        _log.info("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1))


def _route(scope: Scope) -> str:
    """Return the route's template: paths hold names of namespaces and would never end as labels."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "unmatched"
