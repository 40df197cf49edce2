"""Write search documents and their postings, in the transaction of what they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ARRAY, DateTime, Integer, Text, bindparam, delete, text

from shared.store.database import WriteTx
from shared.store.tables import search_documents, search_postings
from shared.store.versions import DOCUMENT_VERSION


class DocumentKind(StrEnum):
    """What a search document stands for."""

    MESSAGE = "message"
    EVENT = "event"
    NODE = "node"


# One statement for all rows: a message has some sixty postings, and a statement each would cost
# more than the index. Sorted by term, so that two writers never wait crosswise for index pages.
_INSERT_DOCUMENTS = text(
    f"""
    INSERT INTO search_documents
        (tenant_id, namespace, kind, version, document_id, thread_id, length, at)
    SELECT :tenant_id, :namespace, :kind, {DOCUMENT_VERSION}, d.*
    FROM unnest(:document_ids, :thread_ids, :lengths, :instants) AS d
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(
    bindparam("document_ids", type_=ARRAY(Text)),
    bindparam("thread_ids", type_=ARRAY(Text)),
    bindparam("lengths", type_=ARRAY(Integer)),
    bindparam("instants", type_=ARRAY(DateTime(timezone=True))),
)
_INSERT_POSTINGS = text(
    f"""
    INSERT INTO search_postings
        (tenant_id, namespace, kind, version, term, document_id, frequency)
    SELECT :tenant_id, :namespace, :kind, {DOCUMENT_VERSION}, p.*
    FROM unnest(:terms, :document_ids, :frequencies) AS p
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(
    bindparam("terms", type_=ARRAY(Text)),
    bindparam("document_ids", type_=ARRAY(Text)),
    bindparam("frequencies", type_=ARRAY(Integer)),
)


_OF_VERSION = """
    WHERE tenant_id = :tenant_id AND namespace = :namespace AND kind = 'event'
      AND version = :from_version AND document_id = ANY(:ids)
    ON CONFLICT DO NOTHING
    """
_COPY_DOCUMENTS = text(
    f"""
    INSERT INTO search_documents
        (tenant_id, namespace, kind, version, document_id, thread_id, length, at)
    SELECT tenant_id, namespace, kind, :to_version, document_id, thread_id, length, at
    FROM search_documents {_OF_VERSION}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
).bindparams(bindparam("ids", type_=ARRAY(Text)))
_COPY_POSTINGS = text(
    f"""
    INSERT INTO search_postings
        (tenant_id, namespace, kind, version, term, document_id, frequency)
    SELECT tenant_id, namespace, kind, :to_version, term, document_id, frequency
    FROM search_postings {_OF_VERSION}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
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
    if not are_new:
        ids = [document.document_id for document in documents]
        remove_documents(tx, namespace, kind, ids, version=version)
    place = {
        "tenant_id": tx.tenant_id,
        "namespace": namespace,
        "kind": kind.value,
        "version": version,
    }
    tx.connection.execute(
        _INSERT_DOCUMENTS,
        place
        | {
            "document_ids": [document.document_id for document in documents],
            "thread_ids": [document.thread_id for document in documents],
            "lengths": [document.length for document in documents],
            "instants": [document.at for document in documents],
        },
    )
    postings = sorted(
        (term, document.document_id, frequency)
        for document in documents
        for term, frequency in document.frequencies.items()
    )
    if postings:
        terms, document_ids, frequencies = zip(*postings, strict=True)
        tx.connection.execute(
            _INSERT_POSTINGS,
            place
            | {
                "terms": list(terms),
                "document_ids": list(document_ids),
                "frequencies": list(frequencies),
            },
        )


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
    for table in (search_postings, search_documents):
        statement = delete(table).where(
            table.c.tenant_id == tx.tenant_id,
            table.c.namespace == namespace,
            table.c.kind == kind.value,
            table.c.document_id.in_(document_ids),
        )
        if version is not None:
            statement = statement.where(table.c.version == version)
        tx.connection.execute(statement)


def copy_documents(
    tx: WriteTx, namespace: str, document_ids: Sequence[str], *, from_version: str, to_version: str
) -> None:
    """Make events findable in another version as they are in one; known ones are left alone."""
    place = {"tenant_id": tx.tenant_id, "namespace": namespace, "ids": list(document_ids)}
    for statement in (_COPY_DOCUMENTS, _COPY_POSTINGS):
        tx.connection.execute(
            statement, place | {"from_version": from_version, "to_version": to_version}
        )


def drop_documents(tx: WriteTx, namespace: str, kind: DocumentKind, *, version: str) -> None:
    """Take every document of one version out of the index."""
    for table in (search_postings, search_documents):
        tx.connection.execute(
            delete(table).where(
                table.c.tenant_id == tx.tenant_id,
                table.c.namespace == namespace,
                table.c.kind == kind.value,
                table.c.version == version,
            )
        )
