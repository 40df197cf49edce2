"""What each process of a running stack holds in memory, idle and after a load. Linux only.

Run `python -m tests.bench.memory [--turns N] [--searches N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.bench.processes import memory_of
from tests.support import servers
from tests.support.stack import RunningSystem
from tests.support.waiting import wait_until
from workers.evaluation.curves_generated import generated
from workers.evaluation.results import write_results

NAMESPACE = "bench:memory"
CONCURRENCY = 2
_BATCH = 100
_SETTLE_S = 3.0
_READY_WITHIN_S = 1_800.0


def measure(system: RunningSystem, *, turns: int, searches: int) -> dict[str, Any]:
    """Read the memory, load, search, read it again."""
    time.sleep(_SETTLE_S)
    idle = memory_of(system)
    client = system.client(system.new_tenant("memory").admin_key)
    client.timeout = httpx.Timeout(120)
    load(client, turns=turns)
    wait_until(lambda: _is_done(system), "every job is done", within_s=_READY_WITHIN_S, poll_s=0.5)
    search(client, searches=searches)
    loaded = memory_of(system)
    return {
        "processes": [
            {
                "process": name,
                "count": int(loaded.get(name, part)["count"]),
                **_named("idle", part),
                **_named("loaded", loaded.get(name, part)),
            }
            for name, part in idle.items()
        ]
    }


def load(client: httpx.Client, *, turns: int) -> None:
    """Post a generated conversation in batches."""
    bodies = [dict(turn.body) for turn in generated(turns).turns]
    for start in range(0, turns, _BATCH):
        path = f"/v1/namespaces/{NAMESPACE}/turns/batch"
        client.post(path, json=bodies[start : start + _BATCH]).raise_for_status()


def search(client: httpx.Client, *, searches: int) -> None:
    """Ask each way to look into memory, in turn."""
    home = f"/v1/retrieval/{NAMESPACE}"
    questions = generated(max(1, searches)).questions
    paths = ("raw/search", "events/search", "graph/search", "blocks/search")
    for number in range(searches):
        path, question = paths[number % len(paths)], questions[number].text
        client.post(f"{home}/{path}", json={"query": question}).raise_for_status()
        body = {"thread_id": "main", "query": question}
        client.post(f"{home}/context", json=body).raise_for_status()


def _is_done(system: RunningSystem) -> bool:
    [row] = system.sql(
        "SELECT count(*) AS n FROM jobs WHERE state IN ('available', 'retryable', 'running')"
    )
    return not row["n"]


def _named(when: str, part: Mapping[str, float]) -> dict[str, float]:
    return {f"{when}_{name}": part[name] for name in ("rss_mib", "pss_mib")}


def main() -> int:
    """Measure, print, and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=240)
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = {"turns": given.turns, "searches": given.searches}
    if not Path("/proc/self/smaps_rollup").exists():
        sys.stderr.write("memory is read from /proc/PID/smaps_rollup: run this on Linux\n")
        return 1
    servers.begin_run()
    try:
        with RunningSystem(concurrency=CONCURRENCY, with_console=True) as system:
            result = measure(system, **sizes)
            [version] = system.sql("SELECT current_setting('server_version') AS is")
            [buffers] = system.sql("SELECT current_setting('shared_buffers') AS is")
    finally:
        servers.end_run()
    for row in result["processes"]:
        sys.stdout.write(f"{row}\n")
    if given.json:
        configuration = sizes | {"concurrency": CONCURRENCY, "shared_buffers": buffers["is"]}
        write_results(
            given.json, "memory", result, configuration=configuration, postgres=version["is"]
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
