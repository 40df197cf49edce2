"""End what a killed instance left running: its processes by their marks, then its servers."""

from __future__ import annotations

from deploy.local.instance import InstanceFolder
from deploy.local.postgres import find_postgres
from deploy.local.processes import end_leftover
from deploy.local.valkey import find_valkey

_STOP_ORDER = ("console", "api", "ingest", "retrieval", "relay", "upkeep", "worker", "flower")


def end_leftover_processes(folder: InstanceFolder) -> list[str]:
    """End the processes that the last run recorded; return the names of those that still ran."""
    state = folder.read()
    marks = {} if state is None else state.processes
    known = [name for name in _STOP_ORDER if name in marks]
    return [name for name in known if end_leftover(marks[name])]


def stop_leftover_servers(folder: InstanceFolder) -> list[str]:
    """Stop the embedded servers of the folder if they run; return their names."""
    stopped = []
    broker = find_valkey(folder.valkey)
    if broker is not None:
        broker.stop()
        stopped.append("valkey")
    database = find_postgres(folder.postgres)
    if database is not None:
        database.stop()
        stopped.append("postgres")
    return stopped
