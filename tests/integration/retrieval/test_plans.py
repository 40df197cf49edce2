"""Every search is answered from indexes: row level security on, the app's role, default planner.

The statements are those that the use cases send; each is explained as it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from retrieval.block_search import search_blocks
from retrieval.expand import expand_event
from retrieval.raw import search_raw
from retrieval.reader import Reader
from retrieval.schemas import BlockSearch, EventSearch, RawSearch, Span
from retrieval.search import search_events
from shared.settings import Settings
from shared.store.database import Database, WriteTx
from tests.bench.search_asking import Asker, Timings
from tests.bench.search_corpus import Namespace, speech
from tests.bench.search_derived import load_derived
from tests.bench.search_load import clone_tenant, load_messages
from tests.integration.retrieval.rows_read import rows_read
from tests.support.databases import clone_database, drop_database, settings_for

# Short documents: what is proved is which rows are read, not how long it takes.
TOKENS = 8
LARGE, SMALL = Namespace(0, 20_000), Namespace(9, 300)
EVENTS = 6_000
TENANTS = 4
LARGE_TABLE = 10_000
# Several times the 600 candidates of a search, and far less than a namespace.
MOST_READ = 2_500
# A search reads its namespace, the ranked documents and what waits, at the least.
LEAST_STATEMENTS = 4
# The wall of undone imports names the tenant too, of imports.
_OF_THE_WALL = re.compile(r"tenant_id = (?!\(hashed)")

Ask = Callable[[WriteTx, Reader], Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A database of 10⁵ search documents, and its settings."""

    settings: Settings
    database: Database
    url: str


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    url = clone_database()
    settings = settings_for(url)
    database = Database(settings)
    with psycopg.connect(url) as owner:
        for one, events in ((LARGE, EVENTS), (SMALL, 30)):
            load_messages(owner, database, one, speech(), tokens=TOKENS)
            load_derived(owner, database, one, speech(), events)
        for number in range(1, TENANTS):
            clone_tenant(owner, LARGE.tenant_id, f"ten_{number:032x}")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE")
    yield Loaded(settings, database, url)
    database.close()
    drop_database(url)


@pytest.fixture
def asker(loaded: Loaded, request: pytest.FixtureRequest) -> Asker:
    namespace: Namespace = getattr(request, "param", LARGE)
    return Asker(loaded.settings, loaded.database, namespace, speech())


def questions(asker: Asker) -> dict[str, Ask]:
    """Return every kind of search, with words from the speech, with and without filters."""
    mixed, common = asker.question("mixed"), asker.question("common")
    event_ids = asker.time_ranked(mixed, Timings())["events"]
    week = Span.model_validate({"from": "2025-01-06T00:00:00Z", "to": "2025-01-12T00:00:00Z"})
    asked: dict[str, Ask] = dict(asker.use_cases(mixed, event_ids))
    asked |= {f"{name}, common": ask for name, ask in asker.use_cases(common, event_ids).items()}
    return asked | {
        "raw, session": lambda tx, r: search_raw(tx, r, RawSearch(query=mixed, scope="session")),
        "blocks": lambda tx, r: search_blocks(tx, r, BlockSearch(query=mixed)),
        "events, filtered": lambda tx, r: search_events(
            tx, r, EventSearch(query=common, mentioned=week, statuses=["active"])
        ),
        "events, last week": lambda tx, r: search_events(
            tx, r, EventSearch(query=f"{mixed} last week", query_time="2025-01-15T09:00:00Z")
        ),
        "expand": lambda tx, r: expand_event(tx, r, event_ids[0]),
    }


def explained(asker: Asker, asks: dict[str, Ask]) -> dict[str, list[Any]]:
    """Run each search, and explain with execution every statement that read something.

    Statements are noted at the driver: most are sent past SQLAlchemy.
    """
    sent: list[tuple[str, Any]] = []
    execute = psycopg.Cursor.execute

    def noted(self: psycopg.Cursor[Any], query: Any, values: Any = None, **named: Any) -> Any:
        sent.append((str(query), values))
        return execute(self, query, values, **named)

    plans: dict[str, list[Any]] = {}
    for name, ask in asks.items():
        sent.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(psycopg.Cursor, "execute", noted)
            asker.ask(ask)
        reads = [one for one in sent if one[0].lstrip().startswith(("SELECT", "WITH"))]
        assert len(reads) >= LEAST_STATEMENTS, name
        with asker.database.read(asker.namespace.tenant_id) as tx:
            plans[name] = [
                tx.connection.exec_driver_sql(
                    f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", values
                ).scalar_one()[0]["Plan"]
                for statement, values in reads
                if "INSERT INTO" not in statement
            ]
    return plans


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes_of(child)


def table_sizes(url: str) -> dict[str, int]:
    with psycopg.connect(url) as owner:
        rows = owner.execute(
            "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'"
        ).fetchall()
    return {name: int(size) for name, size in rows}


def offences(plan: dict[str, Any], large: Sequence[str]) -> list[str]:
    """Return what of a plan reads a large table whole, or rows that the tenant's wall removes."""
    found = []
    for node in nodes_of(plan):
        where = node.get("Relation Name", "")
        if node["Node Type"] == "Seq Scan" and where in large and node["Actual Loops"]:
            found.append(f"sequential scan of {where}")
        condition = node.get("Filter", "")
        if (
            _OF_THE_WALL.search(condition)
            and node.get("Rows Removed by Filter", 0)
            and where in large
        ):
            found.append(f"{node['Rows Removed by Filter']} rows of {where} removed: {condition}")
    return found


@pytest.mark.parametrize("asker", [LARGE, SMALL], indirect=True, ids=["20000", "300"])
def test_no_search_reads_a_large_table_whole_or_another_tenants_rows(
    loaded: Loaded, asker: Asker
) -> None:
    sizes = table_sizes(loaded.url)
    large = [name for name, size in sizes.items() if size > LARGE_TABLE]
    assert {"messages", "search_documents", "search_postings", "events"} <= set(large)
    assert sizes["search_documents"] >= 100_000
    plans = explained(asker, questions(asker))
    found = {
        (name, offence)
        for name, told in plans.items()
        for one in told
        for offence in offences(one, large)
    }
    assert found == set()


def test_the_worst_question_reads_a_bounded_number_of_postings(asker: Asker) -> None:
    asks = {"raw": asker.use_cases(asker.question("common"), [])["raw"]}
    plans = explained(asker, asks)
    read = [
        node["Actual Rows"] * node["Actual Loops"]
        for plan in plans["raw"]
        for node in nodes_of(plan)
        if node["Node Type"] == "Function Scan" and node.get("Alias") == "u"
    ]
    assert max(read) <= 4 * 3_000


def test_a_plan_for_any_parameters_reads_what_is_found_and_not_the_namespace(
    asker: Asker,
) -> None:
    asks = questions(asker)
    walked: set[tuple[str, str, int, str]] = set()
    for name, ask in asks.items():
        with rows_read() as statements:
            asker.ask(ask)
        assert statements
        walked |= {
            (name, table, rows, one.statement[:160])
            for one in statements
            for table, rows in one.rows.items()
            if rows > MOST_READ
        }
    assert walked == set()
