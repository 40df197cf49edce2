"""Both services over HTTP, and the workers' jobs run in the test's own process, one by one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
import uvicorn

from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.clock import FixedClock
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.database import Database
from tests.integration.imports.world import World
from tests.support.databases import Tenant


@pytest.fixture(scope="session")
def wall() -> FixedClock:
    return FixedClock(datetime.now(UTC))


@pytest.fixture(scope="session")
def both_url(settings: Settings, wall: FixedClock) -> Iterator[str]:
    app = build_app(settings, "both", [ingest_router, retrieval_router], clock=wall)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def http(both_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=both_url, timeout=30) as client:
        yield client


@pytest.fixture
def world(
    http: httpx.Client, settings: Settings, database: Database, tenant: Tenant, wall: FixedClock
) -> World:
    """A namespace of the test's own; it begins with its first turn or import."""
    return World(http, settings, database, tenant, wall)
