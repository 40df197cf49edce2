"""Search documents and their postings: equality only, which row level security can push down.

A message's document holds its own terms; its neighbours' and events' are joined when asked.
"""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, Integer, Table, Text

from shared.store.tables.base import belongs_to, instant, metadata, required_text, tenant_key

search_documents = Table(
    "search_documents",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    # Which derivation of an event, which graph version of a node; '' for messages (D19).
    Column("version", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    required_text("thread_id"),
    # Number of terms, weights counted in: the length of BM25.
    Column("length", Integer, nullable=False),
    instant("at"),
    belongs_to("namespaces", "namespace"),
    CheckConstraint("kind IN ('message', 'event', 'node')", name="kind"),
)

search_postings = Table(
    "search_postings",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("term", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("frequency", Integer, nullable=False),
    belongs_to("search_documents", "namespace", "kind", "version", "document_id"),
    Index("ix_search_postings_document", "tenant_id", "document_id"),
)
