"""The page of events as a list: when it happened, when it was said, how much it weighs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from retrieval.console.components.moments import written
from retrieval.console.components.states import Tone, status_badge
from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext

_STATUS: dict[str, tuple[str, Tone]] = {
    "active": ("holds", "good"),
    "superseded": ("superseded", "calm"),
    "forgotten": ("forgotten", "bad"),
    "archived": ("archived", "calm"),
}


def show_list(page: PageContext, events: Sequence[dict[str, Any]], *, chosen: str) -> None:
    """Show events as links to themselves."""
    with ui.element("ol").classes("sg-event-list").props('aria-label="Events"'):
        for event in events:
            with ui.element("li") as item:
                # Opening one keeps its place: the page that comes is scrolled to it.
                item.props["id"] = event["event_id"]
                target = f"{page.url(event=event['event_id'])}#{event['event_id']}"
                link = ui.link(target=target).classes("sg-event")
                link.classes(f"sg-event-{event['status']}")
                if event["event_id"] == chosen:
                    link.props("aria-current=true")
                with link:
                    _when(event)
                    with ui.element("span").classes("sg-stack sg-tight"):
                        text(event["title"], classes="sg-event-title")
                        _facts(event)


def event_status(status: str) -> ui.element:
    """Show an event's status as its word."""
    said, tone = _STATUS.get(status, (status, "calm"))
    return status_badge(said, tone)


def happened(times: dict[str, Any]) -> str:
    """Write when something happened, with its end where it lasted."""
    start, end = times["happened_start"], times["happened_end"]
    if not start and not end:
        return times["original_text"] or "date unknown"
    begun = written(start or end)
    return begun if not end or not start or end == start else f"{begun} – {written(end)}"


def weight_bar(weight: float) -> ui.element:
    """Show a weight as a bar and its figure."""
    with ui.element("span").classes("sg-weight") as shown:
        with ui.element("span").classes("sg-bar").props("aria-hidden=true"):
            ui.element("span").style(f"width:{100 * weight:.0f}%")
        text(f"weight {weight:.2f}")
    return shown


def _when(event: dict[str, Any]) -> None:
    times = event["temporal"]
    with ui.element("span").classes("sg-event-when"):
        text(happened(times), "strong")
        if times["mentioned_at"]:
            text(f"said {written(times['mentioned_at'], with_time=False)}")


def _facts(event: dict[str, Any]) -> None:
    with ui.element("span").classes("sg-row"):
        event_status(event["status"])
        if event["temporal"]["status"] not in ("occurred", "unknown"):
            status_badge(event["temporal"]["status"], "info", icon="o_event")
        text(event["event_type"].replace("_", " "), classes="sg-tag")
        if event["criticality"] != "routine":
            text(event["criticality"], classes="sg-tag")
        if event["conflicts_with_event_ids"]:
            status_badge("contradicted", "bad", icon="o_compare_arrows")
        weight_bar(event["weight"])
