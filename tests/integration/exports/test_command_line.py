from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shared.cli import command_line
from tests.integration.erasure.eraser import Eraser

NAMESPACE = "project:again"


@pytest.fixture
def working(memory: Eraser) -> Iterator[Eraser]:
    """The memory with somebody who runs its jobs."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.05):
            memory.run()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield memory
    stop.set()
    thread.join(60)


def run(memory: Eraser, *arguments: str) -> dict[str, Any]:
    """Run a command against the memory's server and return what it prints as JSON."""
    app = command_line()
    key = memory.client.headers["authorization"].removeprefix("Bearer ")
    access = ["--api-url", str(memory.client.base_url), "--api-key", key, "--json"]
    result = CliRunner().invoke(app, [*arguments, *access])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
    return told


def test_a_namespace_is_exported_restored_and_erased_by_command(
    working: Eraser, tmp_path: Path
) -> None:
    file = tmp_path / "bundle.ndjson.gz"
    exported = run(working, "export", NAMESPACE, "--to", str(file))
    assert file.stat().st_size == exported["size_bytes"]
    restored = run(working, "restore", f"{NAMESPACE}-copy", str(file))
    assert restored["counts"]["turn"] == 8
    plan = run(working, "erase", f"{NAMESPACE}-copy", "--thread", "main")
    assert (plan["dry_run"], plan["counts"]["turns"]) == (True, 8)
    certificate = run(working, "erase", f"{NAMESPACE}-copy", "--all", "--for-good")
    assert certificate["counts"]["turns"] == 8
    assert working.client.get(f"/v1/namespaces/{NAMESPACE}-copy").status_code == 404
