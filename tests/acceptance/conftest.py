"""Running systems for the acceptance tests, and what their processes said when one fails."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.acceptance.memory import Memory
from tests.support.databases import Tenant
from tests.support.stack import RunningSystem


class SystemMaker:
    """Makes systems of one test's own, to be killed and broken; all end with the test."""

    def __init__(self, ended: ExitStack) -> None:
        self._ended = ended
        self.made: list[RunningSystem] = []

    def __call__(self, **options: Any) -> RunningSystem:
        system = RunningSystem(**options)
        self.made.append(self._ended.enter_context(system))
        return system


@pytest.fixture(scope="session")
def quiet_system() -> Iterator[RunningSystem]:
    """One system for all tests that kill nothing; they are kept apart by their tenants."""
    with RunningSystem() as system:
        yield system


@pytest.fixture
def new_system() -> Iterator[SystemMaker]:
    """Make a system of the test's own: `new_system(provider=…, settings=…)`."""
    with ExitStack() as ended:
        yield SystemMaker(ended)


@pytest.fixture
def tenant_here(quiet_system: RunningSystem) -> Tenant:
    """A tenant of the test's own in the shared system."""
    return quiet_system.new_tenant()


@pytest.fixture
def memory(quiet_system: RunningSystem, tenant_here: Tenant) -> Memory:
    """A namespace of the test's own in the shared system, over HTTP."""
    return Memory(quiet_system, tenant_here, "project:acceptance")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the end of every process's log beside a failure."""
    report = yield
    if report.failed:
        for system in _systems(getattr(item, "funcargs", {})):
            for name, tail in system.log_tails().items():
                report.sections.append((f"log of {name}, {system.url}", tail))
    return report


def _systems(fixtures: dict[str, Any]) -> Iterator[RunningSystem]:
    for value in fixtures.values():
        if isinstance(value, RunningSystem):
            yield value
        elif isinstance(value, SystemMaker):
            yield from value.made
