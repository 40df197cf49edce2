"""What requests, searches and turns cost, in counts that no machine and no load changes.

A smaller number is welcome and is entered here; a greater one wants a reason. Statements are those
that a driver is asked to execute, without BEGIN and COMMIT; they include the key's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy import text

from ingest.routes import router as ingest_router
from retrieval.routes import router as retrieval_router
from shared.auth import issue_key
from shared.clock import FixedClock
from shared.http.application import build_app
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from tests.bench.search_asking import KINDS, Asker, Timings
from tests.bench.search_corpus import Namespace, speech
from tests.bench.search_derived import load_derived
from tests.bench.search_load import load_messages
from tests.integration.ledger.world import BLOCK_SIZE, Fate, LedgerWorld
from tests.support.databases import ALL, clone_database, drop_database, new_tenant, settings_for
from tests.support.serving import serving

LOADED = Namespace(0xC0, 600)
EVENTS = 120

STATEMENTS: Mapping[str, int] = {
    "post a turn": 14,
    "post a batch of ten": 122,
    "search messages": 11,
    "search events": 9,
    "search the graph": 15,
    "search blocks": 17,
    "context": 25,
    "expand an event": 8,
    "assess a batch": 17,
    "record a use": 17,
}
"""The most statements of one request."""

ROWS: Mapping[str, int] = {
    "raw": 2_000,
    "events": 150,
    "graph": 80,
    "context": 700,
    "expand": 10,
}
"""The most rows that one request reads of messages and of the search index."""

MODEL_CALLS_A_BLOCK: Mapping[str, int] = {"summarize": 1, "extract": 1, "project": 1}
MODEL_CALLS_A_TURN = 0
"""On the way of a request: a model is only ever called by a job."""


@dataclass(frozen=True, slots=True)
class Served:
    """A loaded namespace, the way to ask it over HTTP and in process."""

    settings: Settings
    database: Database
    client: httpx.Client

    def post(self, path: str, body: Any) -> Any:
        answer = self.client.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def asked() -> Iterator[Served]:
    url = clone_database()
    settings = settings_for(url)
    database = Database(settings)
    with psycopg.connect(url) as owner:
        load_messages(owner, database, LOADED, speech(), tokens=24)
        load_derived(owner, database, LOADED, speech(), EVENTS)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE")
    with database.write(LOADED.tenant_id) as tx:
        key = issue_key(tx, label="counts", permissions=ALL).key
    headers = {"Authorization": f"Bearer {key}"}
    app = build_app(settings, "counts", [ingest_router, retrieval_router])
    with serving(app) as base, httpx.Client(base_url=base, headers=headers, timeout=30) as client:
        yield Served(settings, database, client)
    database.close()
    drop_database(url)


def test_each_main_route_keeps_to_its_statements(asked: Served) -> None:
    routes = _routes(asked)
    assert routes.keys() == STATEMENTS.keys()
    most: dict[str, list[str]] = {}
    for name, send in routes.items():
        send()  # what comes first also learns the key, the namespace and the thread
        with counted() as statements:
            send()
        most[name] = list(statements)
    counts = {name: len(found) for name, found in most.items()}
    over = {name: most[name] for name, count in counts.items() if count > STATEMENTS[name]}
    assert not over, (counts, over)
    assert all(counts.values()), "a request without a statement was not counted"


@pytest.mark.parametrize("kind", KINDS)
def test_each_search_reads_a_bounded_number_of_rows(asked: Served, kind: str) -> None:
    asker = Asker(asked.settings, asked.database, LOADED, speech())
    most: dict[str, int] = {}
    for _ in range(3):
        question = asker.question(kind)
        events = asker.time_ranked(question, Timings())["events"]
        for name, use_case in asker.use_cases(question, events).items():
            with asked.database.write(LOADED.tenant_id) as tx:
                # Tables this small would be read whole, which says nothing of larger ones.
                tx.connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
                before = tx.connection.execute(_ROWS_READ).scalar_one()
                use_case(tx, asker.reader(tx))
                rows = tx.connection.execute(_ROWS_READ).scalar_one() - before
            most[name] = max(most.get(name, 0), rows)
    assert most.keys() == ROWS.keys()
    assert {name: rows for name, rows in most.items() if rows > ROWS[name]} == {}, most


def test_a_block_of_turns_costs_one_model_call_a_step_and_a_turn_itself_none(
    own_settings: Settings, own_database: Database, clock: FixedClock
) -> None:
    queue = QueueDatabase(own_settings)
    tenant = new_tenant(own_settings, own_database)
    world = LedgerWorld(own_settings, own_database, queue, tenant.tenant_id, clock)
    for _ in range(2 * BLOCK_SIZE):
        world.say("main")
    assert _model_calls(world).total() == MODEL_CALLS_A_TURN
    while jobs := world.rows("SELECT job_id FROM jobs WHERE state = 'available'"):
        for job in jobs:
            world.deliver(("", world.tenant_id, job.job_id), Fate.WELL)
    queue.close()
    assert _model_calls(world) == {kind: 2 * n for kind, n in MODEL_CALLS_A_BLOCK.items()}


def _routes(asked: Served) -> dict[str, Callable[[], Any]]:
    home, reads = f"/v1/namespaces/{LOADED.name}", f"/v1/retrieval/{LOADED.name}"
    question = {"query": Asker(asked.settings, asked.database, LOADED, speech()).question("common")}
    numbers = iter(range(1_000))

    def turn() -> dict[str, Any]:
        return {
            "thread_id": "counted",
            "receipt_id": f"counted-{next(numbers)}",
            "messages": [{"role": "user", "content": "The heater of the greenhouse broke."}],
        }

    def assessed() -> tuple[str, list[str]]:
        """Return a batch that may be used, and what of it; each takes one use."""
        found = asked.post(f"{reads}/events/search", question)
        refs = [item["evidence_ref"] for item in found["items"][:2]]
        batch = f"/v1/batches/{found['batch_id']}"
        enough = {"verdict": "sufficient", "next_strategy": "answer", "evidence_refs": refs}
        asked.post(f"{batch}/assessment", enough)
        return batch, refs

    batches = [assessed() for _ in range(3)]
    used = iter(batches)
    batch, refs = batches[-1]
    enough = {"verdict": "sufficient", "next_strategy": "answer", "evidence_refs": refs}
    event_id = refs[0].partition(":")[2]

    def use() -> None:
        batch, refs = next(used)
        body = {"evidence_refs": refs, "receipt_id": f"use-{next(numbers)}"}
        asked.post(f"{batch}/use", body)

    return {
        "post a turn": lambda: asked.post(f"{home}/turns", turn()),
        "post a batch of ten": lambda: asked.post(
            f"{home}/turns/batch", [turn() for _ in range(10)]
        ),
        "search messages": lambda: asked.post(f"{reads}/raw/search", question),
        "search events": lambda: asked.post(f"{reads}/events/search", question),
        "search the graph": lambda: asked.post(f"{reads}/graph/search", question),
        "search blocks": lambda: asked.post(f"{reads}/blocks/search", question),
        "context": lambda: asked.post(f"{reads}/context", question | {"thread_id": "t0"}),
        "expand an event": lambda: asked.post(f"{reads}/events/{event_id}/expand", {}),
        "assess a batch": lambda: asked.post(f"{batch}/assessment", enough),
        "record a use": use,
    }


@contextmanager
def counted() -> Iterator[list[str]]:
    """Count at the driver: some statements go past SQLAlchemy."""
    statements: list[str] = []

    def noting(name: str) -> Callable[..., Any]:
        send = getattr(psycopg.Cursor, name)

        def noted(self: psycopg.Cursor[Any], query: Any, *args: Any, **named: Any) -> Any:
            statements.append(" ".join(str(query).split())[:100])
            return send(self, query, *args, **named)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("execute", "executemany"):
            patch.setattr(psycopg.Cursor, name, noting(name))
        yield statements


def _model_calls(world: LedgerWorld) -> Counter[str]:
    rows = world.rows("SELECT kind, count(*) AS calls FROM model_calls GROUP BY kind")
    return Counter({row.kind: row.calls for row in rows})


_ROWS_READ = text(
    "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint "
    "FROM pg_stat_xact_user_tables WHERE relname = 'messages' OR relname LIKE 'search_%'"
)
