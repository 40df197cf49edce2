"""Ranked search over postings: BM25 computed where the rows are, by equality alone.

Every condition is an equality of integers or text, which row level security can push into the
index; full-text and array operators would be checked row by row after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, DateTime, Double, Row, Select, Text, bindparam, column, select, text

from shared.store.database import ReadTx
from shared.store.search_index import DocumentKind
from shared.store.versions import DOCUMENT_VERSION

K1 = 0.9
B = 0.4
"""BM25's saturation and length weight, as measured best for conversation turns."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that holds at least one term of the query, with its BM25 score."""

    document_id: str
    thread_id: str
    at: datetime
    score: float
    matched_terms: tuple[str, ...]


_BM25 = text(
    f"""
    WITH live AS (
        SELECT {DOCUMENT_VERSION} AS version
    ), corpus AS (
        SELECT count(*)::float8 AS n, greatest(coalesce(avg(length), 1), 1)::float8 AS mean_length
        FROM search_documents
        WHERE tenant_id = :tenant_id AND namespace = :namespace AND kind = :kind
          AND version = (SELECT version FROM live)
    ), query AS (
        SELECT * FROM unnest(:terms, :weights) AS q(term, weight)
    ), posting AS (
        SELECT p.document_id, p.term, p.frequency, q.weight,
               count(*) OVER (PARTITION BY p.term)::float8 AS df
        FROM query AS q
        JOIN search_postings AS p
          ON p.tenant_id = :tenant_id AND p.namespace = :namespace AND p.kind = :kind
         AND p.version = (SELECT version FROM live) AND p.term = q.term
    )
    SELECT d.document_id, d.thread_id, d.at, array_agg(posting.term ORDER BY posting.term) AS terms,
           sum(posting.weight * ln(1 + (corpus.n - posting.df + 0.5) / (posting.df + 0.5))
               * posting.frequency * (:k1 + 1)
               / (posting.frequency + :k1 * (1 - :b + :b * d.length / corpus.mean_length))
           ) AS score
    FROM posting
    JOIN search_documents AS d
      ON d.tenant_id = :tenant_id AND d.namespace = :namespace AND d.kind = :kind
     AND d.version = (SELECT version FROM live) AND d.document_id = posting.document_id
    CROSS JOIN corpus
    WHERE :any_thread OR d.thread_id = ANY(:threads)
    GROUP BY d.document_id, d.thread_id, d.at
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(
    bindparam("terms", type_=ARRAY(Text)),
    bindparam("weights", type_=ARRAY(Double)),
    bindparam("threads", type_=ARRAY(Text)),
)

HITS = _BM25.columns(
    column("document_id", Text),
    column("thread_id", Text),
    column("at", DateTime(timezone=True)),
    column("terms", ARRAY(Text)),
    column("score", Double),
).subquery("hit")
"""Every document that holds a term of the query, unordered, to be joined and narrowed; its
parameters are `bm25_parameters`. Narrowing before the limit is what keeps filters exact."""


def bm25_search(
    tx: ReadTx,
    namespace: str,
    kind: DocumentKind,
    terms: Mapping[str, float],
    *,
    limit: int = 200,
    threads: Sequence[str] | None = None,
    version: str | None = None,
) -> list[Hit]:
    """Return the best documents of one kind for the weighted query terms, best first.

    Only those of the live version count, unless another `version` is named: a derivation's
    number for events, a graph version's id for nodes.
    Document frequency and mean length are the whole namespace's, also when `threads` narrows
    what is returned. Equal scores: the later one first. No terms, no hits.
    """
    if not terms:
        return []
    statement = best_first(select(HITS)).limit(limit)
    parameters = bm25_parameters(tx, namespace, kind, terms=terms, threads=threads, version=version)
    return [hit_of(row) for row in tx.connection.execute(statement, parameters)]


def best_first(statement: Select[Any]) -> Select[Any]:
    """Order a statement over HITS: best score, then the later one, then by id."""
    return statement.order_by(HITS.c.score.desc(), HITS.c.at.desc(), HITS.c.document_id)


def bm25_parameters(
    tx: ReadTx,
    namespace: str,
    kind: DocumentKind,
    *,
    terms: Mapping[str, float],
    threads: Sequence[str] | None = None,
    version: str | None = None,
) -> dict[str, Any]:
    """Return what a statement over HITS is executed with."""
    return {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "kind": kind.value,
        "version": version,
        "terms": list(terms),
        "weights": list(terms.values()),
        "any_thread": threads is None,
        "threads": list(threads or ()),
        "k1": K1,
        "b": B,
    }


def hit_of(row: Row[Any]) -> Hit:
    """Read one row of HITS."""
    return Hit(row.document_id, row.thread_id, row.at, float(row.score), tuple(row.terms))
