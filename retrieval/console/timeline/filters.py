"""The timeline's filters: a plain form whose fields are the page's address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext

TYPES = (
    *("release", "decision", "task_completed", "plan", "change", "cancellation"),
    *("incident", "meeting", "collaboration", "migration", "other"),
)
_STATUSES = {
    "": "Any status",
    "active": "Holding",
    "superseded": "Superseded",
    "forgotten": "Forgotten (curators)",
    "archived": "Archived (curators)",
}
_ORDERS = {"": "Newest first", "oldest": "Oldest first"}
_THEIR_ZONE = "(e) => { e.target.zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone }"
_FIELDS = ("type", "status", "participants", "from", "to", "in_thread", "order", "zone")


def asked_of_api(page: PageContext) -> dict[str, Any]:
    """Return the query of the API that the address asks for."""
    given = page.query
    has_dates = given.get("from") or given.get("to")
    names = [name.strip() for name in given.get("participants", "").split(",")]
    return {
        "event_types": given.get("type") or None,
        "statuses": given.get("status") or None,
        "participants": [name for name in names if name] or None,
        "from": given.get("from") or None,
        "to": given.get("to") or None,
        "timezone": (given.get("zone") or "UTC") if has_dates else None,
        "thread_id": given.get("in_thread") or None,
        "order": given.get("order") or "newest",
        "cursor": given.get("cursor"),
    }


def is_filtered(page: PageContext) -> bool:
    """Tell whether the address leaves anything out."""
    return any(page.query.get(name) for name in _FIELDS if name not in ("order", "zone"))


def show_filters(page: PageContext) -> None:
    """Show the form; sending it opens the same page with other filters."""
    form = ui.element("form").props("method=get action=/timeline").classes("sg-filters")
    with form.props('role=search aria-label="Filter events"'):
        # Days are days where the reader is.
        form.on("submit", js_handler=_THEIR_ZONE)
        ui.element("input").props("type=hidden name=zone")
        _hidden("namespace", page.namespace)
        _hidden("thread", page.query.get("thread"))
        _choice(
            "Type",
            "type",
            {"": "Any type"} | {one: one.replace("_", " ").capitalize() for one in TYPES},
            page,
        )
        _choice("Status", "status", _STATUSES, page)
        threads = [str(one["thread_id"]) for one in page.threads]
        _choice("Thread", "in_thread", {"": "All threads"} | {one: one for one in threads}, page)
        _field("Participants", "participants", page, placeholder="Mara, Jonas")
        _field("From", "from", page, kind="date")
        _field("To", "to", page, kind="date")
        _choice("Order", "order", _ORDERS, page)
        with ui.element("div").classes("sg-row"):
            with ui.element("button").props("type=submit").classes("sg-button sg-button-main"):
                text("Show")
            if is_filtered(page):
                bare: dict[str, str | None] = dict.fromkeys((*_FIELDS, "cursor", "event"))
                ui.link("Clear", page.url(**bare)).classes("sg-button")


def _choice(label: str, name: str, options: Mapping[str, str], page: PageContext) -> None:
    chosen = page.query.get(name, "")
    with ui.element("label"):
        text(label)
        with ui.element("select").classes("sg-field") as field:
            field.props["name"] = name
            for value, said in _with(options, chosen):
                option = text(said, "option")
                option.props["value"] = value
                if value == chosen:
                    option.props("selected")


def _with(options: Mapping[str, str], chosen: str) -> Sequence[tuple[str, str]]:
    known = list(options.items())
    return known if chosen in options else [*known, (chosen, chosen)]


def _field(
    label: str, name: str, page: PageContext, *, kind: str = "text", placeholder: str = ""
) -> None:
    with ui.element("label"):
        text(label)
        field = ui.element("input").classes("sg-field").props(f"type={kind} autocomplete=off")
        field.props["name"] = name
        field.props["value"] = page.query.get(name, "")
        if placeholder:
            field.props["placeholder"] = placeholder


def _hidden(name: str, value: str | None) -> None:
    if value:
        field = ui.element("input").props("type=hidden")
        field.props["name"] = name
        field.props["value"] = value
