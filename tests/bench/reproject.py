"""Re-projection of many events: resumed after a kill, with its diff, beside live work.

Run `python -m tests.bench.reproject [--events N] [--runs N] [--json FILE]`. A zero-latency model
answers, so what is measured is StrataGate. The ratios hold on a busy machine as well: with and
without the backfill are measured in turn, in the same minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from ingest.routes import router as ingest_router
from ingest.schemas.turns import TurnIn
from ingest.turns import commit_turn, prepare_turn
from retrieval.routes import router as retrieval_router
from shared.clock import SystemClock
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from shared.store.job_queue import rescue_expired
from shared.store.jobs import count_by_state
from tests.bench.reproject_worker import bench_settings
from tests.support import servers
from tests.support.databases import clone_database, drop_database, new_tenant
from workers.evaluation.results import write_results

NAMESPACE = "project:bench"
HOME = f"/v1/namespaces/{NAMESPACE}"
TURNS = 12
LIVE = "summarize,extract,project"
# Without a common factor, so that no statement is said twice in a hundred thousand.
PEOPLE, PLACES = 400, 901
SEARCH_LIMIT, READY_LIMIT = 1.5, 2.0


@dataclass
class Bench:
    """One namespace on one database, its API and the ways to work on it."""

    url: str
    settings: Settings
    database: Database
    queue: QueueDatabase
    tenant_id: str
    client: httpx.Client
    said: int = 0

    def say(self, turns: int) -> None:
        """Commit turns; each block of them seals itself."""
        clock = SystemClock()
        for start in range(0, turns, 120):
            with self.database.write(self.tenant_id) as tx:
                for _ in range(min(120, turns - start)):
                    self.said += 1
                    words = f"Person{self.said % PEOPLE} lives in Town{self.said % PLACES}"
                    body = TurnIn.model_validate(
                        {
                            "thread_id": "main",
                            "receipt_id": f"r{self.said}",
                            "messages": [{"role": "user", "content": words}],
                        }
                    )
                    turn = prepare_turn(body, clock.now())
                    commit_turn(tx, NAMESPACE, turn, settings=self.settings)

    def live_jobs(self) -> int:
        """Return how many jobs are not over."""
        with self.database.read(self.tenant_id) as tx:
            counts = count_by_state(tx)
        return sum(n for (_, s), n in counts.items() if s in ("available", "running", "retryable"))

    @contextmanager
    def worker(self, queues: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run one worker process, with one job at a time."""
        command = [sys.executable, "-m", "tests.bench.reproject_worker"]
        command += [self.url, self.tenant_id, queues]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ)  # noqa: S603 - our own module
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def settle(self, *, within_s: float) -> None:
        """Wait until no job is left; expired leases are freed as the upkeep frees them."""
        end = time.monotonic() + within_s
        while self.live_jobs():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.live_jobs()} job(s) left after {within_s:.0f} s")
            with self.queue.transaction() as tx:
                rescue_expired(tx)
            time.sleep(0.1)

    def version(self, version_id: str) -> dict[str, Any]:
        """Read a version."""
        found: dict[str, Any] = self.client.get(f"{HOME}/graph-versions/{version_id}").json()
        return found

    def reproject(self) -> dict[str, Any]:
        """Begin a version, or join it."""
        answer = self.client.post(f"{HOME}/reprocess", json={"stages": ["project"]})
        answer.raise_for_status()
        begun: dict[str, Any] = answer.json()
        return begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--searches", type=int, default=60, help="of a run, with and without")
    parser.add_argument("--blocks", type=int, default=10, help="sealed in a run, with and without")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    servers.begin_run()
    try:
        with _bench() as bench:
            result = measure(bench, given)
    finally:
        servers.end_run()
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    if given.json:
        configuration = {
            name: getattr(given, name) for name in ("events", "runs", "searches", "blocks")
        }
        write_results(given.json, "reprojection", result, configuration=configuration)
    return 0


