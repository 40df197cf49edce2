"""`docs/walk.md` is true: every name in its table can be imported."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

WALK = Path(__file__).resolve().parents[2] / "docs" / "walk.md"
NAMES = sorted(
    set(re.findall(r"`((?:ingest|workers|retrieval|shared)\.[a-z_.]+)`", WALK.read_text()))
)


def test_the_walk_has_ten_steps() -> None:
    rows = re.findall(r"^\| (\d+) \|", WALK.read_text(), flags=re.MULTILINE)
    assert rows == [str(n) for n in range(1, 11)]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_in_the_walk_exists(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name


def test_every_step_of_the_workers_is_in_the_walk() -> None:
    steps = {path.stem for path in (WALK.parents[1] / "workers" / "steps").glob("[a-z]*.py")}
    assert {f"workers.steps.{step}" for step in steps} <= set(NAMES)
