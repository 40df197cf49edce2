"""Imports of external memory: the text, its candidates with decisions, and what undoing needs."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.store.tables.base import (
    belongs_to,
    created_at,
    instant,
    json_list,
    json_object,
    metadata,
    required_text,
    tenant_key,
)

imports = Table(
    "imports",
    metadata,
    tenant_key(),
    Column("import_id", Text, primary_key=True),
    required_text("namespace"),
    # Whether one is failed, ready or waits for a person is told by its jobs and candidates.
    required_text("state"),
    required_text("source"),
    Column("top_k", SmallInteger, nullable=False),
    # What was sent, or its redacted view where the policy keeps no more (D27).
    required_text("content"),
    Column("is_recovered", Boolean, nullable=False, server_default="false"),
    # [{"index", "code"}]: items of the file that are no candidates.
    json_list("skipped"),
    # Set by the commit; no foreign key, so that an erasure may take the block and leave this.
    Column("source_block_id", Text),
    Column("source_thread_id", Text),
    # What the commit did: {"event_ids", "targets", "refused_links"}.
    json_object("effects"),
    required_text("key_id"),
    created_at(),
    instant("committed_at", nullable=True),
    instant("undone_at", nullable=True),
    belongs_to("namespaces", "namespace"),
    CheckConstraint(
        "state IN ('extracting', 'processing', 'decided', 'committed', 'undone')", name="state"
    ),
    CheckConstraint("source IN ('stratagate', 'mem0', 'recovered')", name="source"),
    CheckConstraint("top_k BETWEEN 1 AND 20", name="top_k"),
    CheckConstraint(
        "(state IN ('committed', 'undone')) = (committed_at IS NOT NULL)", name="committed_at"
    ),
    CheckConstraint("(state = 'undone') = (undone_at IS NOT NULL)", name="undone_at"),
    Index("ix_imports_namespace", "tenant_id", "namespace", "import_id"),
    # Row level security hides the source of an undone import by this.
    Index(
        "ix_imports_undone",
        "tenant_id",
        "source_thread_id",
        postgresql_where=text("state = 'undone'"),
    ),
)

import_candidates = Table(
    "import_candidates",
    metadata,
    tenant_key(),
    Column("import_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    # The candidate, redacted; in the keys of the format that it came in.
    json_object("candidate"),
    required_text("fingerprint"),
    # [{"event_id", "score", "status", "superseded_by"}]: what the decider was shown.
    json_list("matches"),
    # What was proposed or settled, what a person answered, and the event that came of it.
    Column("decision", JSONB(none_as_null=True)),
    Column("answer", JSONB(none_as_null=True)),
    Column("event_id", Text),
    instant("decided_at", nullable=True),
    belongs_to("imports", "import_id"),
)

# Records of the graph as they were before an import's events were folded into them; null: new.
import_graph_changes = Table(
    "import_graph_changes",
    metadata,
    tenant_key(),
    Column("import_id", Text, primary_key=True),
    Column("record_id", Text, primary_key=True),
    Column("before", JSONB(none_as_null=True)),
    belongs_to("imports", "import_id"),
)
