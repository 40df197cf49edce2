from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

import ingest.app
import retrieval.app
from deploy.local.composition import compose
from shared.settings import Settings
from shared.store.database import Database
from tests.integration.retrieval.world import World
from tests.integration.tools.agent import Tools
from tests.support.databases import Tenant
from tests.support.serving import serving


@pytest.fixture(scope="session")
def served(settings: Settings) -> Iterator[str]:
    """The composed application, as the local stack serves it, on a free port of the loopback."""
    services = [ingest.app.create_app(settings), retrieval.app.create_app(settings)]
    app = compose(services, title="StrataGate", version="test")
    with serving(app) as url:
        yield url


@pytest.fixture(scope="session")
def http(served: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served, timeout=30) as client:
        yield client


@pytest.fixture
def world(http: httpx.Client, database: Database, tenant: Tenant) -> World:
    """A namespace of the test's own; it begins with `begin` or with its first turn."""
    return World(http, database, tenant)


@pytest.fixture
def tools(world: World) -> Tools:
    """The tools over REST, in the world's namespace."""
    return Tools(world)
