"""What a collection and its documents say of the terms asked for, to score joined documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ARRAY, BigInteger, Double, Text, bindparam, text

from shared.domain.bm25 import Bm25Stats
from shared.store.database import ReadTx
from shared.store.search_hits import STATISTICS_SQL
from shared.store.search_keys import DocumentKind, corpus_hash, term_hash

_STATISTICS = text(
    f"""
    WITH {STATISTICS_SQL}
    SELECT size.n, size.total / greatest(size.n, 1) AS mean_length,
           ARRAY(SELECT df FROM counted ORDER BY place) AS frequencies
    FROM size
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(bindparam("terms", type_=ARRAY(BigInteger)), bindparam("weights", type_=ARRAY(Double)))

# A byte a term asked for, in their order, so that one document is one short value.
_COUNTS = text(
    """
    SELECT d.document_id, d.length, (
        SELECT string_agg(coalesce(substring(d.frequencies,
                                             array_position(d.terms, q.term), 1), '\\x00'), '')
        FROM unnest(:terms) AS q(term)) AS held
    FROM search_documents AS d
    WHERE d.tenant_id = :tenant_id AND d.namespace = :namespace AND d.kind = :kind
      AND d.version = :version AND d.document_id = ANY(:ids)
    """
).bindparams(bindparam("terms", type_=ARRAY(BigInteger)), bindparam("ids", type_=ARRAY(Text)))


@dataclass(frozen=True, slots=True)
class TermCounts:
    """One document's length in terms, and how often it holds each term asked for."""

    length: int
    frequencies: Mapping[str, int]


def collection_statistics(
    tx: ReadTx, namespace: str, kind: DocumentKind, *, terms: Collection[str], version: str = ""
) -> Bm25Stats:
    """Return the size and mean length of a namespace's documents, and each term's documents.

    Messages have no version; of events and nodes it must be named.
    """
    row = tx.connection.execute(
        _STATISTICS,
        {
            "tenant_id": tx.tenant_id,
            "corpus": corpus_hash(namespace, kind, version),
            "terms": [term_hash(term) for term in terms],
            "weights": [1.0] * len(terms),
        },
    ).one()
    return Bm25Stats(
        document_count=int(row.n),
        average_length=float(row.mean_length),
        document_frequencies=_counted(terms, row.frequencies),
    )


def term_counts(
    tx: ReadTx,
    namespace: str,
    kind: DocumentKind,
    *,
    document_ids: Collection[str],
    terms: Collection[str],
    version: str = "",
) -> dict[str, TermCounts]:
    """Return the counts of these documents; those without any term have empty frequencies."""
    rows = tx.connection.execute(
        _COUNTS,
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "kind": kind.value,
            "version": version,
            "ids": list(document_ids),
            "terms": [term_hash(term) for term in terms],
        },
    )
    return {row.document_id: TermCounts(row.length, _counted(terms, row.held)) for row in rows}


def _counted(terms: Collection[str], counts: Collection[float] | None) -> dict[str, int]:
    """Name counts by their terms, in order, leaving out what is nowhere."""
    return {term: int(count) for term, count in zip(terms, counts or (), strict=False) if count > 0}
