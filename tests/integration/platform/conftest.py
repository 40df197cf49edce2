from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from shared.settings import Settings
from tests.integration.ingest.conftest import anyone, api, ingest_url
from tests.support.databases import Tenant

__all__ = ["anyone", "api", "ingest_url"]


@pytest.fixture
def with_key(ingest_url: str) -> Iterator[Callable[[str], httpx.Client]]:
    """Clients with a key of the test's choice."""
    opened: list[httpx.Client] = []

    def client(key: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"}
        opened.append(httpx.Client(base_url=ingest_url, headers=headers, timeout=60))
        return opened[-1]

    yield client
    for one in opened:
        one.close()


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch, tenant: Tenant) -> Tenant:
    """The command line on this run's database; gives the tenant."""
    monkeypatch.setenv("STRATAGATE_DATABASE_URL", settings.database_url.get_secret_value())
    return tenant
