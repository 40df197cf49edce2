"""Conflicts between two events, as people see and settle them."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from shared.store.tables.base import created_at, instant, metadata, required_text, tenant_key

# One row a pair, written by a trigger with the link that says it. The events are named without a
# foreign key: the row outlives them, so that a conflict whose event was erased tells why it ended.
conflicts = Table(
    "conflicts",
    metadata,
    tenant_key(),
    Column("conflict_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("event_id"),
    required_text("other_event_id"),
    # What a person decided, null while nobody did; why, the audit log alone tells.
    Column("decision", Text),
    Column("kept_event_id", Text),
    Column("decided_by", Text),
    instant("decided_at", nullable=True),
    # Counts decisions and their withdrawal.
    Column("revision", Integer, nullable=False, server_default="0"),
    created_at(),
    ForeignKeyConstraint(
        ["tenant_id", "namespace"],
        ["namespaces.tenant_id", "namespaces.namespace"],
        ondelete="CASCADE",
    ),
    UniqueConstraint("tenant_id", "event_id", "other_event_id"),
    CheckConstraint("decision IN ('one', 'both')", name="decision"),
    CheckConstraint("(decision = 'one') = (kept_event_id IS NOT NULL)", name="kept"),
    CheckConstraint("(decision IS NULL) = (decided_at IS NULL)", name="decided"),
    CheckConstraint("event_id < other_event_id", name="ordered"),
    Index("ix_conflicts_namespace", "tenant_id", "namespace", "conflict_id"),
)
