"""Write search documents, in the transaction of what they describe.

A writer only adds rows: the document's own, and one that says it waits to be packed. So any number
of writers of one namespace never wait for each other here; `search_packing` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, Text, bindparam, delete, text

from shared.store.database import WriteTx
from shared.store.direct import Direct
from shared.store.search_keys import DocumentKind, corpus_hash, hashed
from shared.store.search_packing import WAITING_LIMIT, pack_waiting
from shared.store.tables import search_corpora, search_documents, search_waiting
from shared.store.versions import live_document_version

__all__ = ["DocumentKind", "SearchDocument"]

# One statement for all documents; arrays of arrays have no place in unnest, so terms come as text.
# The count is of before: a statement does not see what it writes itself.
_INSERT = Direct(
    """
    WITH written AS (
        INSERT INTO search_documents (tenant_id, namespace, kind, version, corpus, document_id,
            thread_id, length, at, terms, frequencies)
        SELECT CAST(:tenant_id AS text), CAST(:namespace AS text), CAST(:kind AS text),
               CAST(:version AS text), CAST(:corpus AS bigint), d.document_id, d.thread_id,
               d.length, d.at, CAST(d.terms AS bigint[]), d.frequencies
        FROM unnest(CAST(:document_ids AS text[]), CAST(:thread_ids AS text[]),
                    CAST(:lengths AS integer[]), CAST(:instants AS timestamptz[]),
                    CAST(:terms AS text[]), CAST(:frequencies AS bytea[]))
            AS d(document_id, thread_id, length, at, terms, frequencies)
        RETURNING number
    )
    INSERT INTO search_waiting (tenant_id, corpus, number, is_removal, namespace)
    SELECT CAST(:tenant_id AS text), CAST(:corpus AS bigint), number, false,
           CAST(:namespace AS text) FROM written
    RETURNING (SELECT count(*) FROM search_waiting AS w
               WHERE w.tenant_id = :tenant_id AND w.corpus = CAST(:corpus AS bigint))
    """
)

_COPY = text(
    """
    WITH copied AS (
        INSERT INTO search_documents (tenant_id, namespace, kind, version, corpus, document_id,
            thread_id, length, at, terms, frequencies)
        SELECT tenant_id, namespace, kind, :to_version, :to_corpus, document_id, thread_id,
               length, at, terms, frequencies
        FROM search_documents
        WHERE tenant_id = :tenant_id AND namespace = :namespace AND kind = 'event'
          AND version = :from_version AND document_id = ANY(:ids)
        ON CONFLICT (tenant_id, namespace, kind, version, document_id) DO NOTHING
        RETURNING number
    )
    INSERT INTO search_waiting (tenant_id, corpus, number, is_removal, namespace)
    SELECT :tenant_id, :to_corpus, number, false, :namespace FROM copied
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """One document: its own terms with their (weighted) frequencies, and its time."""

    document_id: str
    thread_id: str
    at: datetime
    frequencies: Mapping[str, int]

    @property
    def length(self) -> int:
        """The number of terms, weights counted in: the length of BM25."""
        return sum(self.frequencies.values())


def index_documents(
    tx: WriteTx,
    namespace: str,
    kind: DocumentKind,
    documents: Sequence[SearchDocument],
    *,
    are_new: bool = False,
    version: str | None = None,
) -> None:
    """Make documents findable in a version, the live one unless named; one that exists is replaced.

    `are_new` promises that none of them exists, and spares looking for what to replace.
    """
    if not documents:
        return
    place = _place(tx, namespace, kind, version)
    if not are_new:
        ids = [document.document_id for document in documents]
        _delete(tx, namespace, kind, ids, version=place["version"])
    cut = [hashed(document.frequencies) for document in documents]
    waiting = _INSERT.scalar(
        tx,
        **place,
        document_ids=[document.document_id for document in documents],
        thread_ids=[document.thread_id for document in documents],
        lengths=[document.length for document in documents],
        instants=[document.at for document in documents],
        terms=[f"{{{','.join(map(str, terms))}}}" for terms, _ in cut],
        frequencies=[frequencies for _, frequencies in cut],
    )
    if (waiting or 0) + len(documents) >= WAITING_LIMIT:
        pack_waiting(tx, namespace, kind, version=place["version"])


def remove_documents(
    tx: WriteTx,
    namespace: str,
    kind: DocumentKind,
    document_ids: Sequence[str],
    *,
    version: str | None = None,
) -> None:
    """Take documents out of the index, of one version or of all; unknown ids are left alone."""
    if not document_ids:
        return
    for touched in sorted(_delete(tx, namespace, kind, document_ids, version=version)):
        pack_waiting(tx, namespace, kind, version=touched)


def copy_documents(
    tx: WriteTx, namespace: str, document_ids: Sequence[str], *, from_version: str, to_version: str
) -> None:
    """Make events findable in another version as they are in one; known ones are left alone."""
    tx.connection.execute(
        _COPY,
        {
            "tenant_id": tx.tenant_id,
            "namespace": namespace,
            "ids": list(document_ids),
            "from_version": from_version,
            "to_version": to_version,
            "to_corpus": corpus_hash(namespace, DocumentKind.EVENT, to_version),
        },
    )
    if len(document_ids) >= WAITING_LIMIT:
        pack_waiting(tx, namespace, DocumentKind.EVENT, version=to_version)


def drop_documents(tx: WriteTx, namespace: str, kind: DocumentKind, *, version: str) -> None:
    """Take every document of one version out of the index."""
    corpus = corpus_hash(namespace, kind, version)
    # In this order: deleting documents leaves rows that wait; a corpus takes its postings along.
    for table in (search_documents, search_waiting, search_corpora):
        statement = delete(table).where(table.c.tenant_id == tx.tenant_id, table.c.corpus == corpus)
        if table is search_documents:
            statement = statement.where(
                table.c.namespace == namespace,
                table.c.kind == kind.value,
                table.c.version == version,
            )
        tx.connection.execute(statement)


def _delete(
    tx: WriteTx,
    namespace: str,
    kind: DocumentKind,
    document_ids: Sequence[str],
    *,
    version: str | None,
) -> set[str]:
    """Delete documents, which the database notes for packing; return the versions touched."""
    statement = delete(search_documents).where(
        search_documents.c.tenant_id == tx.tenant_id,
        search_documents.c.namespace == namespace,
        search_documents.c.kind == kind.value,
        search_documents.c.document_id.in_(document_ids),
    )
    if version is not None:
        statement = statement.where(search_documents.c.version == version)
    rows = tx.connection.execute(statement.returning(search_documents.c.version))
    return set(rows.scalars())


def _place(tx: WriteTx, namespace: str, kind: DocumentKind, version: str | None) -> dict[str, Any]:
    named = live_document_version(tx, namespace, kind) if version is None else version
    return {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "kind": kind.value,
        "version": named,
        "corpus": corpus_hash(namespace, kind, named),
    }
