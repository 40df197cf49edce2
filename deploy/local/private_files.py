"""Small files that only their owner may read: passwords, keys and the state of an instance."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_OWNER_ONLY = 0o600


def write_private(path: Path, text: str) -> None:
    """Replace the file in one step, readable by its owner alone and never half-written."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), _OWNER_ONLY)
        stream.write(text)
    Path(temporary).replace(path)


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a JSON object as a private file."""
    write_private(path, json.dumps(state, indent=2, sort_keys=True) + "\n")


def read_state(path: Path) -> dict[str, Any] | None:
    """Read what write_state wrote; None when there is none or it is not a JSON object."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return state if isinstance(state, dict) else None
