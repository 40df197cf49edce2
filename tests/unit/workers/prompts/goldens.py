"""Golden renderings of the prompts: one file each, with its version and estimated tokens.

Write them with `python -m tests.unit.workers.prompts.goldens` after a prompt and its VERSION have
changed; a rendering that changed under the same VERSION is refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shared.domain.budget import estimate_tokens
from tests.unit.workers.prompts.materials import RENDERINGS
from workers.models.port import Prompt

FOLDER = Path(__file__).parent / "golden"


def golden_of(prompt: Prompt) -> str:
    """Return a rendering as its golden file has it."""
    sizes = [estimate_tokens(text) for text in (prompt.system, prompt.user)]
    head = f"version: {prompt.version}\nestimated tokens: {sizes[0]} system, {sizes[1]} user"
    return f"{head}\n--- system\n{prompt.system}\n--- user\n{prompt.user}\n"


def fault_of(golden: str | None, prompt: Prompt) -> str | None:
    """Return what is wrong between a golden file and today's rendering, or None."""
    today = golden_of(prompt)
    if golden == today:
        return None
    if golden is None:
        return "there is no golden file yet"
    if golden.splitlines()[0] == today.splitlines()[0]:
        return f"the rendering changed, but VERSION is still {prompt.version}: raise it"
    return "VERSION was raised: write the golden files anew"


def path_of(name: str) -> Path:
    """Return where a golden stands."""
    return FOLDER / f"{name}.txt"


def read(name: str) -> str | None:
    """Return a golden file's text, or None when there is none."""
    path = path_of(name)
    return path.read_text(encoding="utf-8") if path.exists() else None


def main() -> int:
    """Write the golden files that may be written; 1 when one may not."""
    refused = 0
    for name, render in RENDERINGS.items():
        prompt = render()
        fault = fault_of(read(name), prompt)
        if fault and "raise it" in fault:
            sys.stderr.write(f"{name}: {fault}\n")
            refused = 1
        elif fault:
            path_of(name).write_text(golden_of(prompt), encoding="utf-8")
    return refused


if __name__ == "__main__":
    sys.exit(main())
