"""From an event to what was said: its source messages with the quoted words marked, on demand."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.quotes import source_message
from retrieval.console.components.states import notify_problem
from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext


def sources_button(page: PageContext, event_id: str) -> None:
    """Offer an event's source messages; they are asked for when the button is pressed.

    A plain read: it makes no batch, so looking changes nothing that an agent sees.
    """

    async def show() -> None:
        try:
            event = await page.api.get(page.read(f"events/{event_id}"))
        except ApiProblem as problem:
            notify_problem(problem)
            return
        button.delete()
        with place:
            _sources(page, event)

    with ui.element("div").classes("sg-stack sg-sources") as place:
        with ui.element("button").props("type=button").classes("sg-link-button") as button:
            text("Show the source messages")
        button.on("click", show)


def _sources(page: PageContext, event: dict[str, Any]) -> None:
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
    if not event["source_messages"]:
        text("The source messages are gone; an erasure took them.", "p", classes="sg-hint")
    ui.link("The whole event", page.url_of("timeline", event=event["event_id"]))
