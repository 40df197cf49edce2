"""Search in a database of millions: times beside the least work, size, and what writing costs.

`python -m tests.bench.search_scale --messages 1000000 --namespaces 1000 --json FILE` loads a
server of its own, in a folder that `--keep` leaves for another run with `--reuse`.
"""

from __future__ import annotations

import argparse
import random
import secrets
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psycopg

from deploy.local.postgres import start_postgres
from shared.settings import Settings
from shared.store.database import Database
from shared.store.migrate import migrate
from shared.store.namespaces import ensure_namespace
from shared.store.search_index import SearchDocument, index_documents
from shared.store.search_keys import DocumentKind
from tests.bench.search_asking import KINDS, Asker
from tests.bench.search_corpus import START, Namespace, namespaces_of, speech
from tests.bench.search_derived import load_derived
from tests.bench.search_load import load_messages
from tests.support.databases import settings_for
from workers.evaluation.results import write_results

MIDDLE, SMALL = 2_500, 160
_WRITTEN = 6_000
_TURN, _BATCH = 2, 200


def load(
    settings: Settings, url: str, namespaces: Sequence[Namespace], events: int, *, processes: int
) -> float:
    """Load all namespaces, their events by their share of the messages; return the seconds."""
    started = time.perf_counter()
    total = sum(one.messages for one in namespaces)
    shared_out = [(one, round(events * one.messages / total)) for one in namespaces]
    given = (settings.model_dump(), url)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        # The largest namespaces first, so that no process is left with one of them at the end.
        done = [pool.submit(_load_one, *given, one, share) for one, share in shared_out]
        for loaded in done:
            loaded.result()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("VACUUM (ANALYZE)")
    return time.perf_counter() - started


def _load_one(settings: dict[str, Any], url: str, namespace: Namespace, events: int) -> None:
    database = Database(Settings.model_validate(settings))
    with psycopg.connect(url) as owner:
        load_messages(owner, database, namespace, speech())
        load_derived(owner, database, namespace, speech(), events)
    database.close()


def sizes(url: str) -> dict[str, int]:
    """Return the bytes of each search table with its indexes."""
    with psycopg.connect(url) as owner:
        rows = owner.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND (relname LIKE 'search_%' OR relname IN ('messages', 'events'))"
        ).fetchall()
    return dict(rows)


def version_and_events(url: str) -> tuple[str, int]:
    """Return the server's version and how many events it holds."""
    with psycopg.connect(url) as owner:
        row = owner.execute(
            "SELECT current_setting('server_version'), count(*) FROM events"
        ).fetchone()
    version, events = row or ("", 0)
    return version, events


def inserts_per_second(database: Database, namespace: Namespace, *, at_once: int) -> float:
    """Return how many messages a second one writer indexes, `at_once` in each transaction.

    They go to a new namespace of the tenant, so that what is searched stays as it was loaded.
    """
    name = f"project:written-{secrets.token_hex(4)}"
    with database.write(namespace.tenant_id) as tx:
        ensure_namespace(tx, name)
    chance = random.Random(at_once)  # noqa: S311 - repeatable
    documents = [
        SearchDocument(
            f"new_{at_once}_{n}", "t0", START, speech().message(chance, chinese=False)[1]
        )
        for n in range(_WRITTEN)
    ]
    started = time.perf_counter()
    for start in range(0, len(documents), at_once):
        with database.write(namespace.tenant_id) as tx:
            index_documents(
                tx,
                name,
                DocumentKind.MESSAGE,
                documents[start : start + at_once],
                are_new=True,
            )
    return round(len(documents) / (time.perf_counter() - started))


