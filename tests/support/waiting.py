"""Wait for something to come about: the one place of the tests that sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
POLL_S = 0.05


def wait_until(
    check: Callable[[], T], what: str, *, within_s: float = 30.0, poll_s: float = POLL_S
) -> T:
    """Return the first truthy result of `check`, asked every `poll_s` seconds.

    Raises AssertionError, saying `what` did not happen and what was seen last, after `within_s`.
    """
    deadline = time.monotonic() + within_s
    while True:
        seen = check()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s:g} s: {what}; last seen: {seen!r}")
        time.sleep(poll_s)
