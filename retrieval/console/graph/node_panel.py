"""One node: its state, and every belief about it down to quotes and source messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from typing import Any

from nicegui import ui

from retrieval.console.components.moments import moment, written
from retrieval.console.components.quotes import quote
from retrieval.console.components.states import empty_state, status_badge
from retrieval.console.components.text import heading, text
from retrieval.console.graph.explored import Explored
from retrieval.console.page_context import PageContext
from retrieval.console.sources import sources_button

Belief = Mapping[str, Any]
HISTORY_ITEMS = 50


def node_panel(
    page: PageContext,
    explored: Explored,
    history: Mapping[str, Any],
    *,
    choose: Callable[[str], Awaitable[None]],
    expand: Callable[[], None],
) -> None:
    """Build the panel of a node from a page of its history; `choose` opens another node."""
    node = explored.nodes.get(history["node_id"], {})
    with ui.element("div").classes("sg-row"):
        heading(history["name"], level=3, classes="sg-node-name")
        text(history["type"], classes=f"sg-node-type sg-node-{history['type']}")
    aliases = [*node.get("aliases", ()), *node.get("tags", ())]
    if aliases:
        text("Also " + ", ".join(aliases), "p", classes="sg-hint")
    _state(explored, str(node.get("current_state", "")))
    beliefs = history["items"]
    if any(one["edge"] for one in beliefs):
        with ui.element("button").props("type=button").classes("sg-button").on("click", expand):
            text("Show its neighbours in the picture")
    heading("What was believed, and on what", level=3)
    if not beliefs:
        empty_state("Nothing is known of it beyond its name")
    with ui.element("ol").classes("sg-beliefs"):
        for belief in beliefs:
            _belief(page, explored, belief, node_id=history["node_id"], choose=choose)
    if history["next_cursor"]:
        text(f"The oldest {len(beliefs)} are shown.", "p", classes="sg-hint")


def held_on(belief: Belief, day: date) -> bool:
    """Tell whether a belief held at the end of a day; open ends hold."""
    start, end = _day(belief["valid_from"]), _day(belief["valid_until"])
    return (start is None or start <= day) and (end is None or end > day)


def _state(explored: Explored, state: str) -> None:
    when = "Now" if explored.at is None else f"On {written(explored.at.isoformat())}"
    lines = [line for line in state.splitlines() if line.strip()]
    with ui.element("div").classes("sg-node-state"):
        text(when, "p", classes="sg-hint")
        if not lines:
            text("No facts hold; see its relations and history.", "p", classes="sg-muted")
        with ui.element("ul"):
            for line in lines:
                name, colon, value = line.partition(": ")
                with ui.element("li"):
                    if colon:
                        text(f"{name}: ", classes="sg-muted")
                    text(value if colon else line)


def _belief(
    page: PageContext,
    explored: Explored,
    belief: Belief,
    *,
    node_id: str,
    choose: Callable[[str], Awaitable[None]],
) -> None:
    held = belief["is_current"] if explored.at is None else held_on(belief, explored.at)
    with ui.element("li").classes("sg-belief" + ("" if held else " sg-belief-past")):
        with ui.element("div").classes("sg-row"):
            if belief["edge"]:
                _relation(belief["edge"], node_id, choose)
            else:
                _fact(belief["fact"])
            _standing(belief, held=held, at=explored.at)
        _validity(belief)
        for ground in belief["grounds"]:
            _ground(page, ground)


def _fact(fact: Mapping[str, Any]) -> None:
    value = fact["value"]
    with ui.element("p").classes("sg-grow"):
        text(f"{fact['key']}: ", classes="sg-muted")
        text(value if isinstance(value, str) else "; ".join(value))


def _relation(
    edge: Mapping[str, Any], node_id: str, choose: Callable[[str], Awaitable[None]]
) -> None:
    outgoing = edge["from_node_id"] == node_id
    other_id = edge["to_node_id"] if outgoing else edge["from_node_id"]
    other = edge["to_name"] if outgoing else edge["from_name"]
    relation = edge["relation"].replace("_", " ")
    with ui.element("p").classes("sg-grow"):
        text(f"{relation} " if outgoing else "is ", classes="sg-muted")
        with ui.element("button").props("type=button").classes("sg-link-button") as button:
            text(other or "a node that is not visible")
        button.on("click", lambda: choose(other_id))
        if not outgoing:
            text(f" – {relation} – this", classes="sg-muted")


def _standing(belief: Belief, *, held: bool, at: date | None) -> None:
    told = belief["fact"] or belief["edge"]
    if told["is_planned"]:
        status_badge("planned", "busy")
    elif held:
        status_badge("held then" if at else "holds", "good")
    else:
        status_badge("not then" if at else "no longer", "calm")


def _validity(belief: Belief) -> None:
    with ui.element("p").classes("sg-hint"):
        text("from ")
        if belief["valid_from"]:
            moment(belief["valid_from"])
        else:
            text("an unknown time")
        if belief["valid_until"]:
            text(" until ")
            moment(belief["valid_until"])
        text(", learnt ")
        moment(belief["recorded_at"], with_time=False)


def _ground(page: PageContext, ground: Mapping[str, Any]) -> None:
    with ui.element("details").classes("sg-ground"):
        with ui.element("summary"):
            text(ground["title"])
            if ground["status"] != "active":
                text(f" ({ground['status']})", classes="sg-muted")
        for said in ground["quotes"]:
            quote(said["text"], when=ground["mentioned_at"])
        if not ground["quotes"]:
            text("No words were quoted.", "p", classes="sg-hint")
        sources_button(page, ground["event_id"])


def _day(instant: str | None) -> date | None:
    if not instant:
        return None
    try:
        return datetime.fromisoformat(instant).date()
    except ValueError:
        return None
