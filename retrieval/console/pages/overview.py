"""Overview: whether memory keeps up, in words, and what to do where it does not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.figures import counted, figure, number
from retrieval.console.components.states import error_state
from retrieval.console.overview.failures import show_failures
from retrieval.console.overview.health import show_health
from retrieval.console.overview.progress import show_progress
from retrieval.console.overview.spending import show_spending
from retrieval.console.page_context import PageContext

_BUSY_S, _IDLE_S = 2.5, 30.0
_FAILED = ("dead", "degraded", "cancelled")
_FAILURES_SHOWN = 20


@dataclass(slots=True)
class Seen:
    """What was asked for: the namespace with its counts, health, failures, usage."""

    home: dict[str, Any]
    health: dict[str, Any] | ApiProblem
    failures: dict[str, Any]
    usage: dict[str, Any]

    @property
    def is_busy(self) -> bool:
        """Tell whether jobs are live."""
        return bool(self.home["counts"]["in_progress"])

    def fingerprint(self) -> str:
        """Return what tells whether anything changed that is shown."""
        health = "" if isinstance(self.health, ApiProblem) else self.health
        return json.dumps([self.home, health, self.failures, self.usage], sort_keys=True)


async def render(page: PageContext) -> None:
    """Build the page, and build it anew whenever what it shows has changed."""
    seen = await _ask(page)
    with ui.element("div").classes("sg-stack sg-wide") as place:
        _show(page, seen)

    async def look_again() -> None:
        nonlocal seen
        try:
            now = await _ask(page)
        except ApiProblem:
            return  # the next look may do better; what is shown stays as it was
        timer.interval = _BUSY_S if now.is_busy else _IDLE_S
        if now.fingerprint() != seen.fingerprint():
            seen = now
            place.clear()
            with place:
                _show(page, seen)

    timer = ui.timer(_BUSY_S if seen.is_busy else _IDLE_S, look_again, immediate=False)


async def _ask(page: PageContext) -> Seen:
    health: dict[str, Any] | ApiProblem
    try:
        health = await page.api.get("/health/ready")
    except ApiProblem as problem:
        if problem.is_signed_out:
            raise
        health = problem
    return Seen(
        home=await page.api.get(page.write()),
        health=health,
        failures=await page.api.get(
            "/v1/jobs",
            namespace=page.namespace,
            state=list(_FAILED),
            limit=_FAILURES_SHOWN,
        ),
        usage=await page.api.get("/v1/usage", namespace=page.namespace, limit=40),
    )


def _show(page: PageContext, seen: Seen) -> None:
    counts = seen.home["counts"]
    if isinstance(seen.health, ApiProblem):
        error_state(seen.health)
    else:
        show_health(seen.health, counts, failed=len(seen.failures["items"]))
    _figures(page, counts)
    with ui.element("div").classes("sg-columns"):
        show_progress(counts)
        show_spending(seen.usage)
    show_failures(page, seen.failures)


def _figures(page: PageContext, counts: dict[str, Any]) -> None:
    events, blocks = counts["events"], counts["blocks"]
    with ui.element("div").classes("sg-figures"):
        figure(
            "Turns",
            number(counts["turns"]),
            note=f"in {counted(counts['threads'], 'thread')}",
            href=page.url_of("short-term"),
        )
        figure("Open tail", number(counts["open_tail_turns"]), note="turns not sealed yet")
        figure(
            "Blocks ready",
            number(blocks["ready"]),
            note=f"{number(blocks['pending'])} pending",
            href=page.url_of("short-term"),
        )
        figure(
            "Events that hold",
            number(events.get("active", 0)),
            note=f"{number(events.get('superseded', 0))} superseded",
            href=page.url_of("timeline"),
        )
        figure("Graph nodes", number(counts["nodes"]), href=page.url_of("graph"))
