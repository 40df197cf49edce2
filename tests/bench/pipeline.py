"""Throughput of the pipeline against Celery's own, on the same worker, broker and machine.

Run `python -m tests.bench.pipeline [--blocks N] [--json FILE]`. A zero-latency model answers, so
what is measured is StrataGate: ledger, steps and storage. Ratios are what counts: they hold on a
busy machine as well, for baseline and pipeline are measured in the same minute.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import psycopg
import redis
from psycopg.rows import dict_row
from sqlalchemy import text

from ingest.schemas.turns import TurnIn
from ingest.turns import commit_turn, prepare_turn
from shared.clock import SystemClock
from shared.store.namespaces import ensure_namespace, save_policy
from tests.bench.pipeline_way import PARTS, ways_of_blocks
from tests.bench.pipeline_worker import ANSWERS, ECHO, NOOP
from tests.support.stack import RunningSystem
from tests.support.waiting import wait_until
from workers.app import EXCHANGE
from workers.evaluation.results import write_results

QUEUE = "upkeep"
NAMESPACES = 4
JOBS_A_BLOCK = 3
_HOLD = text("UPDATE jobs SET scheduled_at = now() + interval '1 h' WHERE state = 'available'")
ENOUGH, GOAL, QUICK_ENOUGH = 0.20, 0.40, 4.0
REST_S = 0.2


class BenchSystem(RunningSystem):
    """A running system whose worker has the benchmark's model and tasks; default pauses."""

    _asking: psycopg.Connection[dict[str, Any]] | None = None

    def _prepare(self) -> None:
        super()._prepare()
        worker = self.children["worker"]
        command = [
            "tests.bench.pipeline_worker" if w == "workers.app" else w for w in worker.spec.command
        ]
        command[command.index("INFO")] = "WARNING"
        worker.spec = replace(
            worker.spec, command=tuple(command), ready_marker="", is_ready=self._worker_consumes
        )

    def _worker_consumes(self) -> bool:
        return bool(self.valkey().smembers("_kombu.binding.stratagate"))

    def valkey(self) -> redis.Redis:
        return redis.Redis.from_url(self.broker.url)

    def sql(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Ask on one connection that stays open: each new one would cost as much as a job."""
        return self._connection().execute(query.encode(), values).fetchall()

    def analyze(self) -> None:
        """Tell Postgres how large its tables are, as its own upkeep does within a minute."""
        self._connection().execute("ANALYZE")

    def _connection(self) -> psycopg.Connection[dict[str, Any]]:
        if self._asking is None:
            url = self.settings.database_url.get_secret_value()
            self._asking = psycopg.connect(url, autocommit=True, row_factory=dict_row)
            self._ended.callback(self._asking.close)
        return self._asking


@dataclass(frozen=True, slots=True)
class Load:
    """How much is run."""

    blocks: int
    turns: int
    noops: int
    trips: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=120)
    parser.add_argument("--turns", type=int, default=12, help="turns of a block")
    parser.add_argument("--noops", type=int, default=2_000)
    parser.add_argument("--trips", type=int, default=40, help="round trips, one at a time")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    load = Load(given.blocks, given.turns, given.noops, given.trips)
    settings = {
        "STRATAGATE_LEASE_S": "30",
        "STRATAGATE_RING_AGAIN_AFTER_S": "30",
        "STRATAGATE_RELAY_POLL_MIN_MS": "50",
        "STRATAGATE_RELAY_POLL_MAX_MS": "1000",
        "STRATAGATE_IN_FLIGHT_PER_TENANT": "1000",
        "STRATAGATE_LOG_LEVEL": "WARNING",
        "STRATAGATE_UPKEEP_INTERVAL_S": "5",
    }
    with BenchSystem(settings=settings, concurrency=given.concurrency) as system:
        result = measure(system, load)
        [postgres] = system.sql(
            "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync"
        )
    sys.stdout.write(report(result))
    if given.json:
        configuration = {**asdict(load), "concurrency": given.concurrency}
        write_results(
            given.json,
            "pipeline",
            result,
            configuration=configuration | {"fsync": postgres["fsync"]},
            postgres=postgres["version"],
        )
    return 0


def measure(system: BenchSystem, load: Load) -> dict[str, Any]:
    """Run baseline, pipeline and baseline again; the baselines' mean is the measure."""
    tenant_id = system.new_tenant("bench").tenant_id
    say(system, tenant_id, "warm", blocks=4, turns=load.turns)
    wait_until(lambda: live(system) == 0 and done(system) == 4 * JOBS_A_BLOCK, "warm", within_s=60)
    system.analyze()
    _tell("warm; baseline")
    with _cpu_times(system) as idle:
        before = noop_rate(system, load.noops)
    _tell(f"{before:.0f} no-ops a second; pipeline")
    pipeline = pipeline_rate(system, tenant_id, load)
    _tell(f"{pipeline}; baseline again")
    after = noop_rate(system, load.noops)
    _tell(f"{after:.0f} no-ops a second; one at a time")
    in_a_row = round_trips(system, load.trips)
    trips = round_trips(system, load.trips, rest_s=REST_S)
    latencies = sealed_to_ready(system, tenant_id, load)
    trips += round_trips(system, load.trips, rest_s=REST_S)
    noops = statistics.mean((before, after))
    trip, trip_in_a_row = statistics.median(trips), statistics.median(in_a_row)
    p50 = statistics.median(latencies["from_ring_ms"])
    committed = statistics.median(latencies["to_commit_ms"])
    return {
        "noop_per_s": round(noops, 1),
        "noop_runs_per_s": [round(before, 1), round(after, 1)],
        "jobs_per_s": round(pipeline["jobs_per_s"], 1),
        "ratio": round(pipeline["jobs_per_s"] / noops, 3),
        "cpu_ms_per_job": pipeline["cpu_ms_per_job"],
        "cpu_ms_per_noop": (cpu_noop := _per_unit(idle, load.noops)),
        "cpu_ratio": round(_whole(cpu_noop) / _whole(pipeline["cpu_ms_per_job"]), 3),
        "noop_round_trip_ms": round(trip, 2),
        "noop_round_trip_in_a_row_ms": round(trip_in_a_row, 2),
        "sealed_to_ready_p50_ms": round(statistics.median(latencies["whole_ms"]), 1),
        "poll_p50_ms": round(statistics.median(latencies["poll_ms"]), 1),
        "ring_to_ready_p50_ms": round(p50, 1),
        "ring_to_commit_p50_ms": round(committed, 1),
        "ready_ratio": round(p50 / trip, 2),
        "ready_ratio_to_commit": round(committed / trip, 2),
        "ready_ratio_in_a_row": round(p50 / trip_in_a_row, 2),
        "way_p50_ms": {name: round(statistics.median(latencies[name]), 2) for name, _ in PARTS},
        "blocks": load.blocks,
        "turns_a_block": load.turns,
    }


def _tell(what: str) -> None:
    sys.stderr.write(f"{what}\n")


def say(
    system: RunningSystem,
    tenant_id: str,
    name: str,
    *,
    blocks: int,
    turns: int,
    is_held: bool = False,
) -> None:
    """Store turns that seal into blocks, spread over namespaces, each turn with a fact.

    With `is_held` their jobs wait until they are let go, together.
    """
    settings = system.settings.model_copy(update={"block_turn_size": turns})
    for number in range(blocks):
        namespace = f"bench:{name}-{number % NAMESPACES}"
        with system.database.write(tenant_id) as tx:
            ensure_namespace(tx, namespace)
            save_policy(tx, namespace, {"block_turn_size": turns})
            for turn in range(turns):
                words = f"Part{number}x{turn} lies on shelf {number} in aisle {turn} of the hall."
                body = TurnIn.model_validate(
                    {
                        "thread_id": "main",
                        "receipt_id": f"{name}-{number}-{turn}",
                        "messages": [
                            {"role": "user", "content": words},
                            {"role": "assistant", "content": f"Noted: shelf {number}."},
                        ],
                    }
                )
                prepared = prepare_turn(body, SystemClock().now())
                commit_turn(tx, namespace, prepared, settings=settings)
            if is_held:
                tx.connection.execute(_HOLD)


def noop_rate(system: BenchSystem, number: int) -> float:
    """Return how many tasks that do nothing the worker runs a second, from a full queue."""
    app = _publisher(system)
    with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
        for index in range(number):
            _send(app, NOOP, str(index), producer)
            if index == 0:
                began = time.perf_counter()
    return number / (_drained(system) - began)


def _drained(system: BenchSystem) -> float:
    valkey = system.valkey()

    def is_empty() -> float:
        waiting = valkey.llen(QUEUE) + valkey.hlen("unacked")
        return 0.0 if waiting else time.perf_counter()

    return wait_until(is_empty, "every task is done", within_s=120, poll_s=0.005)


def round_trips(system: BenchSystem, number: int, *, rest_s: float = 0.0) -> list[float]:
    """Return the milliseconds from publishing a task to hearing from it, one at a time.

    With `rest_s` each comes to a system at rest, as the blocks do that are compared with it.
    """
    app, valkey, trips = _publisher(system), system.valkey(), []
    with app.connection_for_write() as connection, app.amqp.Producer(connection) as producer:
        for index in range(number + 2):
            time.sleep(rest_s)
            began = time.perf_counter()
            _send(app, ECHO, str(index), producer)
            assert valkey.blpop([ANSWERS], timeout=10) is not None
            trips.append(1_000 * (time.perf_counter() - began))
    return trips[2:]


def pipeline_rate(system: BenchSystem, tenant_id: str, load: Load) -> dict[str, Any]:
    """Return jobs a second from a full ledger, and the CPU time of a job by process."""
    say(system, tenant_id, "load", blocks=load.blocks, turns=load.turns, is_held=True)
    system.analyze()
    ended = done(system)
    jobs = load.blocks * JOBS_A_BLOCK
    with _cpu_times(system) as spent:
        system.sql("UPDATE jobs SET scheduled_at = now() WHERE scheduled_at > now() RETURNING 1")
        wait_until(
            lambda: done(system) - ended == jobs, "every block is done", within_s=300, poll_s=0.05
        )
    [row] = system.sql(
        "SELECT extract(epoch FROM max(finalized_at) - min(started_at))::float AS s FROM jobs "
        "WHERE namespace LIKE 'bench:load-%%'"
    )
    return {
        "jobs_per_s": jobs / row["s"],
        "cpu_ms_per_job": _per_unit(spent, jobs),
    }


def sealed_to_ready(system: BenchSystem, tenant_id: str, load: Load) -> dict[str, list[float]]:
    """Return the milliseconds from seal to ready of blocks that come one at a time."""
    sealed: dict[str, float] = {}
    for index in range(load.trips):
        say(system, tenant_id, f"single-{index}", blocks=1, turns=load.turns)
        # What a row says is when its transaction began: the twelve turns are stored in one.
        [now] = system.sql("SELECT extract(epoch FROM clock_timestamp())::float AS at")
        sealed[f"bench:single-{index}-0"] = now["at"]
        # Looking costs as much as a part of the way: it is not done while a block is under way.
        wait_until(lambda: live(system) == 0, "the block is done", within_s=30, poll_s=REST_S)
    return ways_of_blocks(system, sealed)


def _per_unit(spent: dict[str, float], units: int) -> dict[str, float]:
    return {name: round(1_000 * seconds / units, 2) for name, seconds in spent.items()}


def _whole(cpu_ms: dict[str, float]) -> float:
    return sum(cpu_ms.values())


def live(system: RunningSystem) -> int:
    return int(
        system.sql(
            "SELECT count(*) AS n FROM jobs WHERE state IN ('available', 'retryable', 'running')"
        )[0]["n"]
    )


def done(system: RunningSystem) -> int:
    return int(system.sql("SELECT count(*) AS n FROM jobs WHERE state = 'succeeded'")[0]["n"])


@contextmanager
def _cpu_times(system: BenchSystem) -> Any:
    """Yield a mapping that at the end holds the CPU seconds of each part of the system."""
    spent: dict[str, float] = {}
    parts: dict[str, Callable[[], list[psutil.Process]]] = {
        "worker_children": lambda: _pid(system, "worker").children(),
        "worker_parent": lambda: [_pid(system, "worker")],
        "relay": lambda: [_pid(system, "relay")],
        "broker": lambda: [psutil.Process(system.broker.pid())],
        "postgres": lambda: _backends(system),
    }
    before = {name: _seconds(find()) for name, find in parts.items()}
    yield spent
    spent.update({name: _seconds(find()) - before[name] for name, find in parts.items()})


def _seconds(processes: list[psutil.Process]) -> float:
    times = (process.cpu_times() for process in processes)
    return sum(one.user + one.system for one in times)


def _pid(system: BenchSystem, name: str) -> psutil.Process:
    process = system.children[name]._process
    assert process is not None
    return psutil.Process(process.pid)


def _backends(system: BenchSystem) -> list[psutil.Process]:
    rows = system.sql("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
    return [psutil.Process(row["pid"]) for row in rows if psutil.pid_exists(row["pid"])]


def _publisher(system: BenchSystem) -> Any:
    from celery import Celery  # noqa: PLC0415 - beside its one use

    return Celery(broker=system.broker.url)


def _send(app: Any, name: str, job_id: str, producer: Any) -> None:
    app.send_task(
        name,
        args=("ten_bench", job_id),
        producer=producer,
        exchange=EXCHANGE,
        routing_key=QUEUE,
        ignore_result=True,
    )


def report(result: dict[str, Any]) -> str:
    """Return the figures as lines."""
    cpu, idle = (
        ", ".join(f"{name} {ms:g} ms" for name, ms in result[of].items())
        for of in ("cpu_ms_per_job", "cpu_ms_per_noop")
    )
    way = ", ".join(f"{name} {ms:g} ms" for name, ms in result["way_p50_ms"].items())
    verdict = "reaches" if result["ratio"] >= ENOUGH else "misses"
    ready = "within" if result["ready_ratio"] <= QUICK_ENOUGH else "beyond"
    return (
        f"no-op tasks           {result['noop_per_s']:g} /s\n"
        f"pipeline jobs         {result['jobs_per_s']:g} /s\n"
        f"ratio                 {result['ratio']:g} ({verdict} {ENOUGH:g}; the goal is {GOAL:g})\n"
        f"CPU time a job        {cpu}\n"
        f"CPU time a no-op      {idle}\n"
        f"ratio of CPU times    {result['cpu_ratio']:g}\n"
        f"no-op round trip      {result['noop_round_trip_ms']:g} ms (median, after a rest), "
        f"in a row {result['noop_round_trip_in_a_row_ms']:g} ms\n"
        f"sealed to ready p50   {result['sealed_to_ready_p50_ms']:g} ms, of it waiting for the "
        f"relay's poll {result['poll_p50_ms']:g} ms\n"
        f"rung to ready p50     {result['ring_to_ready_p50_ms']:g} ms: "
        f"{result['ready_ratio']:g} round trips ({ready} {QUICK_ENOUGH:g}), "
        f"{result['ready_ratio_in_a_row']:g} of those in a row\n"
        f"until its commit       {result['ring_to_commit_p50_ms']:g} ms: "
        f"{result['ready_ratio_to_commit']:g} round trips\n"
        f"of it                 {way}\n"
    )


if __name__ == "__main__":
    raise SystemExit(main())
