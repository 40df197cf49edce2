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
from tests.integration.erasure.eraser import Eraser
from tests.support.databases import Tenant
from tests.support.serving import serving


@pytest.fixture(scope="session")
def both_url(settings: Settings) -> Iterator[str]:
    """Both services on a free port of the loopback."""
    small = settings.model_copy(update={"block_turn_size": 2})
    clock = FixedClock(datetime.now(UTC))
    app = build_app(small, "both", [ingest_router, retrieval_router], clock=clock)
    with serving(app) as url:
        yield url


@pytest.fixture
def memory(
    both_url: str, settings: Settings, database: Database, tenant: Tenant
) -> Iterator[Eraser]:
    """A namespace of four blocks, walked to its graph."""
    with httpx.Client(base_url=both_url, headers=tenant.headers, timeout=60) as client:
        made = Eraser(client, settings, database, tenant.tenant_id)
        made.live_through()
        yield made


@pytest.fixture
def empty_memory(
    both_url: str, settings: Settings, database: Database, tenant: Tenant
) -> Iterator[Eraser]:
    """A namespace in which nothing has been said yet."""
    with httpx.Client(base_url=both_url, headers=tenant.headers, timeout=60) as client:
        yield Eraser(client, settings, database, tenant.tenant_id)
