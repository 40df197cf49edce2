"""Usage audit: why something was said, from the answer down to the words it rests on."""

from __future__ import annotations

from urllib.parse import quote

from nicegui import ui

from retrieval.console.components.states import empty_state
from retrieval.console.components.table import pager
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext
from retrieval.console.usage.chain import use_chain
from retrieval.console.usage.transcript import transcript

_USES, _BATCHES = 10, 20
_USES_VIEW, _TRANSCRIPT_VIEW = "uses", "transcript"
_FILTERS = ("event_id", "turn_id", "batch_id")


async def render(page: PageContext) -> None:
    """Build one of two views with one query: what answers used, or a thread's transcript."""
    is_transcript = page.query.get("view") == _TRANSCRIPT_VIEW and page.thread is not None
    _views(page, _TRANSCRIPT_VIEW if is_transcript else _USES_VIEW)
    if is_transcript:
        await _transcript(page)
    else:
        await _uses(page)


def _views(page: PageContext, chosen: str) -> None:
    with ui.element("nav").classes("sg-views").props('aria-label="Views"'):
        views = [(_USES_VIEW, "What answers used")]
        if page.thread:
            views.append((_TRANSCRIPT_VIEW, f"The retrieval of {page.thread}"))
        for name, title in views:
            link = ui.link(title, page.url(view=name, cursor=None)).classes("sg-view")
            if name == chosen:
                link.props("aria-current=page")


async def _uses(page: PageContext) -> None:
    filters = {name: page.query[name] for name in _FILTERS if name in page.query}
    found = await page.api.get(
        page.read("usage-audit"),
        limit=_USES,
        cursor=page.query.get("cursor"),
        thread_id=page.query.get("thread"),
        **filters,
    )
    if page.query.get("thread"):
        with ui.element("p").classes("sg-row sg-muted"):
            text(f"Of the thread {page.query['thread']} alone.")
            ui.link("Show all threads", page.url(thread=None, cursor=None))
    if not found["items"]:
        empty_state(
            "No use is recorded here yet",
            "When an agent answers from memory it records what it used; the chain is shown here.",
            icon="o_fact_check",
        )
    for use in found["items"]:
        use_chain(page, use)
    pager(page, found["next_cursor"])


async def _transcript(page: PageContext) -> None:
    thread = quote(page.thread or "", safe="")
    told = await page.api.get(
        page.read(f"threads/{thread}/batches"), limit=_BATCHES, cursor=page.query.get("cursor")
    )
    with section("Transcript", note="Every search of this conversation, oldest first."):
        if told["items"]:
            transcript(told)
        else:
            empty_state(
                "Nothing was searched in this conversation",
                "Searches that name the thread are listed here, with what became of them.",
                icon="o_search_off",
            )
    pager(page, told["next_cursor"])
