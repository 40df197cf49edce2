"""A running system with its console, a headless Chromium on it, and a memory worth looking at.

Pictures go to a temporary folder, or to STRATAGATE_TEST_PICTURES when that names one.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from deploy.chromium import REMEDY, find_chromium
from tests.console import chromium
from tests.console.browser import Browser
from tests.console.small import tell_small
from tests.console.told import Told, tell_demo
from tests.support.stack import RunningSystem

HERE = Path(__file__).parent
LIMIT_S = 420


@pytest.fixture(scope="session")
def chrome() -> Iterator[webdriver.Chrome]:
    """One browser a test process; without one the tests are skipped, saying what to install."""
    found = find_chromium()
    if found is None:
        pytest.skip(REMEDY)
    driver = chromium.start(*found)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def system(chrome: webdriver.Chrome) -> Iterator[RunningSystem]:
    """One system a test process, with its console."""
    with RunningSystem(concurrency=1, with_console=True) as running:
        yield running


@pytest.fixture(scope="session")
def told(system: RunningSystem) -> Told:
    """The demo's conversation, processed to its end; read it, do not change it."""
    return tell_demo(system, "demo:console")


@pytest.fixture(scope="module")
def mine(told: Told, request: pytest.FixtureRequest) -> Told:
    """A small memory of the module's own, in the demo's tenant, which its tests may change."""
    name = request.module.__name__.rpartition(".test_")[2]
    return tell_small(told, f"project:{name}")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures of the pages go."""
    wanted = os.environ.get("STRATAGATE_TEST_PICTURES")
    folder = Path(wanted) if wanted else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def browser(chrome: webdriver.Chrome, system: RunningSystem, pictures: Path) -> Iterator[Browser]:
    """The browser as a stranger; afterwards its pages must have been quiet, at home."""
    fresh = Browser(chrome, system.console_url, pictures)
    fresh.forget()
    yield fresh
    fresh.assert_quiet()


@pytest.fixture
def signed_in(browser: Browser, told: Told) -> Browser:
    """The browser, signed in with the admin key of the demo's tenant."""
    browser.sign_in(told.tenant.admin_key)
    return browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These are a long form, and starting the processes alone takes a minute on a busy machine."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.full)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the end of every process's log beside a failure, and a picture of what was seen."""
    report = yield
    if report.failed:
        system = getattr(item, "funcargs", {}).get("system")
        for name, tail in system.log_tails().items() if system else ():
            report.sections.append((f"log of {name}", tail))
    return report
