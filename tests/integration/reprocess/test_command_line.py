"""`stratagate reprocess` and `reproject`: begin or join, watch, compare, switch."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from ingest import reprocess_cli
from shared.cli import command_line
from tests.integration.reprocess.memory import NAMESPACE, Memory

app = command_line()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reprocess_cli, "_POLL_S", 0.02)


def _access(memory: Memory) -> list[str]:
    key = memory.client.headers["Authorization"].removeprefix("Bearer ")
    return ["--api-url", str(memory.client.base_url), "--api-key", key]


@contextmanager
def _working(memory: Memory) -> Iterator[None]:
    """Run due jobs in another thread, as a worker does."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            memory.run()
            stop.wait(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def test_reproject_shows_the_difference_and_switches(memory: Memory) -> None:
    memory.key = "address"
    with _working(memory):
        done = CliRunner().invoke(app, ["reproject", NAMESPACE, "--switch", *_access(memory)])
    assert done.exit_code == 0, done.output
    assert "address" in done.output
    assert "live now" in done.output
    assert "Ben: address: Rome" in memory.homes()


def test_a_call_that_only_began_is_joined_by_the_next(memory: Memory) -> None:
    command = ["reprocess", NAMESPACE, "--stage", "extract", "--json", *_access(memory)]
    first = json.loads(CliRunner().invoke(app, [*command, "--no-wait"]).output)[0]
    with _working(memory):
        second = CliRunner().invoke(app, command)
    told = json.loads(second.stdout)[0]
    assert (first["joined"], told["joined"]) == (False, True)
    assert told["graph_version_id"] == first["graph_version_id"]
    assert told["progress"] == {"total": 4, "done": 4, "waiting": 0, "failed": 0}
    assert told["diff"]["events"]["same"] == 8


def test_failed_blocks_end_with_exit_code_one_and_are_not_switched_to(memory: Memory) -> None:
    memory.failing = "Cleo"
    live = memory.live_id()
    with _working(memory):
        done = CliRunner().invoke(app, ["reproject", "--all", "--switch", *_access(memory)])
    assert done.exit_code == 1
    assert memory.live_id() == live


def test_neither_a_namespace_nor_all_is_refused(memory: Memory) -> None:
    assert CliRunner().invoke(app, ["reproject", *_access(memory)]).exit_code == 2
