"""What the index counts and ranks is what its documents say, whatever was written and removed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from shared.domain.bm25 import Bm25Stats, score_document
from shared.store import search_hits, search_index, search_packing
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.namespaces import ensure_namespace
from shared.store.search import bm25_search
from shared.store.search_index import (
    DocumentKind,
    SearchDocument,
    copy_documents,
    drop_documents,
    index_documents,
    remove_documents,
)
from shared.store.search_statistics import collection_statistics, term_counts
from tests.support.databases import Tenant

NS = "project:counts"
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"w{number}" for number in range(40)]
KIND = DocumentKind.EVENT

Held = dict[str, Mapping[str, int]]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack after a few documents, so that a short test goes through many rounds."""
    monkeypatch.setattr(search_index, "WAITING_LIMIT", 9)


@pytest.fixture
def place(database: Database, tenant: Tenant) -> tuple[Database, str]:
    with database.write(tenant.tenant_id) as tx:
        ensure_namespace(tx, NS)
    return database, tenant.tenant_id


def document(name: str, chance: random.Random) -> SearchDocument:
    words = chance.choices(WORDS, weights=[1 / (n + 1) for n in range(40)], k=chance.randint(1, 30))
    return SearchDocument(name, "main", START + timedelta(minutes=int(name[1:])), Counter(words))


def counted(held: Held) -> Bm25Stats:
    lengths = [sum(words.values()) for words in held.values()]
    return Bm25Stats(
        document_count=len(held),
        average_length=sum(lengths) / len(lengths) if lengths else 0.0,
        document_frequencies=Counter(term for words in held.values() for term in words),
    )


def assert_equal(tx: ReadTx, held: Held, *, version: str) -> None:
    told = collection_statistics(tx, NS, KIND, terms=WORDS, version=version)
    right = counted(held)
    assert told.document_count == right.document_count
    assert told.average_length == pytest.approx(right.average_length)
    assert told.document_frequencies == right.document_frequencies
    counts = term_counts(tx, NS, KIND, document_ids=held, terms=WORDS, version=version)
    assert {name: one.frequencies for name, one in counts.items()} == held
    query = {"w0": 1.0, "w7": 0.5, "w31": 1.0}
    scores = {
        name: score_document(words, sum(words.values()), stats=right, query_weights=query)
        for name, words in held.items()
    }
    hits = bm25_search(tx, NS, KIND, query, limit=200, version=version)
    assert {hit.document_id: pytest.approx(hit.score) for hit in hits} == {
        name: score for name, score in scores.items() if score > 0
    }
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(set(hit.matched_terms) == query.keys() & held[hit.document_id] for hit in hits)


