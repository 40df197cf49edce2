"""Both services over HTTP, and the workers' jobs run in the test's own process, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.clock import FixedClock
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.database import Database
from tests.integration.imports.world import World
from tests.support.databases import Tenant
from tests.support.serving import serving


@pytest.fixture(scope="session")
def wall() -> FixedClock:
    return FixedClock(datetime.now(UTC))


@pytest.fixture(scope="session")
def both_url(settings: Settings, wall: FixedClock) -> Iterator[str]:
    app = build_app(settings, "both", [ingest_router, retrieval_router], clock=wall)
    with serving(app) as url:
        yield url


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
