"""The published prompts: one file each, named with its version; a changed text is a new version."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "prompts"
ANSWER: Final = "answer.v1"
LOOP: Final = "loop.v1"
JUDGES: Final = {"strict": "judge_strict.v1", "lenient": "judge_lenient.v1"}


@cache
def prompt(name: str) -> str:
    """Return the words of a prompt, without the line end at the end."""
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def prompt_versions() -> dict[str, str]:
    """Return each prompt's name with the first 12 digits of its SHA-256."""
    names = (ANSWER, LOOP, *JUDGES.values())
    return {name: hashlib.sha256(prompt(name).encode()).hexdigest()[:12] for name in names}
