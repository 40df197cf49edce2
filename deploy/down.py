"""`down`: stop the stack of a data folder, however it was started; nothing is deleted."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from deploy.local.faults import LocalFault
from deploy.local.instance import InstanceFolder, acquire
from deploy.local.leftovers import end_leftover_processes, stop_leftover_servers

_LIMIT_S = 90.0


def run_down(data: Path) -> int:
    """Stop what runs on this data folder; 0 also when nothing did."""
    folder = InstanceFolder(data.resolve())
    try:
        stopped = stop_instance(folder)
    except LocalFault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    if stopped:
        print(f"Stopped {', '.join(stopped)}. The data stays in {folder.root}.")
    else:
        print(f"Nothing is running on {folder.root}.")
    return 0


def stop_instance(folder: InstanceFolder) -> list[str]:
    """Stop the instance, or what a killed one left; return the names of what was stopped."""
    if not folder.root.is_dir():
        return []
    if folder.is_running():
        return _ask_supervisor(folder)
    lock = acquire(folder)
    try:
        return [*end_leftover_processes(folder), *stop_leftover_servers(folder)]
    finally:
        lock.release()


def _ask_supervisor(folder: InstanceFolder) -> list[str]:
    state = folder.read()
    if state is None:
        raise LocalFault(f"{folder.lock_file} is held by a process that has written no state.")
    if state.supervisor_pid == os.getpid():
        raise LocalFault("This process runs the stack itself.")
    os.kill(state.supervisor_pid, signal.SIGTERM)
    deadline = time.monotonic() + _LIMIT_S
    while folder.is_running():
        if time.monotonic() > deadline:
            raise LocalFault(
                f"Process {state.supervisor_pid} still runs after {_LIMIT_S:g} s; "
                f"see {folder.logs}."
            )
        time.sleep(0.1)
    return ["the stack"]
