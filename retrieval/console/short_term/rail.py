"""The rail: a thread's blocks from the oldest to the newest, then what is not sealed yet."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from retrieval.console.components.figures import counted, number
from retrieval.console.components.levels import level_chip
from retrieval.console.components.moments import written
from retrieval.console.components.states import Tone, status_badge
from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext

TAIL = "tail"
_UNREADY: dict[str, Tone] = {"pending": "busy", "failed": "bad"}


def show_rail(page: PageContext, blocks: dict[str, Any], *, chosen: str) -> None:
    """Show a page of blocks; each leads to itself at every level."""
    with ui.element("nav").classes("sg-rail").props('aria-label="Blocks, oldest first"'):
        if blocks["next_cursor"]:
            ui.link("Older blocks", page.url(cursor=blocks["next_cursor"], block=None)).classes(
                "sg-button sg-rail-more"
            )
        with ui.element("ol"):
            for block in reversed(blocks["items"]):
                _block(page, block, is_chosen=block["block_id"] == chosen)
            if "cursor" not in page.query:
                _tail(page, blocks, is_chosen=chosen == TAIL)
        if "cursor" in page.query:
            ui.link("Newest blocks", page.url(cursor=None, block=None)).classes(
                "sg-button sg-rail-more"
            )


def _block(page: PageContext, block: dict[str, Any], *, is_chosen: bool) -> None:
    with ui.element("li"):
        link = ui.link(target=page.url(block=block["block_id"])).classes("sg-rail-block")
        link.classes(f"sg-rail-{block['level']}" if block["status"] == "ready" else "sg-rail-raw")
        if is_chosen:
            link.props("aria-current=true")
        with link:
            with ui.element("span").classes("sg-rail-head"):
                level_chip(block["level"], block["label"])
                text(block["title"] or "Not summarised yet", classes="sg-rail-title")
            first, last = block["turn_range"]
            with ui.element("span").classes("sg-rail-facts"):
                text(f"Turns {first}–{last}")
                text(written(block["ended_at"], with_time=False))
                if block["status"] != "ready":
                    status_badge(block["status"], _UNREADY.get(block["status"], "calm"))
                elif block["lifted_by"]:
                    status_badge(f"lifted by {block['lifted_by']}", "info", icon="o_north")
            _weight_of_tokens(block)


def _weight_of_tokens(block: dict[str, Any]) -> None:
    """Show what the block costs now beside what it cost when it was new."""
    whole = max(1, block["source_tokens"])
    share = min(1.0, block["tokens"] / whole)
    with ui.element("span").classes("sg-rail-bar").props("aria-hidden=true"):
        ui.element("span").style(f"width:{100 * share:.1f}%").classes(f"sg-level-{block['level']}")
    text(f"{number(block['tokens'])} of {number(whole)} tokens", classes="sg-rail-tokens")


def _tail(page: PageContext, blocks: dict[str, Any], *, is_chosen: bool) -> None:
    turns, size = blocks["open_tail_turns"], blocks["block_turn_size"]
    with ui.element("li"):
        link = ui.link(target=page.url(block=TAIL)).classes("sg-rail-block sg-rail-tail")
        if is_chosen:
            link.props("aria-current=true")
        with link:
            with ui.element("span").classes("sg-rail-head"):
                text("open", classes="sg-level sg-level-open")
                text("Open tail", classes="sg-rail-title")
            text(f"{number(turns)} of {counted(size, 'turn')}", classes="sg-rail-facts")
            with ui.element("span").classes("sg-rail-slots").props("aria-hidden=true"):
                for slot in range(min(size, 24)):
                    ui.element("span").classes("sg-slot-full" if slot < turns else "")
