from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.programs import Reader
from tests.support.stack import RunningSystem


@pytest.fixture
def running(session_system: RunningSystem) -> RunningSystem:
    """A system for the pages; each reader has a tenant of its own."""
    return session_system


@pytest.fixture
def reader(running: RunningSystem, tmp_path: Path) -> Iterator[Reader]:
    """Somebody in the folder of a fresh clone, after `python3 -m deploy up --detach`."""
    keys = tmp_path / ".stratagate" / "keys"
    keys.mkdir(parents=True)
    (keys / "api.key").write_text(running.new_tenant("reader").admin_key + "\n", encoding="utf-8")
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    (binaries / "python").chmod(0o755)
    somebody = Reader(tmp_path, dict(running.environment))
    yield somebody
    somebody.leave()
