"""The workers' application under a clock that jumps: `celery -A deploy.chaos.skewed_worker`.

For that command alone: whoever imports this changes the clocks of the whole process.
"""

from __future__ import annotations

from deploy.chaos.jumping_clock import jump_clocks
from workers.app import app

__all__ = ["app"]

jump_clocks()