def step(tx: WriteTx, chance: random.Random, held: dict[str, Held], number: int) -> None:
    version = chance.choice(["1", "2"])
    mine = held[version]
    kind = chance.random()
    if kind < 0.55 or not mine:
        new = [document(f"d{number}{i}", chance) for i in range(chance.randint(1, 6))]
        index_documents(tx, NS, KIND, new, are_new=True, version=version)
    elif kind < 0.75:
        names = chance.sample(sorted(mine), min(len(mine), 3))
        new = [document(name, chance) for name in names]
        index_documents(tx, NS, KIND, new, version=version)
    elif kind < 0.9:
        names = chance.sample(sorted(mine), min(len(mine), 4))
        remove_documents(tx, NS, KIND, [*names, "d999999"], version=version)
        for name in names:
            del mine[name]
        return
    else:
        names = chance.sample(sorted(mine), min(len(mine), 5))
        other = "2" if version == "1" else "1"
        copy_documents(tx, NS, names, from_version=version, to_version=other)
        held[other] |= {name: mine[name] for name in names if name not in held[other]}
        return
    mine |= {one.document_id: dict(one.frequencies) for one in new}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_counts_and_scores_are_those_of_the_documents_after_any_writes(
    place: tuple[Database, str], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, tenant_id = place
    chance = random.Random(seed)  # noqa: S311 - repeatable examples
    held: dict[str, Held] = {"1": {}, "2": {}}
    for number in range(1, 60):
        with database.write(tenant_id) as tx:
            step(tx, chance, held, number)
            if number % 6 == 0:
                for version in held:
                    assert_equal(tx, held[version], version=version)
    with database.write(tenant_id) as tx:
        for version in held:
            search_packing.pack_waiting(tx, NS, KIND, version=version)
            assert_equal(tx, held[version], version=version)
        drop_documents(tx, NS, KIND, version="2")
        assert_equal(tx, held["1"], version="1")
        remove_documents(tx, NS, KIND, sorted(held["1"]), version="1")
        for table in ("search_documents", "search_postings", "search_waiting"):
            left = tx.connection.execute(text(f"SELECT count(*) FROM {table}"))  # noqa: S608 - our own names
            assert left.scalar_one() == 0, table


def test_long_lists_of_a_term_are_cut_into_parts_and_counted_whole(
    place: tuple[Database, str],
) -> None:
    database, tenant_id = place
    chance = random.Random(5)  # noqa: S311 - repeatable examples
    held: Held = {}
    with database.write(tenant_id) as tx:
        for start in range(10_000, 13_000, 750):
            new = [document(f"d{start + i}", chance) for i in range(750)]
            index_documents(tx, NS, KIND, new, are_new=True, version="1")
            held |= {one.document_id: dict(one.frequencies) for one in new}
        gone = chance.sample(sorted(held), 700)
        remove_documents(tx, NS, KIND, gone, version="1")
        for name in gone:
            del held[name]
        told = collection_statistics(tx, NS, KIND, terms=WORDS, version="1")
        assert told.document_frequencies == counted(held).document_frequencies
        row = tx.connection.execute(
            text("SELECT max(cardinality(postings)), max(part) FROM search_postings")
        ).one()
        assert row[0] <= search_packing.PART_SIZE
        assert row[1] >= 3


def test_many_writers_of_one_namespace_at_once_neither_wait_crosswise_nor_lose_a_count(
    place: tuple[Database, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "WAITING_LIMIT", 5)
    database, tenant_id = place
    failures: list[BaseException] = []
    held: Held = {}

    def write(writer: int) -> None:
        chance = random.Random(writer)  # noqa: S311 - repeatable examples
        try:
            for turn in range(25):
                new = [document(f"d{writer}{turn:02}{i}", chance) for i in range(2)]
                with database.write(tenant_id) as tx:
                    index_documents(tx, NS, KIND, new, are_new=True, version="1")
                    if turn % 5 == 4:
                        remove_documents(tx, NS, KIND, [f"d{writer}{turn - 1:02}0"], version="1")
                held.update({one.document_id: dict(one.frequencies) for one in new})
                if turn % 5 == 4:
                    del held[f"d{writer}{turn - 1:02}0"]
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with database.write(tenant_id) as tx:
        for _ in range(2):
            told = collection_statistics(tx, NS, KIND, terms=WORDS, version="1")
            assert told.document_count == len(held)
            assert told.document_frequencies == counted(held).document_frequencies
            assert search_packing.pack_waiting(tx, NS, KIND, version="1")


def test_a_search_beyond_its_budget_still_ranks_by_all_terms_and_keeps_filters_exact(
    place: tuple[Database, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_hits, "BUDGET", 50)
    database, tenant_id = place
    with database.write(tenant_id) as tx:
        common = [
            SearchDocument(f"d{i}", f"t{i % 300}", START, {"common": 1, "often": 1 + i % 3})
            for i in range(600)
        ]
        rare = [SearchDocument(f"r{i}", "t0", START, {"common": 1, "rare": 1}) for i in range(5)]
        index_documents(tx, NS, KIND, [*common, *rare], are_new=True, version="1")
        asked = {"common": 1.0, "rare": 1.0}
        best = bm25_search(tx, NS, KIND, asked, limit=5, version="1")
        assert {hit.document_id for hit in best} == {f"r{i}" for i in range(5)}
        assert {hit.matched_terms for hit in best} == {("common", "rare")}
        in_thread = bm25_search(tx, NS, KIND, asked, limit=20, threads=["t7"], version="1")
        assert {hit.document_id for hit in in_thread} == {"d7", "d307"}
        only_common = bm25_search(tx, NS, KIND, {"often": 1.0}, limit=10, version="1")
        assert len(only_common) == 10
