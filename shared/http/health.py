"""Health, metrics and version: what operators and load balancers ask, without a key.

Not ready means that nothing can be accepted: the database away, or a schema that is not this
code's. A broker that is away only delays derivation, so it is told and costs no readiness.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import redis
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from shared.embeddings.asking import query_embedder_of
from shared.errors import Unavailable
from shared.http.dependencies import DatabaseOf, SettingsOf
from shared.http.problems import problem_response, request_id_of
from shared.http.refusals import refuses
from shared.metrics import CONTENT_TYPE, render_metrics
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from shared.store.job_queue import sample_depth
from shared.store.migrate import current_revision, head_revision

_PING_S = 0.5
_UNKNOWN = "unknown until the database answers with this version's schema"
router = APIRouter(tags=["operations"])


@router.get("/health/live", summary="Whether the process answers; no I/O")
async def live() -> dict[str, str]:
    """Answer at once."""
    return {"status": "live"}


@router.get(
    "/health/ready",
    openapi_extra=refuses("not_ready"),
    summary="Whether requests can be served, part by part",
)
def ready(request: Request, database: DatabaseOf, settings: SettingsOf) -> JSONResponse:
    """Answer 200 when turns can be accepted and read, 503 when not; with the parts in either."""
    parts: dict[str, Any] = {"database": _database(database)}
    parts["migrations"] = _migrations(database, reachable=parts["database"]["ok"])
    parts["broker"] = _broker(settings)
    parts["jobs"] = _jobs(request.app.state.queue_database, countable=parts["migrations"]["ok"])
    vectors = query_embedder_of(settings).known_state()
    if vectors is not None:
        parts["vectors"] = vectors
    if parts["database"]["ok"] and parts["migrations"]["ok"]:
        status = "ready" if parts["broker"]["ok"] else "degraded"
        return JSONResponse({"status": status, "parts": parts})
    failing = " and ".join(name for name in ("database", "migrations") if not parts[name]["ok"])
    error = Unavailable(f"not ready: see {failing} in parts", code="not_ready", retry_after_s=1)
    return problem_response(error, request_id_of(request), parts=parts)


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
def metrics() -> Response:
    """Answer in the exposition format."""
    return Response(render_metrics(), media_type=CONTENT_TYPE)


@router.get("/version", summary="Which code answers")
def versions() -> dict[str, str]:
    """Answer with the release, the contract's version and the schema this code expects."""
    return {"name": "stratagate", "version": release(), "api": "v1", "schema": head_revision()}


def release() -> str:
    """Return the installed release; a source tree that was never installed says so."""
    try:
        return version("stratagate")
    except PackageNotFoundError:
        return "0+source"


def _database(database: Database) -> dict[str, Any]:
    try:
        with database.anonymous():
            return {"ok": True}
    except Unavailable as error:
        return {"ok": False, "detail": error.detail}


def _migrations(database: Database, *, reachable: bool) -> dict[str, Any]:
    expected = head_revision()
    unknown = {"ok": False, "expected": expected, "found": None, "detail": _UNKNOWN}
    if not reachable:
        return unknown
    try:
        found = current_revision(database)
    except Unavailable:
        return unknown
    return {"ok": found == expected, "expected": expected, "found": found}


def _broker(settings: Settings) -> dict[str, Any]:
    client = redis.Redis.from_url(
        _redis_url(settings.broker_url.get_secret_value()),
        socket_connect_timeout=_PING_S,
        socket_timeout=_PING_S,
        retry=None,
    )
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        return {"ok": False, "detail": type(error).__name__}
    finally:
        client.close()
    return {"ok": True}


def _redis_url(url: str) -> str:
    """Turn a broker URL of a socket (`redis+socket:///path?virtual_host=0`) into a client's."""
    parts = urlsplit(url)
    if parts.scheme != "redis+socket":
        return url
    number = parse_qs(parts.query).get("virtual_host", ["0"])[0]
    return urlunsplit(("unix", parts.netloc, parts.path, f"db={number}", ""))


def _jobs(queue: QueueDatabase, *, countable: bool) -> dict[str, Any]:
    unknown = {"live": None, "oldest_due_s": None, "detail": _UNKNOWN}
    if not countable:
        return unknown
    try:
        with queue.transaction() as tx:
            depths = sample_depth(tx)
    except Unavailable:
        return unknown
    oldest = max((depth.oldest_due_s for depth in depths), default=0.0)
    return {"live": sum(d.count for d in depths), "oldest_due_s": round(oldest, 1)}
