"""Short-term: what a conversation carries with it, block by block, each at today's level."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from nicegui import ui

from retrieval.console.components.figures import counted, number
from retrieval.console.components.states import empty_state
from retrieval.console.components.text import text
from retrieval.console.page_context import PageContext
from retrieval.console.short_term.block import show_block, show_tail
from retrieval.console.short_term.rail import TAIL, show_rail

_BLOCKS_SHOWN = 40


async def render(page: PageContext) -> None:
    """Build the page: two queries, one page of blocks, one block whole."""
    if page.thread is None:
        empty_state("No conversation yet", "A thread begins with its first turn.", icon="o_layers")
        return
    path = page.read(f"threads/{quote(page.thread, safe='')}/blocks")
    blocks = await page.api.get(path, limit=_BLOCKS_SHOWN, cursor=page.query.get("cursor"))
    newest = blocks["items"][0]["block_id"] if blocks["items"] else TAIL
    chosen = page.query.get("block", newest)
    block: dict[str, Any] | None = None
    if chosen != TAIL:
        block = await page.api.get(page.read(f"blocks/{quote(chosen, safe='')}"))
    _summary(blocks)
    with ui.element("div").classes("sg-short-term"):
        show_rail(page, blocks, chosen=chosen)
        with ui.element("div").classes("sg-grow"):
            if block is None:
                show_tail(blocks)
            else:
                show_block(page, block)


def _summary(blocks: dict[str, Any]) -> None:
    shown = blocks["items"]
    now = sum(block["tokens"] for block in shown)
    whole = sum(block["source_tokens"] for block in shown)
    if not shown:
        return
    text(
        f"{counted(len(shown), 'block')} here, {number(now)} tokens today instead of "
        f"{number(whole)}; λ {blocks['block_decay_lambda']:g} a ready block.",
        "p",
        classes="sg-muted",
    )
