"""How long each page of the console takes over 10,000 events, beside its sign-in page.

`python -m tests.bench.console_pages [--rounds N] [--json FILE]`: a real system and browser.
A page stands when it is built and connected to its server; medians, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from deploy.chromium import REMEDY, find_chromium
from retrieval.console.navigation import PAGES
from tests.console import chromium
from tests.console.browser import Browser
from tests.console.test_frame import MANY, copy_events
from tests.console.told import tell_demo
from tests.support import servers
from tests.support.stack import RunningSystem

BASELINE = "sign-in"


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Return each page's median time, its ratio to the sign-in page, and its API queries."""
    found = find_chromium()
    if found is None:
        raise SystemExit(REMEDY)
    driver = chromium.start(*found)
    try:
        with RunningSystem(concurrency=1, with_console=True) as system:
            told = tell_demo(system, "demo:console")
            namespace = copy_events(system, told)
            with tempfile.TemporaryDirectory() as pictures:
                browser = Browser(driver, system.console_url, Path(pictures))
                return _measure(browser, told.tenant.admin_key, namespace, rounds)
    finally:
        driver.quit()


def _measure(
    browser: Browser, key: str, namespace: str, rounds: int
) -> dict[str, dict[str, float]]:
    baseline = _median(lambda: browser.driver.get(f"{browser.url}/sign-in"), rounds)
    answer = {BASELINE: {"ms": baseline, "ratio": 1.0, "queries": 0.0}}
    browser.sign_in(key)
    for entry in PAGES:
        path = f"/{entry.slug}?namespace={namespace}"
        ms = _median(lambda path=path: browser.open(path), rounds)  # type: ignore[misc] # bound now
        answer[entry.slug] = {
            "ms": ms,
            "ratio": round(ms / baseline, 1),
            "queries": float(browser.api_queries),
        }
    return answer


def _median(open_page: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        open_page()
        taken.append(time.perf_counter() - started)
    return round(1000 * statistics.median(taken[1:]), 1)


def main() -> None:
    """Measure, print a table, and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    servers.begin_run()
    try:
        told = measure(asked.rounds)
    finally:
        servers.end_run()
    print(f"| page over {MANY:,} events | ms | ÷ sign-in | API queries |\n|---|---|---|---|")  # noqa: T201 - a command's answer
    for page, one in told.items():
        print(f"| {page} | {one['ms']:g} | {one['ratio']:g} | {one['queries']:g} |")  # noqa: T201
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
