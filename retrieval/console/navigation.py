"""The pages of the console in the order of the navigation, and how their addresses are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page: its address `/<slug>`, its name, its icon and what it answers."""

    slug: str
    title: str
    icon: str
    question: str


PAGES: tuple[PageEntry, ...] = (
    PageEntry("overview", "Overview", "o_space_dashboard", "Is memory keeping up?"),
    PageEntry("short-term", "Short-term", "o_layers", "What does a conversation carry with it?"),
    PageEntry("timeline", "Timeline", "o_timeline", "What happened, and who said so?"),
    PageEntry("graph", "Graph", "o_hub", "Who and what is known, and since when?"),
    PageEntry("ask", "Ask", "o_search", "What would an agent find?"),
    PageEntry("usage-audit", "Usage audit", "o_fact_check", "Why did it say that?"),
    PageEntry("import", "Import", "o_move_to_inbox", "Bring memory from another assistant."),
    PageEntry("settings", "Settings", "o_tune", "How does this namespace remember?"),
)


def page_url(slug: str, query: Mapping[str, str | None]) -> str:
    """Return the address of a page; values that are None or empty are left out."""
    given = {name: value for name, value in query.items() if value}
    return f"/{slug}?{urlencode(given)}" if given else f"/{slug}"
