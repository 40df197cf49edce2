"""What a page is given: the API, the namespace and thread chosen, and its own address.

`page.read("events")` is the path below /v1/retrieval/{ns}, `page.write("turns")` below
/v1/namespaces/{ns}; `page.url(cursor=…)` is this page again with another query, `page.url_of(slug)`
another page of the same namespace and thread; `page.reload(saying=…)` after something was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from nicegui import ui

from retrieval.console.api_client import ApiClient
from retrieval.console.navigation import PageEntry, page_url


@dataclass(frozen=True, slots=True)
class PageContext:
    """One page being built for one browser.

    `namespace` is None only when the key reaches none; `thread` is None until one is chosen (or
    the namespace has one at all). `query` is the rest of the address, first values only.
    """

    entry: PageEntry
    api: ApiClient = field(repr=False)
    namespace: str | None
    thread: str | None
    threads: tuple[Mapping[str, object], ...]
    query: Mapping[str, str]
    notes: list[str] = field(default_factory=list)

    def reload(self, *, saying: str) -> None:
        """Build this page anew, which then says what was done."""
        self.notes.append(saying)
        ui.navigate.reload()

    def read(self, suffix: str) -> str:
        """Return a path of the read side in the chosen namespace."""
        return f"/v1/retrieval/{quote(self.namespace or '', safe='')}/{suffix}".rstrip("/")

    def write(self, suffix: str = "") -> str:
        """Return a path of the write side in the chosen namespace."""
        return f"/v1/namespaces/{quote(self.namespace or '', safe='')}/{suffix}".rstrip("/")

    def url(self, **changes: str | None) -> str:
        """Return this page's address with these query values changed; None removes one."""
        now = {"namespace": self.namespace, "thread": self.query.get("thread"), **self.query}
        return page_url(self.entry.slug, {**now, **changes})

    def url_of(self, slug: str, **query: str | None) -> str:
        """Return another page's address for the same namespace and thread."""
        kept = {"namespace": self.namespace, "thread": self.query.get("thread")}
        return page_url(slug, {**kept, **query})
