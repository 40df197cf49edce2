"""Contradictions: both sides with their quotes, and the decision, which can be taken back."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.acting import button, told
from retrieval.console.components.figures import counted
from retrieval.console.components.moments import moment, written
from retrieval.console.components.quotes import quote
from retrieval.console.components.states import status_badge
from retrieval.console.components.text import heading, section, text
from retrieval.console.page_context import PageContext

_SHOWN = 10


async def ask_conflicts(page: PageContext) -> dict[str, Any]:
    """Return a page of the contradictions that the address asks for: the open ones, or all."""
    found: dict[str, Any] = await page.api.get(
        page.write("curation/conflicts"),
        state="all" if page.query.get("conflicts") == "all" else "open",
        limit=_SHOWN,
        cursor=page.query.get("conflicts_after"),
    )
    return found


def show_conflicts(page: PageContext, conflicts: dict[str, Any]) -> None:
    """Show contradictions with what can be decided."""
    items = conflicts["items"]
    shows_all = page.query.get("conflicts") == "all"
    note = "Two events that cannot both hold. Keeping one supersedes the other, reversibly."
    with section("Contradictions", note=note) as card:
        card.props("id=contradictions")
        with ui.element("div").classes("sg-row"):
            if shows_all:
                ui.link("Only the open ones", page.url(conflicts=None, conflicts_after=None))
            else:
                ui.link("Settled ones too", page.url(conflicts="all", conflicts_after=None))
        if not items:
            text("None." if shows_all else "None is open.", "p", classes="sg-muted")
        for conflict in items:
            _conflict(page, conflict)
        if conflicts["next_cursor"]:
            ui.link(
                f"More than these {counted(len(items), 'one')}",
                page.url(conflicts_after=conflicts["next_cursor"]),
            ).classes("sg-button")


def _conflict(page: PageContext, conflict: dict[str, Any]) -> None:
    with ui.element("article").classes("sg-conflict") as shown:
        shown.props["data-conflict"] = conflict["conflict_id"]
        with ui.element("div").classes("sg-row"):
            tone = {"open": "bad", "resolved": "good"}.get(conflict["state"], "calm")
            status_badge(conflict["state"], tone)  # type: ignore[arg-type] # of the tones above
            moment(conflict["created_at"])
            if conflict["closed_reason"]:
                text(conflict["closed_reason"].replace("_", " "), classes="sg-muted")
        with ui.element("div").classes("sg-sides"):
            for side in conflict["events"]:
                _side(page, conflict, side)
        if conflict["state"] == "open":
            with ui.element("div").classes("sg-row"):
                button("Both hold", lambda: _settle(page, conflict, "both", "Both hold."))
        elif conflict["state"] == "resolved":
            _resolution(page, conflict)


def _side(page: PageContext, conflict: dict[str, Any], side: dict[str, Any]) -> None:
    with ui.element("div").classes("sg-side-card"):
        if side["title"] is None:
            text("This event is no longer there.", "p", classes="sg-muted")
            return
        heading(side["title"], level=3)
        said = {message["message_id"]: message for message in side["source_messages"]}
        for one in side["quotes"]:
            message = said.get(one["message_id"], {})
            quote(
                one["text"],
                who=message.get("name") or message.get("role") or "",
                when=message.get("occurred_at") or side["mentioned_at"],
                href=page.url(event=side["event_id"]),
                where="Source",
            )
        if not side["quotes"]:
            text(side["summary"], "p")
        if conflict["state"] == "open":
            button(
                "This one holds",
                lambda: _settle(page, conflict, side["event_id"], "Settled; it can be reopened."),
                name=f"This one holds: {side['title']}",
            )


def _resolution(page: PageContext, conflict: dict[str, Any]) -> None:
    decided = conflict["resolution"]
    titles = {side["event_id"]: side["title"] for side in conflict["events"]}
    kept = "both hold" if decided["keep"] == "both" else f"“{titles.get(decided['keep'])}” holds"
    with ui.element("div").classes("sg-row"):
        text(f"Decided {written(decided['decided_at'])}: {kept}.")
        button("Reopen", lambda: _reopen(page, conflict))


async def _settle(page: PageContext, conflict: dict[str, Any], keep: str, done: str) -> None:
    await _resolve(page, conflict, {"keep": keep}, done)


async def _reopen(page: PageContext, conflict: dict[str, Any]) -> None:
    await _resolve(page, conflict, {"reopen": True}, "Open again.")


async def _resolve(
    page: PageContext, conflict: dict[str, Any], wish: dict[str, Any], done: str
) -> None:
    revision = conflict["revision"]
    body = {
        **wish,
        "expected_revision": revision,
        # One decision on one revision: a second click asks for the same one.
        "receipt_id": f"console-{conflict['conflict_id']}-{revision}-{wish.get('keep', 'reopen')}",
    }
    path = page.write(f"curation/conflicts/{conflict['conflict_id']}/resolve")
    if await told(lambda: page.api.post(path, body)):
        page.reload(saying=done)
