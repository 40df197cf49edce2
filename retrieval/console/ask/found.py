"""What a search found, one card an item: what it says, why it matched, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from retrieval.console.components.moments import moment
from retrieval.console.components.quotes import source_message
from retrieval.console.components.states import status_badge
from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext
from retrieval.console.sources import sources_button

Item = Mapping[str, Any]
Cite = Callable[[str, bool], None]


def found_item(page: PageContext, lane: str, item: Item, cite: Cite) -> None:
    """Show one item; its box tells `cite` whether the assessment names it."""
    ref = str(item["evidence_ref"])
    with ui.element("li").classes("sg-found"):
        box = ui.checkbox(on_change=lambda event: cite(ref, bool(event.value)))
        box.props("dense").classes("sg-cite")
        box.props["aria-label"] = f"Cite {ref}"
        with ui.element("div").classes("sg-stack sg-tight sg-grow"):
            _BUILD[lane](page, item)
            _why(item)


def _why(item: Item) -> None:
    reason = item.get("match_reason")
    with ui.element("p").classes("sg-hint"):
        if reason:
            text(f"{reason} ")
        score = item.get("rank_score")
        if score is not None:
            text(f"Rank {score:.3g}. ", classes="sg-nowrap")
        text(str(item["evidence_ref"]), classes="sg-mono")
    signals = item.get("signals")
    if signals:
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in sorted(signals.items()))
        text(f"Score by parts: {parts}", "p", classes="sg-hint")


def _event(page: PageContext, item: Item) -> None:
    with ui.element("div").classes("sg-row"):
        text(item["title"], "p", classes="sg-found-title sg-grow")
        if item["is_current"]:
            status_badge("active", "good")
        else:
            status_badge(str(item["status"]), "calm")
        if item["conflicts_with_event_ids"]:
            status_badge("in conflict", "bad")
    if item["summary"].rstrip(".") != item["title"].rstrip("."):
        text(item["summary"], "p")
    _times(item)
    sources_button(page, str(item["event_id"]))


def _times(item: Item) -> None:
    times = item["temporal"]
    with ui.element("p").classes("sg-hint"):
        text(f"{item['event_type'].replace('_', ' ')} · happened ")
        if times["happened_start"]:
            moment(times["happened_start"])
            if times["happened_end"] and times["happened_end"] != times["happened_start"]:
                text(" to ")
                moment(times["happened_end"])
        else:
            text(f"“{times['original_text']}”" if times["original_text"] else "at no known time")
        text(" · said ")
        moment(times["mentioned_at"])
        text(f" in {item['thread_id']} · weight {item['weight']:.2f}")


def _node(page: PageContext, item: Item) -> None:
    with ui.element("div").classes("sg-row"):
        address = page.url_of("graph", node=item["node_id"])
        ui.link(item["name"], address).classes("sg-found-title")
        text(item["type"], classes=f"sg-node-type sg-node-{item['type']}")
    for fact in item["matched_facts"]:
        value = fact["value"]
        said = value if isinstance(value, str) else "; ".join(value)
        with ui.element("div").classes("sg-row"):
            text(f"{fact['key']}: {said}", "p")
            if not fact["is_current"]:
                status_badge("no longer", "calm")
    for edge in item["matched_edges"]:
        relation = edge["relation"].replace("_", " ")
        text(f"{edge['from_name']} – {relation} – {edge['to_name']}", "p")
    if not item["matched_facts"] and item["current_state"]:
        text(item["current_state"], "p", classes="sg-pre")


def _message(page: PageContext, item: Item) -> None:
    del page
    for name in ("before", "message", "after"):
        said = item["message"] if name == "message" else item["nearby"][name]
        if said is None:
            continue
        with ui.element("div").classes("" if name == "message" else "sg-nearby"):
            source_message(
                said["content"],
                quotes=list(item["matched_words"]) if name == "message" else [],
                who=said["role"],
                when=said["occurred_at"],
                name=said["name"] or "",
            )
    with ui.element("div").classes("sg-row"):
        text(f"Thread {item['thread_id']}", classes="sg-hint")
        if item["in_open_tail"]:
            status_badge("in the open tail", "info")


def _block(page: PageContext, item: Item) -> None:
    block = item["block"]
    level = int(block["level"])
    with ui.element("div").classes("sg-row"):
        text(f"L{level}", classes=f"sg-level sg-level-{level}")
        first, last = block["turn_range"]
        address = page.url_of("short-term", thread=block["thread_id"])
        ui.link(f"{block['thread_id']}, turns {first}–{last}", address).classes("sg-found-title")
        text(f"{block['tokens']} tokens", classes="sg-hint")
        if item["status"] != "ready":
            status_badge(str(item["status"]), "busy")
    for said in item["messages"]:
        text(said["excerpt"], "p", classes="sg-excerpt")
        text(said["match_reason"], "p", classes="sg-hint")
    with ui.element("details").classes("sg-ground"):
        text(f"The block as it reads now: {block['label']}", "summary")
        text(block["content"], "p", classes="sg-pre")


_BUILD: Mapping[str, Callable[[PageContext, Item], None]] = {
    "events": _event,
    "graph": _node,
    "messages": _message,
    "blocks": _block,
}
