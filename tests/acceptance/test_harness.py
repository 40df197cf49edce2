"""The harness keeps its own promise: nothing of a system outlives its test."""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped] # publishes no types

from deploy.local.valkey import start_valkey
from tests.support.reaper import MARK
from tests.support.servers import short_folder
from tests.support.stack import ROOT
from tests.support.waiting import wait_until

SLEEP_WITH_A_CHILD = """
import os, time
os.fork()
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    return bool(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)


def test_what_a_killed_test_leaves_behind_is_killed_with_its_children_and_its_broker() -> None:
    mark = secrets.token_hex(8)
    with short_folder() as folder:
        broker = start_valkey(folder / "valkey")
        started = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", SLEEP_WITH_A_CHILD],
            env={**os.environ, MARK: mark},
            start_new_session=True,
        )
        wait_until(lambda: psutil.Process(started.pid).children(), "it has a child")
        family = [started.pid, *(c.pid for c in psutil.Process(started.pid).children())]
        broker_pid = broker.pid()
        assert broker_pid is not None

        found = reaped(mark, folder / "valkey")

        started.wait(timeout=10)
        assert {int(line.split()[0]) for line in found} == {*family, broker_pid}
        wait_until(lambda: not any(map(is_alive, [*family, broker_pid])), "all are gone")


def reaped(mark: str, broker_folder: Path) -> list[str]:
    """Let a reaper find the end of its standard input, as when the test's process is gone."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "tests.support.reaper", mark, str(broker_folder)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()
