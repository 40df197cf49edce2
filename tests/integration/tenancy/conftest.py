from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from shared.settings import Settings
from tests.integration.ingest.serving import served
from tests.support.databases import Tenant


@pytest.fixture(scope="session")
def ingest_url(settings: Settings) -> Iterator[str]:
    with served(settings) as url:
        yield url


@pytest.fixture
def api(ingest_url: str, tenant: Tenant) -> Iterator[httpx.Client]:
    """A client with the tenant's admin key."""
    with httpx.Client(base_url=ingest_url, headers=tenant.headers, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def anyone(ingest_url: str) -> Iterator[httpx.Client]:
    """A client without a key."""
    with httpx.Client(base_url=ingest_url) as client:
        yield client
