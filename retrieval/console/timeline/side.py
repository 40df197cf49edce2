"""One event whole: what it says, what it rests on with the quote marked, and where it stands.

Nothing of its text can be changed; what people decide about it is reversible and audited.
"""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.curves import weight_drawing
from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment, written
from retrieval.console.components.quotes import source_message
from retrieval.console.components.states import notice
from retrieval.console.components.text import heading, section, text
from retrieval.console.page_context import PageContext
from retrieval.console.timeline.deciding import show_decisions
from retrieval.console.timeline.listed import event_status, happened, weight_bar


def show_event(page: PageContext, event: dict[str, Any]) -> None:
    """Show an event in its own column."""
    _head(page, event)
    _sources(page, event)
    _weight(event)
    _chain(page, event)
    show_decisions(page, event)


def _head(page: PageContext, event: dict[str, Any]) -> None:
    times = event["temporal"]
    with section(event["title"], classes="sg-event-card"):
        with ui.element("div").classes("sg-row"):
            event_status(event["status"])
            text(event["event_type"].replace("_", " "), classes="sg-tag")
            if event["pinned"]:
                text("pinned", classes="sg-tag")
            for tag in event["tags"]:
                text(tag, classes="sg-tag")
        text(event["summary"], "p")
        if event["narrative"] and event["narrative"] != event["summary"]:
            text(event["narrative"], "p", classes="sg-muted sg-pre")
        with ui.element("dl").classes("sg-facts"):
            _fact("Happened", happened(times))
            if times["original_text"]:
                _fact("In the words of", f"“{times['original_text']}”")
            text("Said", "dt")
            with ui.element("dd"):
                moment(times["mentioned_at"])
            if times["precision"] != "unknown":
                _fact("How dated", f"{times['basis']}, to the {times['precision']}")
            if event["participants"]:
                _fact("Participants", ", ".join(event["participants"]))
            _fact("Criticality", event["criticality"])
            text("Block", "dt")
            with ui.element("dd"):
                ui.link(
                    event["thread_id"],
                    page.url_of("short-term", thread=event["thread_id"], block=event["block_id"]),
                )
            text("Id", "dt")
            text(event["event_id"], "dd", classes="sg-mono sg-muted")


def _sources(page: PageContext, event: dict[str, Any]) -> None:
    with section("What it rests on", note="The quoted words are marked in the source message."):
        if not event["source_messages"]:
            text("Its source messages are gone.", "p", classes="sg-muted")
        for message in event["source_messages"]:
            quotes = [
                one["text"] for one in event["quotes"] if one["message_id"] == message["message_id"]
            ]
            source_message(
                message["content"],
                quotes=quotes,
                who=message["role"],
                when=message["occurred_at"],
                name=message["name"] or "",
            )


def _weight(event: dict[str, Any]) -> None:
    standing = event["standing"]
    since = standing["turns_since_adopted"]
    with section("Weight"):
        with ui.element("div").classes("sg-row"):
            weight_bar(event["weight"])
            text(
                f"{counted(since, 'turn')} since it was last used, "
                f"{counted(event['mention_count'], 'use')}",
                classes="sg-muted",
            )
        points = [(one["turns"], one["weight"]) for one in standing["weight_curve"]]
        words = f"It weighs {event['weight']:.2f} now, {counted(since, 'turn')} after its last use."
        weight_drawing(points, here=since, unit="turns since it was last used", words=words)


def _chain(page: PageContext, event: dict[str, Any]) -> None:
    standing = event["standing"]
    if standing["chain"]:
        with section("How it changed", note="Oldest first; the last one holds."):
            _linked(page, standing["chain"], here=event["event_id"])
    if standing["conflicts"]:
        with section("Contradicted by"):
            _linked(page, standing["conflicts"])
            notice("Both are shown to agents, labelled, until somebody decides below.", "busy")


def _linked(page: PageContext, related: list[dict[str, Any]], *, here: str = "") -> None:
    with ui.element("ol").classes("sg-chain"):
        for one in related:
            item = ui.element("li").classes("sg-holds" if one["status"] == "active" else "")
            with item, ui.element("div").classes("sg-stack sg-tight"):
                if one["event_id"] == here:
                    text(one["title"], classes="sg-strong").props("aria-current=true")
                else:
                    ui.link(one["title"], page.url(event=one["event_id"]))
                with ui.element("span").classes("sg-row sg-hint"):
                    text(written(one["source_time"]))
                    event_status(one["status"])


def _fact(name: str, value: str) -> None:
    text(name, "dt")
    text(value, "dd")


def not_found(page: PageContext) -> None:
    """Say that an event of the address is not to be had."""
    with ui.element("div").classes("sg-notice sg-notice-busy").props("role=note"):
        heading("This event is not there", level=3)
        text("It was erased, set aside, or belongs to another namespace.", "p")
        ui.link("Close", page.url(event=None))
