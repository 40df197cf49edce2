"""Ask a synthetic database as readers do, and time it beside the least work that could answer.

Least work is fetching by primary key, in one query, the rows that the ranked query returned.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, text

from retrieval.app import settle
from retrieval.expand import expand_event
from retrieval.graph_search import search_graph
from retrieval.raw import search_raw
from retrieval.reader import Reader
from retrieval.recall import ContextReply, recall_context
from retrieval.schemas import ContextRequest, EventSearch, GraphSearch, RawSearch
from retrieval.search import search_events
from shared.domain.budget import estimate_tokens
from shared.domain.event_filters import EventFilter
from shared.domain.search_terms import query_terms
from shared.settings import Settings
from shared.store import event_search
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.namespaces import get_namespace, policy_defaults
from shared.store.search import bm25_search
from shared.store.search_keys import DocumentKind
from tests.bench.search_corpus import Namespace, Speech

RANKED = 200
"""How many rows the ranked query returns."""

KINDS = ("common", "mixed")
_TABLES = {"raw": "message", "events": "event", "graph": "node"}
_LEAST = {
    what: text(
        f"SELECT * FROM {row}s WHERE tenant_id = :tenant_id AND {row}_id = ANY(:ids)"  # noqa: S608 - our own names
    ).bindparams(bindparam("ids", type_=ARRAY(Text)))
    for what, row in _TABLES.items()
}
_NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass(slots=True)
class Timings:
    """Seconds a request, by what was asked: `ranked`, `least` and `whole` for each search.

    `tokens` holds the size of each context that was answered.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)

    def add(self, name: str, seconds: float) -> None:
        """Note one request."""
        self.seconds.setdefault(name, []).append(seconds)

    def percentiles(self) -> dict[str, dict[str, float]]:
        """Return p50 and p95 of each, in milliseconds; of `context tokens`, in tokens."""
        told = {name: [1000 * s for s in found] for name, found in self.seconds.items()}
        if self.tokens:
            told["context tokens"] = [float(number) for number in self.tokens]
        return {name: {"p50": _at(of, 0.5), "p95": _at(of, 0.95)} for name, of in told.items()}


class Asker:
    """Asks one namespace, as its reader, through the store and through the use cases."""

    def __init__(
        self, settings: Settings, database: Database, namespace: Namespace, speech: Speech
    ) -> None:
        self.settings = settings
        self.database = database
        self.namespace = namespace
        self._speech = speech
        self._chance = random.Random(99)  # noqa: S311 - repeatable questions

    def question(self, kind: str) -> str:
        """Return the next question."""
        return self._speech.question(self._chance, kind, chinese=self.namespace.is_chinese)

    def time_all(self, kind: str, *, requests: int, warm_up: int) -> Timings:
        """Time `requests` questions of a kind in every way, after some that are not counted."""
        timings = Timings()
        settle()  # as the service does when it starts
        for number in range(requests + warm_up):
            question = self.question(kind)
            told = timings if number >= warm_up else Timings()
            found = self.time_ranked(question, told)
            self.time_whole(question, told, event_ids=found["events"])
        return timings

    def time_ranked(self, question: str, timings: Timings) -> dict[str, list[str]]:
        """Time the store's ranked queries and their least work; return the ids found."""
        found: dict[str, list[str]] = {}
        with self.database.read(self.namespace.tenant_id) as tx:
            reader = self.reader(tx)
            for what, ranked in self._ranked(tx, reader).items():
                started = time.perf_counter()
                found[what] = ranked(query_terms(question))
                timings.add(f"{what} ranked", time.perf_counter() - started)
                values = {"tenant_id": tx.tenant_id, "ids": found[what]}
                tx.connection.execute(_LEAST[what], values).all()
                started = time.perf_counter()
                tx.connection.execute(_LEAST[what], values).all()
                timings.add(f"{what} least", time.perf_counter() - started)
        return found

    def time_whole(self, question: str, timings: Timings, *, event_ids: Sequence[str]) -> None:
        """Time the use cases, each in a transaction of its own, as a request has it."""
        for name, ask in self.use_cases(question, event_ids).items():
            started = time.perf_counter()
            reply = self.ask(ask)
            timings.add(f"{name} whole", time.perf_counter() - started)
            if isinstance(reply, ContextReply):
                timings.tokens.append(context_tokens(reply))

    def ask(self, use_case: Callable[[WriteTx, Reader], Any]) -> Any:
        """Answer one request."""
        with self.database.write(self.namespace.tenant_id) as tx:
            return use_case(tx, self.reader(tx))

    def use_cases(
        self, question: str, event_ids: Sequence[str]
    ) -> dict[str, Callable[[WriteTx, Reader], Any]]:
        """Return what a reader may ask with a question, by name."""
        cases: dict[str, Callable[[WriteTx, Reader], Any]] = {
            "raw": lambda tx, r: search_raw(tx, r, RawSearch(query=question)),
            "events": lambda tx, r: search_events(tx, r, EventSearch(query=question)),
            "graph": lambda tx, r: search_graph(tx, r, GraphSearch(query=question)),
            "context": lambda tx, r: recall_context(tx, r, ContextRequest(query=question)),
        }
        if event_ids:
            first = event_ids[0]
            cases["expand"] = lambda tx, r: expand_event(tx, r, first)
        return cases

    def reader(self, tx: ReadTx) -> Reader:
        """Return who asks: in the namespace's last thread, which has an open tail."""
        row = get_namespace(tx, self.namespace.name, defaults=policy_defaults(self.settings))
        thread = (self.namespace.messages // 2 - 1) // 200
        return Reader(row, "key_bench", _NOW, batch_ttl_s=60, thread_id=f"t{thread}")

    def _ranked(
        self, tx: ReadTx, reader: Reader
    ) -> dict[str, Callable[[dict[str, float]], list[str]]]:
        name = reader.name
        graph = reader.namespace.graph_version_id or ""

        def of_kind(kind: DocumentKind, version: str) -> Callable[[dict[str, float]], list[str]]:
            return lambda terms: [
                hit.document_id
                for hit in bm25_search(tx, name, kind, terms, limit=RANKED, version=version)
            ]

        def events(terms: dict[str, float]) -> list[str]:
            hits = event_search.search_events(
                tx, reader.scope, terms, wanted=EventFilter(), limit=RANKED
            )
            return [hit.document_id for hit in hits]

        return {
            "raw": of_kind(DocumentKind.MESSAGE, ""),
            "events": events,
            "graph": of_kind(DocumentKind.NODE, graph),
        }


def context_tokens(reply: ContextReply) -> int:
    """Return the estimated tokens of a context: its blocks, its open tail and the background."""
    tail = sum(estimate_tokens(card.content) for card in reply.open_tail)
    return sum(block.tokens for block in reply.blocks) + tail + reply.activated.tokens


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 3)