def measure(
    settings: Settings, namespaces: Sequence[Namespace], *, requests: int
) -> dict[str, Any]:
    """Ask the largest namespace, a middle and a small one; then write beside the middle one."""
    database = Database(settings)
    chosen = {
        "large": namespaces[0],
        "middle": _nearest(namespaces, MIDDLE),
        "small": _nearest(namespaces, SMALL),
    }
    if chinese := [one for one in namespaces if one.is_chinese]:
        chosen["middle, Chinese"] = _nearest(chinese, MIDDLE)
    answers: dict[str, Any] = {}
    for name, namespace in chosen.items():
        asker = Asker(settings, database, namespace, speech())
        answers[name] = {"messages": namespace.messages} | {
            kind: asker.time_all(kind, requests=requests, warm_up=12).percentiles()
            for kind in KINDS
        }
    written = {
        "a turn at a time": inserts_per_second(database, chosen["middle"], at_once=_TURN),
        f"{_BATCH} at a time": inserts_per_second(database, chosen["middle"], at_once=_BATCH),
    }
    database.close()
    return {"searches": answers, "inserts_per_s": written}


def report(result: dict[str, Any]) -> str:
    """Return the result as a table, ratios beside times."""
    lines = ["namespace | question | search | ranked p50/p95 | least p50/p95 | ratio p95 | whole"]
    for name, answers in result["searches"].items():
        for kind in KINDS:
            told = answers[kind]
            lines += [
                f"{name} {answers['messages']} | {kind} | {what} | {_pair(told, f'{what} ranked')}"
                f" | {_pair(told, f'{what} least')} | {_ratio(told, what)}"
                f" | {_pair(told, f'{what} whole')}"
                for what in ("raw", "events", "graph")
            ]
            lines.append(
                f"{name} {answers['messages']} | {kind} | context {_pair(told, 'context whole')}, "
                f"expand {_pair(told, 'expand whole')}"
            )
    lines.append(f"inserts a second: {result['inserts_per_s']}")
    lines += [f"{name}: {size / 2**20:.0f} MiB" for name, size in result["bytes"].items()]
    return "\n".join(lines)


def main() -> None:
    """Load, measure, print, and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--namespaces", type=int, default=100)
    parser.add_argument("--events", type=int, default=None, help="default: a tenth of the messages")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2, help="that load")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/stratagate-search-scale"))  # noqa: S108 - large
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--load-only", action="store_true", help="with --keep: do not measure")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    namespaces = namespaces_of(asked.messages, asked.namespaces)
    server = start_postgres(asked.folder, for_tests=True)
    try:
        settings = settings_for(server.url, statement_timeout_ms=60_000)
        result: dict[str, Any] = {"messages": asked.messages, "namespaces": asked.namespaces}
        migrate(settings)  # also a folder that an older schema left
        if not asked.reuse:
            events = asked.messages // 10 if asked.events is None else asked.events
            result["load_s"] = load(
                settings, server.url, namespaces, events, processes=asked.processes
            )
        version, result["events"] = version_and_events(server.url)
        result["bytes"] = sizes(server.url)
        if asked.load_only:
            return
        result |= measure(settings, namespaces, requests=asked.requests)
    finally:
        server.stop() if asked.keep or asked.reuse else server.discard()
    if not (asked.keep or asked.reuse):
        shutil.rmtree(asked.folder, ignore_errors=True)
    print(report(result))  # noqa: T201 - a command's answer
    if asked.json:
        configuration = {"messages": asked.messages, "namespaces": asked.namespaces}
        write_results(
            asked.json,
            "search-scale",
            result,
            configuration=configuration | {"requests": asked.requests},
            postgres=version,
        )


def _nearest(namespaces: Sequence[Namespace], size: int) -> Namespace:
    return min(namespaces, key=lambda one: abs(one.messages - size))


def _pair(told: dict[str, dict[str, float]], name: str) -> str:
    found = told.get(name)
    return "-" if found is None else f"{found['p50']:.1f}/{found['p95']:.1f}"


def _ratio(told: dict[str, dict[str, float]], what: str) -> str:
    return f"{told[f'{what} ranked']['p95'] / told[f'{what} least']['p95']:.1f}"


if __name__ == "__main__":
    main()
