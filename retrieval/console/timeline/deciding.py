"""What people may decide about an event: pin, set aside, restore; and what they did decide."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from retrieval.console.components.acting import button, told
from retrieval.console.components.moments import moment
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext

_CRITICALITY = ("routine", "preference", "identity", "safety")
_NOTE = "Reversible and audited. The text of an event can never be changed."


def show_decisions(page: PageContext, event: dict[str, Any]) -> None:
    """Show the decisions that can be taken, and those that were."""
    with section("Decide", note=_NOTE):
        reason = ui.input("Reason, for the audit").props(
            "outlined dense autocomplete=off maxlength=500"
        )
        reason.classes("sg-wide")

        async def change(said: str, **change: Any) -> None:
            body = {**change, "expected_revision": event["curation_revision"]}
            if reason.value.strip():
                body["reason"] = reason.value.strip()
            path = page.write(f"curation/events/{event['event_id']}")
            if await told(lambda: page.api.patch(path, body)):
                page.reload(saying=said)

        with ui.element("div").classes("sg-row"):
            if event["pinned"]:
                button("Unpin", lambda: change("Unpinned.", pinned=False))
            else:
                button("Pin", lambda: change("Pinned: it weighs 1 from now on.", pinned=True))
            if event["status"] in ("forgotten", "archived"):
                button("Restore", lambda: change("Restored.", status="active"))
            else:
                button(
                    "Forget", lambda: change("Forgotten; it can be restored.", status="forgotten")
                )
                button(
                    "Archive", lambda: change("Archived; it can be restored.", status="archived")
                )
        with ui.element("div").classes("sg-row"):
            text("Criticality", classes="sg-muted")
            for level in _CRITICALITY:
                if level != event["criticality"]:
                    told_now = partial(change, f"Now {level}.", criticality=level)
                    button(level.capitalize(), told_now, name=f"Make it {level}")
        _trail(event)


def _trail(event: dict[str, Any]) -> None:
    if not event["curation"]:
        return
    with ui.element("details"):
        text("What was decided before", "summary")
        with ui.element("ul").classes("sg-stack sg-tight"):
            for one in event["curation"]:
                with ui.element("li").classes("sg-row sg-hint"):
                    moment(one["at"])
                    text(one["action"].replace("_", " "))
                    text(_changes(one["before"], one["after"]))
                    if one["reason"]:
                        text(f"“{one['reason']}”")


def _changes(before: dict[str, Any], after: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}: {before.get(name)} → {value}"
        for name, value in after.items()
        if before.get(name) != value
    )
