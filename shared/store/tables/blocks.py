"""Sealed blocks: an append-only row and its L3-L5, and beside them what may still change."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from shared.store.tables.base import (
    NOW,
    belongs_to,
    created_at,
    instant,
    metadata,
    required_text,
    tenant_key,
)

blocks = Table(
    "blocks",
    metadata,
    tenant_key(),
    Column("block_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("thread_id"),
    # Counts the blocks of the namespace, from 1.
    Column("sequence", BigInteger, nullable=False),
    Column("start_turn", BigInteger, nullable=False),
    Column("end_turn", BigInteger, nullable=False),
    # The namespace turn at which the block's last turn was committed (D4).
    Column("formed_turn", BigInteger, nullable=False),
    instant("started_at"),
    instant("ended_at"),
    created_at(),
    belongs_to("threads", "namespace", "thread_id"),
    UniqueConstraint("tenant_id", "namespace", "thread_id", "start_turn"),
    UniqueConstraint("tenant_id", "namespace", "sequence"),
    CheckConstraint("start_turn >= 1 AND end_turn >= start_turn", name="turn_range"),
)

block_layers = Table(
    "block_layers",
    metadata,
    tenant_key(),
    Column("block_id", Text, primary_key=True),
    Column("level", SmallInteger, primary_key=True),
    required_text("content"),
    Column("tokens", Integer, nullable=False),
    belongs_to("blocks", "block_id"),
    CheckConstraint("level BETWEEN 3 AND 5", name="level"),
)

PENDING = text("status = 'pending'")
"""Which blocks wait for their events; the words of the index, as only they let it be used."""

block_states = Table(
    "block_states",
    metadata,
    tenant_key(),
    Column("block_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("thread_id"),
    # Whether an unready block is pending or failed is told by its jobs, not stored twice.
    Column("status", Text, nullable=False, server_default="pending"),
    # Position among the thread's ready blocks at which it was anchored; a lift moves it.
    Column("anchor_level", SmallInteger, nullable=False, server_default="5"),
    Column("anchor_position", Integer),
    instant("lifted_at", nullable=True),
    Column("lifted_by", Text),
    instant("ready_at", nullable=True),
    instant("updated_at", server_default=NOW),
    belongs_to("blocks", "block_id"),
    CheckConstraint("status IN ('pending', 'ready')", name="status"),
    CheckConstraint("(status = 'ready') = (ready_at IS NOT NULL)", name="ready_at"),
    CheckConstraint("(status = 'ready') = (anchor_position IS NOT NULL)", name="anchor"),
    CheckConstraint("anchor_level BETWEEN 0 AND 5", name="anchor_level"),
    Index("ix_block_states_thread", "tenant_id", "namespace", "thread_id", "status"),
    Index(
        "ix_block_states_pending",
        "tenant_id",
        "namespace",
        "block_id",
        postgresql_where=PENDING,
    ),
)

block_summaries = Table(
    "block_summaries",
    metadata,
    tenant_key(),
    Column("block_id", Text, primary_key=True),
    Column("derivation_version", Integer, primary_key=True),
    required_text("title"),
    Column("tags", ARRAY(Text), nullable=False),
    required_text("summary"),
    Column("keypoints", ARRAY(Text), nullable=False),
    Column("should_extract", Boolean, nullable=False),
    # Which job wrote it; no foreign key, since final jobs are pruned.
    required_text("job_id"),
    required_text("prompt_version"),
    required_text("model"),
    created_at(),
    belongs_to("blocks", "block_id"),
)
