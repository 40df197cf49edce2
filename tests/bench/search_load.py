"""Load a synthetic memory fast: COPY into the tables, in the index's own format, then pack.

The documents are those that `index_documents` writes, and the product's own code packs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import psycopg

from shared.store.database import Database
from shared.store.search_index import SearchDocument
from shared.store.search_keys import DocumentKind, corpus_hash, hashed
from shared.store.search_packing import pack_waiting
from tests.bench.search_corpus import TOKENS, Namespace, Said, Speech, said_in

_BATCH = 20_000


def load_messages(
    owner: psycopg.Connection,
    database: Database,
    namespace: Namespace,
    speech: Speech,
    *,
    tokens: int = TOKENS,
) -> None:
    """Store a namespace with its tenant, threads, turns and messages, findable."""
    # Foreign keys hold by construction; checking a million would measure nothing.
    owner.execute("SET session_replication_role = replica")
    _load_namespace(owner, namespace, said_in(namespace, speech, tokens=tokens))
    owner.commit()
    pack(database, namespace, DocumentKind.MESSAGE, version="")


def copy_documents_in(
    owner: psycopg.Connection,
    namespace: Namespace,
    kind: DocumentKind,
    documents: Iterable[SearchDocument],
    *,
    version: str,
) -> None:
    """COPY search documents that wait to be packed."""
    corpus = corpus_hash(namespace.name, kind, version)
    rows = []
    for document in documents:
        terms, frequencies = hashed(document.frequencies)
        rows.append(
            (
                namespace.tenant_id,
                namespace.name,
                kind.value,
                version,
                document.document_id,
                corpus,
                document.thread_id,
                document.length,
                document.at,
                terms,
                frequencies,
            )
        )
    copy_rows(
        owner,
        "search_documents",
        "tenant_id namespace kind version document_id corpus thread_id length at terms frequencies",
        rows,
    )
    owner.execute(
        "INSERT INTO search_waiting (tenant_id, corpus, number, is_removal, namespace) "
        "SELECT tenant_id, corpus, number, false, namespace FROM search_documents "
        "WHERE tenant_id = %s AND namespace = %s AND kind = %s AND version = %s "
        "ON CONFLICT DO NOTHING",
        (namespace.tenant_id, namespace.name, kind.value, version),
    )


def pack(database: Database, namespace: Namespace, kind: DocumentKind, *, version: str) -> None:
    """Pack what waits, as the product does."""
    with database.write(namespace.tenant_id) as tx:
        tx.connection.exec_driver_sql("SET LOCAL statement_timeout TO 0")
        tx.connection.exec_driver_sql("SET LOCAL work_mem TO '256MB'")
        pack_waiting(tx, namespace.name, kind, version=version)


def clone_tenant(owner: psycopg.Connection, source: str, copy: str) -> None:
    """Give another tenant the same rows in every table; all that refers stays within a tenant."""
    owner.execute("SET session_replication_role = replica")
    tables = owner.execute(
        "SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) "
        "FILTER (WHERE column_name <> 'tenant_id') FROM information_schema.columns "
        "WHERE table_schema = 'public' AND is_generated = 'NEVER' GROUP BY table_name "
        "HAVING bool_or(column_name = 'tenant_id')"
    ).fetchall()
    for table, columns in tables:
        owner.execute(
            f"INSERT INTO {table} (tenant_id, {columns}) "  # noqa: S608 - names of the catalogue
            f"SELECT %s, {columns} FROM {table} WHERE tenant_id = %s",
            (copy, source),
        )
    owner.commit()


def copy_rows(
    owner: psycopg.Connection, table: str, columns: str, rows: Iterable[tuple[Any, ...]]
) -> None:
    """COPY rows into the named columns."""
    named = ", ".join(columns.split())
    with owner.cursor() as cursor, cursor.copy(f"COPY {table} ({named}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _load_namespace(owner: psycopg.Connection, namespace: Namespace, said: Iterator[Said]) -> None:
    tenant = namespace.tenant_id
    turns = namespace.messages // 2
    owner.execute("INSERT INTO tenants (tenant_id, name) VALUES (%s, %s)", (tenant, tenant))
    owner.execute(
        "INSERT INTO namespaces (tenant_id, namespace, turn_count) VALUES (%s, %s, %s)",
        (tenant, namespace.name, turns),
    )
    copy_rows(
        owner,
        "threads",
        "tenant_id namespace thread_id turn_count",
        (
            (tenant, namespace.name, f"t{number}", min(200, turns - 200 * number))
            for number in range((turns + 199) // 200)
        ),
    )
    while batch := [one for one, _ in zip(said, range(_BATCH), strict=False)]:
        _load_batch(owner, namespace, batch)


def _load_batch(owner: psycopg.Connection, namespace: Namespace, batch: Sequence[Said]) -> None:
    tenant, name = namespace.tenant_id, namespace.name
    copy_rows(
        owner,
        "turns",
        "tenant_id turn_id namespace thread_id sequence namespace_turn occurred_at zone time_basis",
        (
            (tenant, m.turn_id, name, m.thread_id, m.turn, _namespace_turn(m), m.at, "UTC", "given")
            for m in batch
            if m.position == 0
        ),
    )
    copy_rows(
        owner,
        "messages",
        "tenant_id message_id namespace thread_id turn_id turn_sequence position role content "
        "occurred_at zone",
        (
            (
                tenant,
                m.message_id,
                name,
                m.thread_id,
                m.turn_id,
                m.turn,
                m.position,
                "assistant" if m.position else "user",
                m.content,
                m.at,
                "UTC",
            )
            for m in batch
        ),
    )
    documents = (document_of(m.message_id, m.thread_id, m.at, m) for m in batch)
    copy_documents_in(owner, namespace, DocumentKind.MESSAGE, documents, version="")


def document_of(name: str, thread_id: str, at: datetime, said: Said) -> SearchDocument:
    """Return the search document of a message, as ingest writes it."""
    return SearchDocument(name, thread_id, at, said.frequencies)


def _namespace_turn(said: Said) -> int:
    return int(said.thread_id[1:]) * 200 + said.turn
