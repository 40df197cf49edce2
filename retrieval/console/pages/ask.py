"""Ask."""

from __future__ import annotations

from retrieval.console.components.states import empty_state
from retrieval.console.page_context import PageContext


async def render(page: PageContext) -> None:
    """Build the page."""
    empty_state("Nothing is shown here yet", page.entry.title)
