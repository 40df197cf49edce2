"""Retrieval changes no memory: a thousand searches leave every table but the batches as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from retrieval.block_search import search_blocks
from retrieval.schemas import BlockSearch
from shared.settings import Settings
from shared.store.database import Database
from tests.bench.search_asking import KINDS, Asker, Timings
from tests.bench.search_corpus import Namespace, speech
from tests.bench.search_derived import load_derived
from tests.bench.search_load import load_messages

SEARCHES = 1_000
WRITTEN = {"batches", "batch_items"}


def table_hashes(database: Database, tenant_id: str) -> dict[str, str]:
    """Return a hash of all rows of each table, as the tenant sees them."""
    with database.read(tenant_id) as tx:
        names = tx.connection.execute(
            text(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                "'public'::regnamespace AND has_table_privilege(oid, 'SELECT')"
            )
        ).scalars()
        return {
            name: tx.connection.exec_driver_sql(
                f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {name} AS t"  # noqa: S608 - names of the catalogue
            ).scalar_one()
            for name in set(names) - WRITTEN
        }


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "searches", [SEARCHES // 5, pytest.param(SEARCHES, marks=pytest.mark.full)]
)
def test_a_thousand_searches_change_no_table_but_the_batches(
    settings: Settings, database: Database, database_url: str, searches: int
) -> None:
    namespace = Namespace(0xBEEF + searches, 400)
    with psycopg.connect(database_url) as owner:
        load_messages(owner, database, namespace, speech(), tokens=12)
        load_derived(owner, database, namespace, speech(), 60)
    asker = Asker(settings, database, namespace, speech())
    before = table_hashes(database, namespace.tenant_id)
    assert {"events", "namespaces", "search_documents", "search_waiting"} <= before.keys()
    asked = 0
    while asked < searches:
        question = asker.question(KINDS[asked % 2])
        found = asker.time_ranked(question, Timings()) if asked % 50 == 0 else {"events": []}
        cases: list[Callable[..., Any]] = [
            *asker.use_cases(question, found["events"]).values(),
            partial(search_blocks, asked=BlockSearch(query=question)),
        ]
        for case in cases:
            asker.ask(case)
        asked += len(cases)

    assert table_hashes(database, namespace.tenant_id) == before
    with database.read(namespace.tenant_id) as tx:
        batches = tx.connection.exec_driver_sql("SELECT count(*) FROM batches").scalar_one()
    assert batches >= searches * 3 // 5
