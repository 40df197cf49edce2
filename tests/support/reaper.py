"""Kill what is left of a running system once the test that started it is gone, however it went.

Run as a process beside the test: its standard input ends when the test ends it or dies, and then
every process that bears the system's mark, and its broker, is killed. What had to be killed is
printed, one a line, so that an orderly end can prove that nothing was left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped] # publishes no types

from deploy.local.valkey import find_valkey

MARK = "STRATAGATE_TEST_SYSTEM"


def marked(mark: str) -> Iterator[psutil.Process]:
    """Yield the processes that were started with this mark in their environment."""
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            if process.environ().get(MARK) == mark:
                yield process


def reap(mark: str, broker_folder: Path) -> list[str]:
    """Kill the marked processes and the broker of this folder; return what was found alive."""
    found = []
    for process in marked(mark):
        with suppress(psutil.NoSuchProcess):
            found.append(f"{process.pid} {process.cmdline()}")
            process.kill()
    broker = find_valkey(broker_folder)
    if broker is not None:
        found.append(f"{broker.pid()} broker on {broker.port}")
        broker.kill()
    return found


if __name__ == "__main__":
    sys.stdin.read()
    sys.stdout.write("\n".join(reap(sys.argv[1], Path(sys.argv[2]))))
