from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from shared.settings import Settings
from shared.store.database import Database
from tests.integration.erasure.conftest import both_url, memory
from tests.integration.erasure.eraser import Eraser
from tests.integration.exports.packing import exported
from tests.support.databases import Tenant, new_tenant

__all__ = ["both_url", "memory"]


@pytest.fixture
def elsewhere(
    both_url: str, settings: Settings, database: Database, other_tenant: Tenant
) -> Iterator[Eraser]:
    """The same namespace of another tenant, in which nothing was ever said."""
    with httpx.Client(base_url=both_url, headers=other_tenant.headers, timeout=60) as client:
        yield Eraser(client, settings, database, other_tenant.tenant_id)


@pytest.fixture(scope="session")
def bundle(both_url: str, settings: Settings, database: Database) -> bytes:
    """The bundle of a walked namespace, of a tenant of its own."""
    made = new_tenant(settings, database, "origin")
    with httpx.Client(base_url=both_url, headers=made.headers, timeout=60) as client:
        memory = Eraser(client, settings, database, made.tenant_id)
        memory.live_through()
        return exported(memory)
