"""Fixtures for every tier: real servers, a migrated database, a tenant of one's own."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import hypothesis
import pytest

from shared.clock import FixedClock
from shared.settings import Settings
from shared.store.database import Database
from tests.support import servers
from tests.support.databases import (
    Tenant,
    clone_database,
    drop_database,
    new_tenant,
    settings_for,
)

if TYPE_CHECKING:
    from tests.support.stack import RunningSystem

# Where a run decides whether a change lands, generated examples are the same every time.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("repeatable")


# What is loaded and collected stays until the end: to look through it for garbage finds none.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)


def pytest_collection_finish() -> None:
    gc.freeze()


def _is_controller(config: pytest.Config) -> bool:
    return not hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    if _is_controller(config):
        servers.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _is_controller(config):
        servers.end_run()


def pytest_report_header(config: pytest.Config) -> list[str]:
    return [servers.header()] if _is_controller(config) else []


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """One migrated database a process; tests are kept apart by their tenants."""
    url = clone_database()
    yield url
    drop_database(url)


@pytest.fixture(scope="session")
def settings(database_url: str) -> Settings:
    return settings_for(database_url)


@pytest.fixture(scope="session")
def database(settings: Settings) -> Iterator[Database]:
    opened = Database(settings)
    yield opened
    opened.close()


@pytest.fixture
def tenant(settings: Settings, database: Database) -> Tenant:
    return new_tenant(settings, database)


@pytest.fixture
def other_tenant(settings: Settings, database: Database) -> Tenant:
    return new_tenant(settings, database, "other")


@pytest.fixture
def own_settings() -> Iterator[Settings]:
    """Settings on a database of the test's own, for what sees all tenants: the queue."""
    url = clone_database()
    yield settings_for(url)
    drop_database(url)


@pytest.fixture
def own_database(own_settings: Settings) -> Iterator[Database]:
    opened = Database(own_settings)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))


@pytest.fixture(scope="session")
def session_system() -> Iterator[RunningSystem]:
    """One running system a test process: starting it costs more than most tests."""
    from tests.support.stack import RunningSystem  # noqa: PLC0415 - most tests need none of it

    with RunningSystem() as system:
        yield system
