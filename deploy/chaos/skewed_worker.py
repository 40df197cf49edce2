"""The workers' application under a clock that jumps: `celery -A deploy.chaos.skewed_worker`.

The jump, in seconds, is read from the file named by STRATAGATE_CHAOS_CLOCK at every look at the
clock. Leases and schedules use the database's clock, so nothing of them may depend on it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shared.clock import SystemClock
from workers.app import app

__all__ = ["app"]

CLOCK_VARIABLE = "STRATAGATE_CHAOS_CLOCK"


def _jumping_now(self: SystemClock) -> datetime:
    jump_s = float(Path(os.environ[CLOCK_VARIABLE]).read_text(encoding="ascii"))
    return datetime.now(UTC) + timedelta(seconds=jump_s)


SystemClock.now = _jumping_now  # type: ignore[method-assign] # before any process of it forks
