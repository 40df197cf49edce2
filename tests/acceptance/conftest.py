"""Running systems for the acceptance tests, and what their processes said when one fails."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.acceptance.memory import Memory
from tests.support.databases import Tenant
from tests.support.stack import RunningSystem

HERE = Path(__file__).parent
LIMIT_S = 420


@pytest.fixture
def system(session_system: RunningSystem) -> Iterator[RunningSystem]:
    """The running system, whole again after the test; tests are kept apart by their tenants."""
    yield session_system
    session_system.heal()


@pytest.fixture
def tenant_here(system: RunningSystem) -> Tenant:
    """A tenant of the test's own."""
    return system.new_tenant()


@pytest.fixture
def memory(system: RunningSystem, tenant_here: Tenant) -> Memory:
    """A namespace of the test's own, over HTTP."""
    return Memory(system, tenant_here, "project:acceptance")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests longer: on a busy machine starting the processes alone takes a minute."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the end of every process's log beside a failure."""
    report = yield
    if report.failed:
        system = getattr(item, "funcargs", {}).get("system")
        for name, tail in system.log_tails().items() if system else ():
            report.sections.append((f"log of {name}", tail))
    return report
