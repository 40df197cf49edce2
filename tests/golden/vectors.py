"""The golden files beside this module, read once a process."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILES = tuple(sorted(path.stem for path in HERE.glob("*.json")))


@cache
def load(file: str) -> dict[str, Any]:
    """Return the whole content of one golden file; not to be changed by the reader."""
    content: dict[str, Any] = json.loads((HERE / f"{file}.json").read_text(encoding="utf-8"))
    return content


def cases(file: str) -> list[dict[str, Any]]:
    """Return the cases of one golden file: {name, input, output}."""
    found: list[dict[str, Any]] = load(file)["cases"]
    return found
