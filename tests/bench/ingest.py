"""Storing turns over HTTP, one at a time and in batches, beside the least that could be done.

Run `python -m tests.bench.ingest [--rounds N] [--json FILE]`. The baselines run in turn with it, in
the same minutes: an INSERT written by hand into a bare table, and a route that does nothing.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.bench.processes import cpu_spent
from tests.bench.search_corpus import speech
from tests.support import servers
from tests.support.stack import RunningSystem
from workers.evaluation.results import write_results

BATCH = 100
TURN, BATCHED = "a turn by HTTP", "a batch by HTTP"
INSERT, INSERTED = "an INSERT by hand", "a batch of INSERTs by hand"
NOOP = "a route that does nothing"
_BARE = (
    "CREATE TABLE bench_bare (tenant_id text, message_id text, content text, at timestamptz, "
    "PRIMARY KEY (tenant_id, message_id))"
)
_STORE = "INSERT INTO bench_bare VALUES (%s, %s, %s, now()), (%s, %s, %s, now())"


@dataclass(slots=True)
class Way:
    """One way to store turns, with what its requests took."""

    name: str
    turns_each: int
    send: Callable[[], None]
    a_round: int
    seconds: list[float] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """Return the way's row of the result."""
        turns = len(self.seconds) * self.turns_each
        return {
            "what": self.name,
            "requests": len(self.seconds),
            "turns_each": self.turns_each,
            "p50_ms": round(1_000 * statistics.median(self.seconds), 3),
            "p95_ms": round(
                1_000 * statistics.quantiles(self.seconds, n=20, method="inclusive")[-1], 3
            ),
            "turns_per_s": round(turns / sum(self.seconds), 1),
            "api_cpu_ms": round(1_000 * self.cpu.get("api", 0.0) / turns, 3),
            "postgres_cpu_ms": round(1_000 * self.cpu.get("postgres", 0.0) / turns, 3),
        }


def measure(system: RunningSystem, *, rounds: int, turns: int, batches: int) -> dict[str, Any]:
    """Let all ways take their turns, `rounds` times, after one round that is not counted."""
    # What is stored would be worked on meanwhile, on the same processors.
    system.kill("worker", "relay", "upkeep")
    tenant = system.new_tenant("ingest")
    with _ways(system, tenant.admin_key, rounds=rounds, turns=turns, batches=batches) as ways:
        for number in range(rounds + 1):
            for way in ways:
                _run(system, way)
                if number == 0:
                    way.seconds, way.cpu = [], {}
    rows = {way.name: way.told() for way in ways}
    return {"rows": list(rows.values()), "ratios": _ratios(rows)}


def _run(system: RunningSystem, way: Way) -> None:
    with cpu_spent(system, way.cpu):
        for _ in range(way.a_round):
            began = time.perf_counter()
            way.send()
            way.seconds.append(time.perf_counter() - began)


@contextmanager
def _ways(
    system: RunningSystem, key: str, *, rounds: int, turns: int, batches: int
) -> Iterator[list[Way]]:
    api = system.client(key)
    home = "/v1/namespaces/bench:ingest/turns"
    spoken = (rounds + 1) * (2 * turns + 2 * BATCH * batches)
    # Made beforehand: making text takes longer than storing it.
    bodies = iter([body for body, _ in zip(_bodies(), range(spoken), strict=False)])

    def post(path: str, body: Any) -> None:
        api.post(path, json=body).raise_for_status()

    def store(cursor: psycopg.Cursor, count: int) -> None:
        rows = [_row(next(bodies)) for _ in range(count)]
        cursor.executemany(_STORE, rows) if count > 1 else cursor.execute(_STORE, rows[0])
        cursor.connection.commit()

    with psycopg.connect(system.settings.database_url.get_secret_value()) as connection:
        cursor = connection.cursor()
        cursor.execute(_BARE)
        connection.commit()
        yield [
            Way(NOOP, 1, lambda: _ask(api), turns),
            Way(INSERT, 1, lambda: store(cursor, 1), turns),
            Way(TURN, 1, lambda: post(home, next(bodies)), turns),
            Way(INSERTED, BATCH, lambda: store(cursor, BATCH), batches),
            Way(
                BATCHED,
                BATCH,
                lambda: post(f"{home}/batch", [next(bodies) for _ in range(BATCH)]),
                batches,
            ),
        ]


def _ask(api: httpx.Client) -> None:
    api.get("/health/live").raise_for_status()


def _bodies() -> Iterator[dict[str, Any]]:
    chance = random.Random(11)  # noqa: S311 - repeatable speech
    number = 0
    while True:
        number += 1
        words = [speech().message(chance, chinese=False)[0] for _ in range(2)]
        yield {
            "thread_id": "main",
            "receipt_id": f"bench-{number}",
            "messages": [
                {"role": "user", "content": words[0]},
                {"role": "assistant", "content": words[1]},
            ],
        }


def _row(body: dict[str, Any]) -> tuple[str, ...]:
    asked, answered = (message["content"] for message in body["messages"])
    name = body["receipt_id"]
    return ("ten_bench", f"{name}-0", asked, "ten_bench", f"{name}-1", answered)


def _ratios(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    def p50(name: str) -> float:
        return float(rows[name]["p50_ms"]) / int(rows[name]["turns_each"])

    def cpu(name: str) -> float:
        return float(rows[name]["api_cpu_ms"]) + float(rows[name]["postgres_cpu_ms"])

    ratios = {
        "a turn, by an INSERT (p50)": p50(TURN) / p50(INSERT),
        "a turn, by an INSERT and a no-op route (p50)": p50(TURN) / (p50(INSERT) + p50(NOOP)),
        "a turn of a batch, by one of the INSERTs' (p50)": p50(BATCHED) / p50(INSERTED),
        "a turn of a batch, by a turn alone (p50)": p50(BATCHED) / p50(TURN),
        "API's CPU of a turn, by a no-op route's": rows[TURN]["api_cpu_ms"]
        / rows[NOOP]["api_cpu_ms"],
        "Postgres' CPU of a turn, by an INSERT's": rows[TURN]["postgres_cpu_ms"]
        / rows[INSERT]["postgres_cpu_ms"],
        "CPU of a turn of a batch, by a turn alone": cpu(BATCHED) / cpu(TURN),
    }
    return {name: round(value, 2) for name, value in ratios.items()}


def main() -> int:
    """Measure, print, and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=50, help="of a round, one at a time")
    parser.add_argument("--batches", type=int, default=2, help=f"of a round, {BATCH} turns each")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = {"rounds": given.rounds, "turns": given.turns, "batches": given.batches}
    servers.begin_run()
    try:
        with RunningSystem() as system:
            result = measure(system, **sizes)
            [version] = system.sql("SELECT current_setting('server_version') AS is")
            [fsync] = system.sql("SELECT current_setting('fsync') AS is")
    finally:
        servers.end_run()
    for row in result["rows"]:
        sys.stdout.write(f"{row}\n")
    sys.stdout.writelines(f"{name}: {value}\n" for name, value in result["ratios"].items())
    if given.json:
        configuration = sizes | {"batch": BATCH, "fsync": fsync["is"]}
        write_results(
            given.json,
            "ingest",
            result,
            configuration=configuration,
            postgres=version["is"],
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
