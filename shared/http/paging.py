"""Pages of a list: `?limit=&cursor=` in, `{"items", "next_cursor"}` out; keyset, never OFFSET."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query

from shared.errors import InvalidInput

Item = TypeVar("Item")
_LARGEST = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of a list is asked for: at most `limit` items after the key `after`."""

    limit: int
    after: str | None

    @property
    def probe(self) -> int:
        """One more than the limit: whether it comes tells whether there is a next page."""
        return self.limit + 1

    def answer(
        self, found: Sequence[Item], *, key: Callable[[Item], str], view: Callable[[Item], Any]
    ) -> dict[str, Any]:
        """Return the page of at most `probe` found items; `key` gives where an item stands."""
        shown = found[: self.limit]
        more = len(found) > self.limit
        cursor = encode_cursor(key(shown[-1])) if more else None
        return {"items": [view(item) for item in shown], "next_cursor": cursor}


def page(
    limit: Annotated[int, Query(ge=1, le=_LARGEST, description="Items of a page.")] = 50,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
) -> Page:
    """Read a request's page."""
    return Page(limit, None if cursor is None else decode_cursor(cursor))


PageOf = Annotated[Page, Depends(page)]


def encode_cursor(key: str) -> str:
    """Return an opaque cursor that stands for the key of a page's last item."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """Return the key a cursor stands for; InvalidInput (`invalid_cursor`) when it is none."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        key = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (UnicodeError, binascii.Error) as error:
        raise _invalid_cursor() from error
    if not key or "\x00" in key:
        raise _invalid_cursor()
    return key


def _invalid_cursor() -> InvalidInput:
    return InvalidInput.at(
        "/query/cursor", "give the next_cursor of the page before", "invalid_cursor"
    )