def measure(bench: Bench, given: argparse.Namespace) -> dict[str, Any]:
    """Fill the namespace, build and resume, then measure live work with and without a build."""
    began = time.monotonic()
    bench.say(-(-given.events // TURNS) * TURNS)
    with bench.worker(LIVE), bench.worker(LIVE):
        bench.settle(within_s=3_600)
    _tell(f"{given.events} events in {time.monotonic() - began:.0f} s")
    resumed = build_with_a_kill(bench)
    _tell(json.dumps(resumed))
    ratios = [one_run(bench, given) for _ in range(given.runs)]
    medians = {name: round(statistics.median(run[name] for run in ratios), 3) for name in ratios[0]}
    return {
        "events": given.events,
        "runs": given.runs,
        **resumed,
        **medians,
        "search_ok": medians["search_ratio"] <= SEARCH_LIMIT,
        "ready_ok": medians["ready_ratio"] <= READY_LIMIT,
    }


def build_with_a_kill(bench: Bench) -> dict[str, Any]:
    """Kill the worker in the middle of a build, resume, compare, switch, and switch back."""
    version_id = bench.reproject()["graph_version_id"]
    before = bench.client.get(f"{HOME}/graph-versions").json()["items"][-1]["graph_version_id"]
    began = time.monotonic()
    with bench.worker("backfill") as process:
        total = bench.version(version_id)["progress"]["total"]
        while bench.version(version_id)["progress"]["done"] < total // 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    at_kill = bench.version(version_id)["progress"]
    joined = bench.reproject()
    with bench.worker("backfill"):
        bench.settle(within_s=3_600)
    built_s = time.monotonic() - began
    progress = bench.version(version_id)["progress"]
    diff_s, diff = _timed(lambda: bench.client.get(f"{HOME}/graph-versions/{version_id}/diff"))
    switch_s, _ = _timed(lambda: bench.client.post(f"{HOME}/graph-versions/{version_id}/switch"))
    back_s, _ = _timed(lambda: bench.client.post(f"{HOME}/graph-versions/{before}/switch"))
    bench.client.post(f"{HOME}/graph-versions/{version_id}/drop").raise_for_status()
    return {
        "blocks": total,
        "held_at_kill": at_kill["done"],
        "joined": joined["joined"],
        "enqueued_again": joined["jobs"],
        "held_at_end": progress["done"],
        "build_s": round(built_s, 1),
        "diff": {
            kind: {name: diff[kind][name] for name in ("added", "changed", "gone", "same")}
            for kind in ("events", "nodes", "facts", "edges")
        },
        "diff_s": round(diff_s, 2),
        "switch_s": round(switch_s, 2),
        "switch_back_s": round(back_s, 2),
    }


def one_run(bench: Bench, given: argparse.Namespace) -> dict[str, float]:
    """Measure live search and sealed-to-ready, first alone, then beside a build."""
    with bench.worker(LIVE):
        # A worker's first job pays for its start, which no measure is to hold.
        _sealed_to_ready(bench)
        searches, readies = _live(bench, given)
        version_id = bench.reproject()["graph_version_id"]
        with bench.worker("backfill"):
            while not bench.version(version_id)["progress"]["done"]:
                time.sleep(0.05)
            beside_searches, beside_readies = _live(bench, given)
            was_busy = bench.version(version_id)["progress"]["waiting"] > 0
    bench.client.post(f"{HOME}/graph-versions/{version_id}/drop").raise_for_status()
    with bench.worker(LIVE):
        bench.settle(within_s=600)
    found = {
        "search_p95_ms": _p95(searches) * 1_000,
        "search_p95_beside_ms": _p95(beside_searches) * 1_000,
        "search_ratio": _p95(beside_searches) / _p95(searches),
        "ready_p95_ms": _p95(readies) * 1_000,
        "ready_p95_beside_ms": _p95(beside_readies) * 1_000,
        "ready_ratio": _p95(beside_readies) / _p95(readies),
        "build_outlasted_the_run": float(was_busy),
    }
    _tell(json.dumps({name: round(value, 3) for name, value in found.items()}))
    return found


def _live(bench: Bench, given: argparse.Namespace) -> tuple[list[float], list[float]]:
    searches: list[float] = []
    readies: list[float] = []
    a_block = max(1, given.searches // given.blocks)
    for number in range(given.blocks):
        readies.append(_sealed_to_ready(bench))
        for turn in range(a_block):
            name = f"Person{(number * 37 + turn * 11) % PEOPLE}"
            path = "graph" if turn % 2 else "events"
            began = time.monotonic()
            bench.client.post(
                f"/v1/retrieval/{NAMESPACE}/{path}/search", json={"query": f"{name} lives in"}
            ).raise_for_status()
            searches.append(time.monotonic() - began)
    return searches, readies


def _sealed_to_ready(bench: Bench) -> float:
    before = bench.client.get(HOME).json()["counts"]["blocks"]["ready"]
    bench.say(TURNS)
    began = time.monotonic()
    while bench.client.get(HOME).json()["counts"]["blocks"]["ready"] <= before:
        if time.monotonic() - began > 120:
            failed = bench.client.get("/v1/jobs", params={"state": "dead"}).json()["items"]
            told = [one["errors"][-1:] for one in failed]
            raise TimeoutError(f"the block did not become ready; dead jobs: {told}")
        time.sleep(0.01)
    return time.monotonic() - began


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def _timed(ask: Callable[[], httpx.Response]) -> tuple[float, dict[str, Any]]:
    began = time.monotonic()
    answer = ask()
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return time.monotonic() - began, found


@contextmanager
def _bench() -> Iterator[Bench]:
    url = clone_database()
    settings = bench_settings(url)
    database, queue = Database(settings), QueueDatabase(settings)
    tenant = new_tenant(settings, database)
    app = build_app(settings, "bench", [ingest_router, retrieval_router])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    base = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        with httpx.Client(base_url=base, headers=tenant.headers, timeout=120) as client:
            yield Bench(url, settings, database, queue, tenant.tenant_id, client)
    finally:
        server.should_exit = True
        thread.join(10)
        queue.close()
        database.close()
        drop_database(url)


def _tell(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
