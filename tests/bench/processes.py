"""The processes of a running system, by name: the CPU time they took, the memory they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped] # publishes no types

from tests.support.stack import RunningSystem

_KIB_A_MIB = 1024


def processes_of(system: RunningSystem) -> dict[str, list[psutil.Process]]:
    """Return what runs now: each service, the worker's pool apart, broker, Postgres whole."""
    found: dict[str, list[psutil.Process]] = {}
    for name, child in system.children.items():
        mark = child.mark()
        if mark is None:
            continue
        process = psutil.Process(mark.pid)
        under = process.children(recursive=True)
        if name == "worker":
            found |= {"worker, parent": [process], "worker, pool": under}
        else:
            found[name] = [process, *under]
    found["broker"] = [psutil.Process(system.broker.pid())]
    found["postgres"] = _postgres(system)
    return found


@contextmanager
def cpu_spent(system: RunningSystem, spent: dict[str, float]) -> Iterator[None]:
    """Add the CPU seconds, user and system, that each part takes meanwhile to `spent`."""
    before = {name: _seconds(of) for name, of in processes_of(system).items()}
    yield
    for name, of in processes_of(system).items():
        spent[name] = spent.get(name, 0.0) + _seconds(of) - before.get(name, 0.0)


def memory_of(system: RunningSystem) -> dict[str, Mapping[str, float]]:
    """Return each part's processes, `rss_mib` and `pss_mib`; needs Linux, which tells PSS."""
    found: dict[str, Mapping[str, float]] = {}
    for name, of in processes_of(system).items():
        rolled = [_rollup(process.pid) for process in of]
        found[name] = {
            "count": len(of),
            "rss_mib": round(sum(one["Rss"] for one in rolled) / _KIB_A_MIB, 1),
            "pss_mib": round(sum(one["Pss"] for one in rolled) / _KIB_A_MIB, 1),
        }
    return found


def _postgres(system: RunningSystem) -> list[psutil.Process]:
    [row] = system.sql("SELECT pg_backend_pid() AS pid, min(pid) AS other FROM pg_stat_activity")
    server = psutil.Process(row["other"]).parent()
    assert server is not None
    # The backend that was just asked ends with its connection.
    return [server, *(one for one in server.children() if one.pid != row["pid"])]


def _seconds(processes: list[psutil.Process]) -> float:
    seconds = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
            exact = _scheduled(process.pid) if process.num_threads() == 1 else None
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system if exact is None else exact
    return seconds


def _scheduled(pid: int) -> float | None:
    """Return a single thread's CPU seconds to the nanosecond; ticks are too coarse for an INSERT.

    None where the system does not tell.
    """
    try:
        told = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(told.split()[0]) / 1e9


def _rollup(pid: int) -> dict[str, int]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {"Rss": 0, "Pss": 0}
    sizes = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines[1:])}
    return {name: int(sizes[name][0]) for name in ("Rss", "Pss")}
