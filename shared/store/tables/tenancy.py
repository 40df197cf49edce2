"""Tenants, keys, namespaces, threads and the audit log."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import ARRAY

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

tenants = Table(
    "tenants",
    metadata,
    tenant_key(),
    required_text("name"),
    json_object("policy"),
    # Set by the operator alone: the app role may read them.
    json_object("limits"),
    created_at(),
)

api_keys = Table(
    "api_keys",
    metadata,
    tenant_key(),
    Column("key_id", Text, primary_key=True),
    Column("key_hash", LargeBinary, nullable=False, unique=True),
    required_text("label"),
    Column("permissions", ARRAY(Text), nullable=False),
    Column("namespaces", ARRAY(Text)),
    created_at(),
    instant("expires_at", nullable=True),
    instant("revoked_at", nullable=True),
    # The secret before the last rotation, good until its overlap ends.
    Column("previous_key_hash", LargeBinary, unique=True),
    instant("previous_until", nullable=True),
    instant("rotated_at", nullable=True),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"]),
)

namespaces = Table(
    "namespaces",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    json_object("policy"),
    # The clock of event weights (D4): one count over all threads, locked last and shortest.
    Column("turn_count", BigInteger, nullable=False, server_default="0"),
    Column("block_count", BigInteger, nullable=False, server_default="0"),
    Column("revision", BigInteger, nullable=False, server_default="0"),
    # Turns and blocks that the counters above still count, though they were erased.
    Column("erased_turn_count", BigInteger, nullable=False, server_default="0"),
    Column("erased_block_count", BigInteger, nullable=False, server_default="0"),
    Column("derivation_version", Integer, nullable=False, server_default="1"),
    Column("graph_version_id", Text),
    created_at(),
    # What quotas count, kept where a turn writes anyway: turns of one UTC day, and bytes.
    Column("counted_day", Date),
    Column("day_turns", BigInteger, nullable=False, server_default="0"),
    Column("stored_bytes", BigInteger, nullable=False, server_default="0"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"]),
)

threads = Table(
    "threads",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    Column("thread_id", Text, primary_key=True),
    Column("turn_count", BigInteger, nullable=False, server_default="0"),
    Column("sealed_turn_count", BigInteger, nullable=False, server_default="0"),
    Column("block_count", Integer, nullable=False, server_default="0"),
    Column("ready_count", Integer, nullable=False, server_default="0"),
    # Turns that `turn_count` still counts, and blocks that left a gap, since they were erased.
    Column("erased_turn_count", BigInteger, nullable=False, server_default="0"),
    Column("erased_block_count", BigInteger, nullable=False, server_default="0"),
    created_at(),
    instant("last_turn_at", nullable=True),
    belongs_to("namespaces", "namespace"),
)

request_allowances = Table(
    "request_allowances",
    metadata,
    tenant_key(),
    Column("tokens", Double, nullable=False),
    instant("refilled_at", server_default=NOW),
)

audit_log = Table(
    "audit_log",
    metadata,
    tenant_key(),
    Column("audit_id", Text, primary_key=True),
    Column("namespace", Text),
    Column("key_id", Text),
    required_text("action"),
    Column("subject", Text),
    json_object("detail"),
    created_at(),
    Index("ix_audit_log_tenant_id_subject", "tenant_id", "subject"),
)
