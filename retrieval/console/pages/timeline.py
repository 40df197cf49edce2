"""Timeline: what happened and when it was said, down to the words it rests on."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import empty_state, notice
from retrieval.console.components.table import pager
from retrieval.console.components.text import heading
from retrieval.console.page_context import PageContext
from retrieval.console.timeline.conflicts import ask_conflicts, show_conflicts
from retrieval.console.timeline.filters import asked_of_api, is_filtered, show_filters
from retrieval.console.timeline.listed import show_list
from retrieval.console.timeline.scatter import show_scatter
from retrieval.console.timeline.side import not_found, show_event

_EVENTS_SHOWN = 30
_FORBIDDEN, _NOT_FOUND = 403, 404


async def render(page: PageContext) -> None:
    """Build the page: at most three queries, one page of events, one event whole."""
    found = await page.api.get(page.read("timeline"), limit=_EVENTS_SHOWN, **asked_of_api(page))
    events = [item["event"] for item in found["items"]]
    chosen = page.query.get("event", "")
    event = await _event(page, chosen) if chosen else None
    conflicts = await _conflicts(page)
    show_filters(page)
    if conflicts is not None and conflicts["items"] and page.query.get("conflicts") != "all":
        with ui.element("div").classes("sg-row"):
            ui.link("Contradictions wait for a decision", "#contradictions")
    if not events and not chosen:
        _nothing(page)
    else:
        show_scatter(page, events, chosen=chosen)
    with ui.element("div").classes("sg-timeline" + ("" if chosen else " sg-alone")):
        with ui.element("div").classes("sg-stack sg-wide"):
            if events:
                _list(page, found, chosen=chosen)
            if conflicts is None:
                notice("Contradictions are shown to keys that may curate.")
            else:
                show_conflicts(page, conflicts)
        if chosen:
            with ui.element("aside").classes("sg-side").props('aria-label="The chosen event"'):
                if event is None:
                    not_found(page)
                else:
                    ui.link("Close", page.url(event=None)).classes("sg-button sg-close")
                    show_event(page, event)


def _list(page: PageContext, found: dict[str, Any], *, chosen: str) -> None:
    with ui.element("section").classes("sg-card") as card:
        shown = heading("Events")
        card.props["aria-labelledby"] = shown.html_id
        show_list(page, [item["event"] for item in found["items"]], chosen=chosen)
        pager(page, found["next_cursor"])


async def _event(page: PageContext, event_id: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = await page.api.get(page.read(f"events/{quote(event_id, safe='')}"))
    except ApiProblem as problem:
        if problem.status != _NOT_FOUND:
            raise
        return None
    return found


async def _conflicts(page: PageContext) -> dict[str, Any] | None:
    try:
        return await ask_conflicts(page)
    except ApiProblem as problem:
        if problem.status != _FORBIDDEN:
            raise
        return None


def _nothing(page: PageContext) -> None:
    if is_filtered(page):
        empty_state("No event passes these filters", "They are hard: nothing is widened silently.")
    else:
        empty_state("No events yet", "They are drawn from blocks once those are summarised.")
