"""Erasures, the keys of their hashes, and what marks that something was erased."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, LargeBinary, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from shared.store.tables.base import (
    created_at,
    instant,
    json_object,
    metadata,
    required_text,
    tenant_key,
)

erasures = Table(
    "erasures",
    metadata,
    tenant_key(),
    Column("erasure_id", Text, primary_key=True),
    # Named without a foreign key: the row outlives its namespace.
    required_text("namespace"),
    required_text("kind"),
    # What was asked for, in the caller's words; gone once the erasure is done.
    Column("selector", Text),
    required_text("selector_hash"),
    Column("state", Text, nullable=False, server_default="running"),
    Column("job_id", Text),
    Column("key_id", Text),
    json_object("counts"),
    # Where a killed erasure goes on, with the words to search for; gone once it is done.
    json_object("progress"),
    Column("certificate", JSONB),
    created_at(),
    instant("finished_at", nullable=True),
    CheckConstraint(
        "kind IN ('turn', 'thread', 'label', 'event', 'namespace', 'retention')", name="kind"
    ),
    CheckConstraint("state IN ('running', 'done')", name="state"),
    CheckConstraint("(state = 'done') = (finished_at IS NOT NULL)", name="done"),
    CheckConstraint("state = 'running' OR selector IS NULL", name="forgotten"),
    Index("ix_erasures_selector", "tenant_id", "namespace", "selector_hash"),
)

# Read by the database's own functions alone; the app role is given hashes, never the key.
erasure_keys = Table(
    "erasure_keys",
    metadata,
    tenant_key(),
    Column("inner_pad", LargeBinary, nullable=False),
    Column("outer_pad", LargeBinary, nullable=False),
    created_at(),
)

# What was erased, as keyed hashes of ids and receipts: it can be recognised, not read.
tombstones = Table(
    "tombstones",
    metadata,
    tenant_key(),
    Column("kind", Text, primary_key=True),
    Column("hash", Text, primary_key=True),
    required_text("erasure_id"),
    created_at(),
    Index("ix_tombstones_erasure", "tenant_id", "erasure_id", "kind", "hash"),
)
