"""What a search costs, told in statements and rows: they do not depend on the machine.

And that a loaded synthetic memory is what the product itself would have written.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, text

from shared.domain.search_terms import query_terms
from shared.settings import Settings
from shared.store.database import Database, send
from shared.store.namespaces import ensure_namespace
from shared.store.search import bm25_search
from shared.store.search_index import index_documents
from shared.store.search_keys import NUMBER_SHIFT, DocumentKind
from shared.store.search_packing import pack_waiting
from tests.bench.search_asking import KINDS, Asker, Timings
from tests.bench.search_corpus import Namespace, namespaces_of, said_in, speech
from tests.bench.search_derived import load_derived
from tests.bench.search_load import document_of, load_messages
from tests.support.databases import Tenant, clone_database, drop_database, settings_for

MESSAGES, NAMESPACES, EVENTS = 10_000, 8, 1_500

# The most statements of one request, its transaction's own left out.
STATEMENTS = {"raw": 14, "events": 12, "graph": 14, "context": 30, "expand": 12}
# The most rows that one request reads of messages and of the index, whatever the namespace's size;
# other tables are so small here that Postgres reads them whole.
ROWS = {"raw": 4_500, "events": 1_500, "graph": 1_000, "context": 3_000, "expand": 100}

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A small synthetic database."""

    settings: Settings
    database: Database
    namespaces: list[Namespace]


@pytest.fixture(scope="module")
def loaded() -> Iterator[Loaded]:
    url = clone_database()
    settings = settings_for(url)
    database = Database(settings)
    namespaces = namespaces_of(MESSAGES, NAMESPACES)
    with psycopg.connect(url) as owner:
        for one in namespaces:
            load_messages(owner, database, one, speech(), tokens=24)
            load_derived(owner, database, one, speech(), EVENTS * one.messages // MESSAGES)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("ANALYZE")
    yield Loaded(settings, database, namespaces)
    database.close()
    drop_database(url)


@pytest.mark.parametrize("place", [0, 3, NAMESPACES - 1], ids=["large", "middle", "small"])
def test_a_request_sends_few_statements_and_reads_a_bounded_number_of_rows(
    loaded: Loaded, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(loaded.settings, loaded.database, loaded.namespaces[place], speech())
    sent: list[str] = []

    def sending(connection: Any, statement: str, values: Any) -> Any:
        sent.append(statement)
        return send(connection, statement, values)

    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    monkeypatch.setattr("shared.store.direct.send", sending)
    event.listen(loaded.database.engine, "before_cursor_execute", note)
    most: dict[str, tuple[int, int]] = {}
    try:
        for number in range(6):
            question = asker.question(KINDS[number % 2])
            events = asker.time_ranked(question, Timings())["events"]
            for name, case in asker.use_cases(question, events).items():
                with loaded.database.write(asker.namespace.tenant_id) as tx:
                    reader = asker.reader(tx)
                    known_rows = tx.connection.execute(_ROWS_READ).scalar_one()
                    sent.clear()
                    case(tx, reader)
                    statements = len(sent)
                    rows = tx.connection.execute(_ROWS_READ).scalar_one() - known_rows
                known = most.get(name, (0, 0))
                most[name] = (max(known[0], statements), max(known[1], rows))
    finally:
        event.remove(loaded.database.engine, "before_cursor_execute", note)
    assert {n: s for n, (s, _) in most.items() if s > STATEMENTS[n]} == {}, most
    assert {n: r for n, (_, r) in most.items() if r > ROWS[n]} == {}, most


def test_a_copied_corpus_is_the_one_that_indexing_writes(
    database: Database, database_url: str, tenant: Tenant
) -> None:
    copied = Namespace(0xC0B1, 500)
    with psycopg.connect(database_url) as owner:
        load_messages(owner, database, copied, speech())
    said = [document_of(m.message_id, m.thread_id, m.at, m) for m in said_in(copied, speech())]
    with database.write(tenant.tenant_id) as tx:
        ensure_namespace(tx, copied.name)
    for start in range(0, len(said), 2):
        with database.write(tenant.tenant_id) as tx:
            turn = said[start : start + 2]
            index_documents(tx, copied.name, DocumentKind.MESSAGE, turn, are_new=True)
    with database.write(tenant.tenant_id) as tx:
        pack_waiting(tx, copied.name, DocumentKind.MESSAGE, version="")

    written, loaded = (
        _contents(database, who, copied.name) for who in (tenant.tenant_id, copied.tenant_id)
    )
    assert len(written["postings"]) > 10_000
    assert written == loaded
    for kind in KINDS:
        question = speech().question(random.Random(3), kind, chinese=False)  # noqa: S311 - repeatable
        terms = query_terms(question)
        found = []
        for who in (tenant.tenant_id, copied.tenant_id):
            with database.read(who) as tx:
                hits = bm25_search(tx, copied.name, DocumentKind.MESSAGE, terms, version="")
                found.append([(hit.document_id, round(hit.score, 9)) for hit in hits])
        assert found[0] == found[1]


_ROWS_READ = text(
    "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint "
    "FROM pg_stat_xact_user_tables WHERE relname = 'messages' OR relname LIKE 'search_%'"
)


def _contents(database: Database, tenant_id: str, namespace: str) -> dict[str, list[Any]]:
    """Return a corpus as its rows say it, document numbers replaced by the documents' ids."""
    values = {"tenant_id": tenant_id, "namespace": namespace}
    with database.read(tenant_id) as tx:
        documents = tx.connection.execute(_DOCUMENTS, values).all()
        name_of = {row.number: row.document_id for row in documents}
        postings = [
            (row.corpus, row.term, row.part, row.before, name_of[x >> NUMBER_SHIFT], x & _REST)
            for row in tx.connection.execute(_POSTINGS, values)
            for x in row.postings
        ]
        return {
            "documents": [tuple(row)[1:] for row in documents],
            "postings": postings,
            "corpora": [tuple(row) for row in tx.connection.execute(_CORPORA, values)],
            "waiting": list(tx.connection.execute(_WAITING, values)),
        }


_REST = (1 << NUMBER_SHIFT) - 1
_DOCUMENTS = text(
    "SELECT number, document_id, corpus, thread_id, length, at, terms, frequencies "
    "FROM search_documents WHERE tenant_id = :tenant_id AND namespace = :namespace ORDER BY 2"
)
_POSTINGS = text(
    "SELECT corpus, term, part, before, postings FROM search_postings "
    "WHERE tenant_id = :tenant_id ORDER BY 1, 2, 3"
)
_CORPORA = text(
    "SELECT corpus, namespace, kind, version, documents, total_length FROM search_corpora "
    "WHERE tenant_id = :tenant_id AND namespace = :namespace"
)
_WAITING = text("SELECT number FROM search_waiting WHERE tenant_id = :tenant_id")
