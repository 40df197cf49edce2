"""The knowledge graph: versioned, and every record names the events it rests on."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.store.tables.base import (
    NOW,
    belongs_to,
    created_at,
    instant,
    json_object,
    metadata,
    required_text,
    tenant_key,
)

_STATUS = "status IN ('active', 'superseded', 'disputed', 'archived')"
_STANCE = "stance IN ('asserted', 'contested', 'past')"

graph_versions = Table(
    "graph_versions",
    metadata,
    tenant_key(),
    Column("graph_version_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("state"),
    # The events that it rests on, and so which are read while it is live (D19).
    Column("derivation_version", Integer, nullable=False, server_default="1"),
    # What was asked for when it was begun beside the live one; empty for the first.
    json_object("request"),
    created_at(),
    instant("switched_at", nullable=True),
    belongs_to("namespaces", "namespace"),
    CheckConstraint("state IN ('live', 'shadow', 'retired', 'dropped')", name="state"),
)

nodes = Table(
    "nodes",
    metadata,
    tenant_key(),
    Column("node_id", Text, primary_key=True),
    required_text("graph_version_id"),
    required_text("namespace"),
    required_text("type"),
    required_text("name"),
    required_text("key"),
    required_text("status"),
    Column("confidence", Float, nullable=False),
    created_at(),
    instant("updated_at", server_default=NOW),
    belongs_to("graph_versions", "graph_version_id"),
    CheckConstraint(_STATUS, name="status"),
    CheckConstraint("type IN ('person', 'project', 'organization', 'tool', 'place')", name="type"),
    CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence"),
    UniqueConstraint("tenant_id", "graph_version_id", "type", "key"),
    Index("ix_nodes_updated", "tenant_id", "graph_version_id", "updated_at", "node_id"),
)

labels = Table(
    "labels",
    metadata,
    tenant_key(),
    Column("label_id", Text, primary_key=True),
    required_text("node_id"),
    required_text("kind"),
    required_text("value"),
    required_text("key"),
    created_at(),
    belongs_to("nodes", "node_id"),
    CheckConstraint("kind IN ('name', 'alias', 'tag')", name="kind"),
    UniqueConstraint("tenant_id", "node_id", "kind", "key"),
    Index("ix_labels_key", "tenant_id", "key"),
)

facts = Table(
    "facts",
    metadata,
    tenant_key(),
    Column("fact_id", Text, primary_key=True),
    required_text("node_id"),
    required_text("mode"),
    required_text("key"),
    # A string, or a list of strings.
    Column("value", JSONB, nullable=False),
    required_text("status"),
    required_text("stance"),
    # Validity time; `recorded_at` beside it is when it was learnt (D45).
    instant("valid_from", nullable=True),
    instant("valid_until", nullable=True),
    instant("recorded_at"),
    Column("confidence", Float, nullable=False),
    belongs_to("nodes", "node_id"),
    CheckConstraint(_STATUS, name="status"),
    CheckConstraint(_STANCE, name="stance"),
    CheckConstraint("mode IN ('state', 'set', 'relation')", name="mode"),
    CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence"),
    Index("ix_facts_node", "tenant_id", "node_id"),
)

edges = Table(
    "edges",
    metadata,
    tenant_key(),
    Column("edge_id", Text, primary_key=True),
    required_text("from_node_id"),
    required_text("to_node_id"),
    required_text("relation"),
    required_text("cardinality"),
    required_text("status"),
    # How it was put forward; unlike the status it never changes.
    required_text("stance"),
    instant("valid_from", nullable=True),
    instant("valid_until", nullable=True),
    instant("recorded_at"),
    Column("confidence", Float, nullable=False),
    belongs_to("nodes", "from_node_id", to=("node_id",)),
    belongs_to("nodes", "to_node_id", to=("node_id",)),
    CheckConstraint(_STATUS, name="status"),
    CheckConstraint(_STANCE, name="stance"),
    CheckConstraint("cardinality IN ('one', 'many')", name="cardinality"),
    CheckConstraint("confidence BETWEEN 0 AND 1", name="confidence"),
    CheckConstraint("from_node_id <> to_node_id", name="no_loop"),
    Index("ix_edges_from", "tenant_id", "from_node_id"),
    Index("ix_edges_to", "tenant_id", "to_node_id"),
)


def _sources(table: str, record: str) -> Table:
    """Return the table that ties one kind of graph record to the events it rests on."""
    column = f"{record}_id"
    return Table(
        f"{record}_sources",
        metadata,
        tenant_key(),
        Column(column, Text, primary_key=True),
        Column("event_id", Text, primary_key=True),
        belongs_to(table, column),
        belongs_to("events", "event_id"),
        Index(f"ix_{record}_sources_event", "tenant_id", "event_id"),
    )


node_sources = _sources("nodes", "node")
label_sources = _sources("labels", "label")
fact_sources = _sources("facts", "fact")
edge_sources = _sources("edges", "edge")
