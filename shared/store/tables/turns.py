"""Turns and messages, the source: the app role may insert and read them, nothing more."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
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

turns = Table(
    "turns",
    metadata,
    tenant_key(),
    Column("turn_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("thread_id"),
    # Counts the turns of the thread, from 1; block ranges are made of it.
    Column("sequence", BigInteger, nullable=False),
    # Counts the turns of the namespace, from 1; event weights are made of it (D4).
    Column("namespace_turn", BigInteger, nullable=False),
    Column("receipt_id", Text),
    instant("occurred_at"),
    required_text("zone"),
    required_text("time_basis"),
    Column("agent", JSONB),
    json_object("labels"),
    json_object("metadata"),
    created_at(),
    # Of its messages as stored, for the tenant's storage quota; given back when it is deleted.
    Column("size_bytes", BigInteger, nullable=False, server_default="0"),
    belongs_to("threads", "namespace", "thread_id"),
    UniqueConstraint("tenant_id", "namespace", "thread_id", "sequence"),
    UniqueConstraint("tenant_id", "namespace", "namespace_turn"),
    CheckConstraint("time_basis IN ('given', 'received')", name="time_basis"),
    # An answer that used evidence names its turn by this.
    Index("ix_turns_receipt", "tenant_id", "namespace", "receipt_id"),
)

messages = Table(
    "messages",
    metadata,
    tenant_key(),
    Column("message_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("thread_id"),
    required_text("turn_id"),
    Column("turn_sequence", BigInteger, nullable=False),
    Column("position", Integer, nullable=False),
    required_text("role"),
    Column("name", Text),
    Column("origin", Text),
    # What was sent, kept whole; readers and models see the redacted view beside it (D38).
    required_text("content"),
    Column("redacted_content", Text),
    json_list("tool_calls"),
    Column("redacted_tool_calls", JSONB),
    Column("tool_call_id", Text),
    instant("occurred_at"),
    required_text("zone"),
    json_object("metadata"),
    belongs_to("turns", "turn_id"),
    UniqueConstraint("tenant_id", "namespace", "thread_id", "turn_sequence", "position"),
    CheckConstraint("role IN ('user', 'assistant', 'tool', 'system')", name="role"),
    # An erasure deletes by turn, and the foreign key asks for each.
    Index("ix_messages_turn", "tenant_id", "turn_id"),
)

request_receipts = Table(
    "request_receipts",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("receipt_id", Text, primary_key=True),
    # Hash of the canonical request before redaction (D42).
    required_text("request_hash"),
    Column("answer", JSONB),
    created_at(),
    instant("erased_at", nullable=True),
)
