"""Search documents, what is packed of them by term, and what still waits to be packed.

A document's row holds its own terms, so that it can be scored, copied and taken out without its
text; `search_postings` holds the same by term, many documents a row. Equality alone finds both.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import ARRAY

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
    # Names namespace, kind and version together; see search_keys.
    Column("corpus", BigInteger, nullable=False),
    # What postings call the document.
    Column("number", BigInteger, Identity(always=False), nullable=False),
    required_text("thread_id"),
    # Number of terms, weights counted in: the length of BM25.
    Column("length", Integer, nullable=False),
    instant("at"),
    # Hashes of the terms, and beside each how often it occurs, one byte a term.
    Column("terms", ARRAY(BigInteger), nullable=False),
    Column("frequencies", LargeBinary, nullable=False),
    belongs_to("namespaces", "namespace"),
    CheckConstraint("kind IN ('message', 'event', 'node')", name="kind"),
    Index("ix_search_documents_number", "tenant_id", "number", unique=True),
)

search_corpora = Table(
    "search_corpora",
    metadata,
    tenant_key(),
    Column("corpus", BigInteger, primary_key=True),
    required_text("namespace"),
    required_text("kind"),
    required_text("version"),
    # How many documents are packed, and their lengths together.
    Column("documents", BigInteger, nullable=False),
    Column("total_length", BigInteger, nullable=False),
    belongs_to("namespaces", "namespace"),
    Index("ix_search_corpora_namespace", "tenant_id", "namespace"),
)

search_postings = Table(
    "search_postings",
    metadata,
    tenant_key(),
    Column("corpus", BigInteger, primary_key=True),
    Column("term", BigInteger, primary_key=True),
    # A term's parts follow each other, and each holds a bounded number of documents.
    Column("part", Integer, primary_key=True),
    # How many documents the parts before this one hold: the last part tells the term's count.
    Column("before", Integer, nullable=False),
    Column("first_number", BigInteger, nullable=False),
    Column("last_number", BigInteger, nullable=False),
    # Number, frequency and length of a document in one; see search_keys.
    Column("postings", ARRAY(BigInteger), nullable=False),
)

# Append-only for writers, whatever their number: only packing takes rows away. Erasure walks the
# tables that refer to a namespace by name: this one comes after the documents, as deleting those
# leaves rows here.
search_waiting = Table(
    "search_waiting",
    metadata,
    tenant_key(),
    Column("corpus", BigInteger, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("is_removal", Boolean, primary_key=True),
    required_text("namespace"),
    # Of what was removed, for its row is gone.
    Column("length", Integer),
    Column("terms", ARRAY(BigInteger)),
    belongs_to("namespaces", "namespace"),
    Index("ix_search_waiting_namespace", "tenant_id", "namespace"),
)
