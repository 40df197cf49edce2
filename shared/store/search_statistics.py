"""What a collection and its documents say of the terms asked for, to score joined documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from shared.domain.bm25 import Bm25Stats
from shared.store.database import ReadTx
from shared.store.search_index import DocumentKind
from shared.store.tables import search_documents, search_postings


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
    documents, postings = search_documents.c, search_postings.c
    size = tx.connection.execute(
        select(func.count(), func.coalesce(func.avg(documents.length), 0)).where(
            documents.tenant_id == tx.tenant_id,
            documents.namespace == namespace,
            documents.kind == kind.value,
            documents.version == version,
        )
    ).one()
    counted = tx.connection.execute(
        select(postings.term, func.count())
        .where(
            postings.tenant_id == tx.tenant_id,
            postings.namespace == namespace,
            postings.kind == kind.value,
            postings.version == version,
            postings.term.in_(terms),
        )
        .group_by(postings.term)
    )
    return Bm25Stats(
        document_count=size[0],
        average_length=float(size[1]),
        document_frequencies={row[0]: row[1] for row in counted},
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
    documents, postings = search_documents.c, search_postings.c
    lengths = tx.connection.execute(
        select(documents.document_id, documents.length).where(
            documents.tenant_id == tx.tenant_id,
            documents.namespace == namespace,
            documents.kind == kind.value,
            documents.version == version,
            documents.document_id.in_(document_ids),
        )
    )
    found: dict[str, dict[str, int]] = {}
    rows = tx.connection.execute(
        select(postings.document_id, postings.term, postings.frequency).where(
            postings.tenant_id == tx.tenant_id,
            postings.namespace == namespace,
            postings.kind == kind.value,
            postings.version == version,
            postings.document_id.in_(document_ids),
            postings.term.in_(terms),
        )
    )
    for document_id, term, frequency in rows:
        found.setdefault(document_id, {})[term] = frequency
    return {name: TermCounts(length, found.get(name, {})) for name, length in lengths}
