"""Keep a reply within a number of tokens: whole items from the end are left out, and it says so.

The counter is `shared.domain.budget.estimate_tokens` over the JSON that is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson

from shared.domain.budget import estimate_tokens

Item = TypeVar("Item")


def fitting_items(
    items: Sequence[Item], reply_with: Callable[[list[Item], bool], Any], max_tokens: int | None
) -> tuple[list[Item], bool]:
    """Return the longest head of `items` whose whole reply fits, and whether any was left out.

    `reply_with(items, truncated)` builds the reply as it would be sent.
    """
    kept = list(items)
    if max_tokens is None:
        return kept, False
    while kept:
        reply = reply_with(kept, len(kept) < len(items))
        if reply_tokens(reply) <= max_tokens:
            break
        kept.pop()
    return kept, len(kept) < len(items)


def reply_tokens(reply: Any) -> int:
    """Return the estimated tokens of a reply as it is sent."""
    return estimate_tokens(orjson.dumps(reply).decode())
