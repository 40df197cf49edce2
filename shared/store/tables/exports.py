"""Exports of a namespace, the chunks of their bundles, and where a restored one came from."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Integer, LargeBinary, Table, Text

from shared.store.tables.base import (
    belongs_to,
    created_at,
    instant,
    json_object,
    metadata,
    required_text,
    tenant_key,
)

exports = Table(
    "exports",
    metadata,
    tenant_key(),
    Column("export_id", Text, primary_key=True),
    required_text("namespace"),
    # `withdrawn`: something that the bundle holds was erased since.
    Column("state", Text, nullable=False, server_default="running"),
    Column("job_id", Text),
    Column("key_id", Text),
    json_object("counts"),
    Column("size_bytes", BigInteger, nullable=False, server_default="0"),
    Column("sha256", Text),
    created_at(),
    instant("finished_at", nullable=True),
    instant("expires_at", nullable=True),
    belongs_to("namespaces", "namespace"),
    CheckConstraint("state IN ('running', 'done', 'expired', 'withdrawn')", name="state"),
    CheckConstraint(
        "state <> 'done' OR (sha256 IS NOT NULL AND finished_at IS NOT NULL "
        "AND expires_at IS NOT NULL)",
        name="done",
    ),
    Index("ix_exports_namespace", "tenant_id", "namespace", "export_id"),
)

export_chunks = Table(
    "export_chunks",
    metadata,
    tenant_key(),
    Column("export_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    belongs_to("exports", "export_id"),
)

# A restored namespace also knows the receipts that were erased where its bundle came from.
receipt_origins = Table(
    "receipt_origins",
    metadata,
    tenant_key(),
    Column("namespace", Text, primary_key=True),
    Column("origin", Text, primary_key=True),
    belongs_to("namespaces", "namespace"),
)
