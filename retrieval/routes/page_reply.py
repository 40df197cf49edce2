"""A page of a list as it is sent: the items, and the cursor of the next page or null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from shared.http.paging import Page, encode_cursor

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PageReply(Generic[Item]):
    """One page."""

    items: list[Item]
    next_cursor: str | None

    @staticmethod
    def of(page: Page, found: Sequence[Item], *, key: Callable[[Item], str]) -> PageReply[Item]:
        """Return the page of at most `page.probe` found items; `key` gives where one stands."""
        shown = list(found[: page.limit])
        more = len(found) > page.limit
        return PageReply(shown, encode_cursor(key(shown[-1])) if more else None)
