"""Write search documents and their postings, in the transaction of what they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, insert
from sqlalchemy.dialects.postgresql import insert as upsert

from shared.store.database import WriteTx
from shared.store.tables import search_documents, search_postings


class DocumentKind(StrEnum):
    """What a search document stands for."""

    MESSAGE = "message"
    EVENT = "event"
    NODE = "node"


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
    tx: WriteTx, namespace: str, kind: DocumentKind, documents: Sequence[SearchDocument]
) -> None:
    """Make documents findable; a document that exists is replaced whole."""
    if not documents:
        return
    remove_documents(tx, namespace, kind, [document.document_id for document in documents])
    place = {"tenant_id": tx.tenant_id, "namespace": namespace, "kind": kind.value}
    tx.connection.execute(
        upsert(search_documents),
        [
            place
            | {
                "document_id": document.document_id,
                "thread_id": document.thread_id,
                "length": document.length,
                "at": document.at,
            }
            for document in documents
        ],
    )
    postings = [
        place | {"term": term, "document_id": document.document_id, "frequency": frequency}
        for document in documents
        # In order of terms, so that two writers never wait for each other's index pages crosswise.
        for term, frequency in sorted(document.frequencies.items())
    ]
    if postings:
        tx.connection.execute(insert(search_postings), postings)


def remove_documents(
    tx: WriteTx, namespace: str, kind: DocumentKind, document_ids: Sequence[str]
) -> None:
    """Take documents out of the index; unknown ids are left alone."""
    for table in (search_postings, search_documents):
        tx.connection.execute(
            delete(table).where(
                table.c.tenant_id == tx.tenant_id,
                table.c.namespace == namespace,
                table.c.kind == kind.value,
                table.c.document_id.in_(document_ids),
            )
        )
