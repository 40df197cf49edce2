"""What the models of the stack do, told by the scripted model's file, anew at every call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deploy.chaos.plan import FaultKind

_THINKS_S = 0.1
"""Long enough to be met in the middle of a call, short enough for thousands of them."""

_HANGS_S = 4.0
_STEADY = {"fault": "hang_s", "seconds": _THINKS_S}
_FAULTS: dict[FaultKind, dict[str, Any]] = {
    FaultKind.MODEL_TRANSIENT: {"fault": "transient"},
    FaultKind.MODEL_TIMEOUT: {"fault": "timeout"},
    FaultKind.MODEL_RATE_LIMITED: {"fault": "rate_limited", "retry_after_s": 0.5},
    FaultKind.MODEL_REFUSED: {"fault": "refused"},
    FaultKind.MODEL_PERMANENT: {"fault": "permanent"},
    FaultKind.MODEL_MALFORMED: {"fault": "malformed"},
    FaultKind.MODEL_TRUNCATED: {"fault": "truncated"},
    FaultKind.MODEL_INTERNAL: {"fault": "internal"},
    FaultKind.MODEL_HANG: {"fault": "hang_s", "seconds": _HANGS_S},
}


class ModelScript:
    """The file of the scripted model; replaced as a whole, so that no call sees half of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.be_well()

    def be_well(self) -> None:
        """Let every call think for a moment and then follow the rules."""
        self._write(_STEADY)

    def play(self, kind: FaultKind) -> None:
        """Let every call that begins from now on fail in this way."""
        self._write(_FAULTS[kind])

    def _write(self, entry: dict[str, Any]) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"default": entry}), encoding="utf-8")
        fresh.replace(self.path)
