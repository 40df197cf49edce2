"""A clock that jumps, for one worker of a broken stack: the jump is read from a file.

Leases and schedules use the database's clock, so nothing of them may depend on this one.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shared.clock import SystemClock

CLOCK_VARIABLE = "STRATAGATE_CHAOS_CLOCK"
"""Names the file that holds the jump in seconds, read at every look at the clock."""


def jump_clocks() -> None:
    """Let every clock of this process jump; called before any process of it forks."""
    SystemClock.now = _jumping_now  # type: ignore[method-assign] # the one seam that all share


def _jumping_now(self: SystemClock) -> datetime:
    jump_s = float(Path(os.environ[CLOCK_VARIABLE]).read_text(encoding="ascii"))
    return datetime.now(UTC) + timedelta(seconds=jump_s)
