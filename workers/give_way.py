"""Batch work gives way: a worker that serves the backfill alone asks for what others leave."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

_NICENESS: Final = 15
"""Of 19: with 0, a processor that both want is shared about 30 to 1."""


def give_way(queues: Collection[str]) -> None:
    """Lower this process's priority, and that of its children, if it serves only `backfill`.

    A worker that also serves live queues keeps its priority: it cannot be raised again.
    """
    if set(queues) == {"backfill"}:
        os.nice(_NICENESS)
