"""Scripts for the scripted model: files that a test rewrites while the workers run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workers.models.port import TaskKind


class ModelScript:
    """What the model of a running system does; it follows the rules until told otherwise.

    The file is read at every call and replaced as a whole, so that no call sees half of it.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "script.json"
        self.follow_rules()

    def follow_rules(self) -> None:
        """Answer every call by the rules model."""
        self._write({"default": "rules"})

    def fail_for_good(self, *kinds: TaskKind) -> None:
        """Fail every call of these kinds, without kinds every call, until told otherwise."""
        failing = {"fault": "transient"}
        if kinds:
            self._write({"default": "rules", **{kind.value: failing for kind in kinds}})
        else:
            self._write({"default": failing})

    def hang(self, kind: TaskKind, *, seconds: float = 600.0) -> None:
        """Let calls of one kind hang, others follow the rules."""
        self._write({"default": "rules", kind.value: {"fault": "hang_s", "seconds": seconds}})

    def _write(self, script: dict[str, Any]) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(script), encoding="utf-8")
        fresh.replace(self.path)
