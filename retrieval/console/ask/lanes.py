"""The four searches of a question; each makes a batch of its own, as an agent's call would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval.console.page_context import PageContext

Reply = Mapping[str, Any]
_ITEMS = 8


@dataclass(frozen=True, slots=True)
class Lane:
    """One search: its tab, its tool, its route, and what is said when it found nothing."""

    slug: str
    title: str
    tool: str
    path: str


LANES: tuple[Lane, ...] = (
    Lane("events", "Events", "memory_search_events", "events/search"),
    Lane("graph", "Graph", "memory_search_graph", "graph/search"),
    Lane("messages", "Messages", "memory_search_raw", "raw/search"),
    Lane("blocks", "Blocks", "blocks/search", "blocks/search"),
)
EMPTY: Mapping[str, str] = {
    "no_data": "There is nothing of this kind in the namespace yet.",
    "no_match": "Nothing shares a word with the question.",
    "filtered_out": "Something matches, and the filters exclude all of it.",
    "still_processing": "Nothing is found yet, and blocks are still being processed.",
}


async def search(page: PageContext, lane: Lane, question: str) -> Reply:
    """Search one lane for a question asked in the page's thread."""
    body = {"query": question, "thread_id": page.thread, "limit": _ITEMS}
    found: Reply = await page.api.post(page.read(lane.path), body)
    return found


async def context(page: PageContext, question: str) -> Reply:
    """Return what the thread's next turn would be given for the question."""
    body = {"query": question, "thread_id": page.thread}
    found: Reply = await page.api.post(page.read("context"), body)
    return found


def why_empty(reply: Reply) -> str:
    """Say in words why a reply holds nothing."""
    reason = str(reply.get("empty_reason") or "")
    return EMPTY.get(reason, reason.replace("_", " ") or "Nothing was found.")
