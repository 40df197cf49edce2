"""Batches, assessments and use receipts: what was shown, judged and really used."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

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

batches = Table(
    "batches",
    metadata,
    tenant_key(),
    Column("batch_id", Text, primary_key=True),
    required_text("namespace"),
    Column("thread_id", Text),
    required_text("key_id"),
    required_text("tool"),
    Column("query", Text),
    json_object("request"),
    Column("state", Text, nullable=False, server_default="open"),
    created_at(),
    instant("expires_at"),
    belongs_to("namespaces", "namespace"),
    CheckConstraint("state IN ('open', 'assessed', 'recorded')", name="state"),
    Index("ix_batches_thread", "tenant_id", "namespace", "thread_id", "batch_id"),
    Index("ix_batches_key", "tenant_id", "key_id", "batch_id"),
)

batch_items = Table(
    "batch_items",
    metadata,
    tenant_key(),
    Column("batch_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    required_text("evidence_ref"),
    # The events that a use of this item reinforces; empty for raw and block references (D25).
    Column("event_ids", ARRAY(Text), nullable=False),
    Column("rank_score", Double),
    belongs_to("batches", "batch_id"),
    UniqueConstraint("tenant_id", "batch_id", "evidence_ref"),
)

assessments = Table(
    "assessments",
    metadata,
    tenant_key(),
    Column("assessment_id", Text, primary_key=True),
    required_text("batch_id"),
    required_text("verdict"),
    Column("evidence_refs", ARRAY(Text), nullable=False),
    json_list("rejected_evidence_refs"),
    required_text("fit"),
    required_text("missing"),
    required_text("next_strategy"),
    Column("question", Text),
    json_list("advisories"),
    created_at(),
    belongs_to("batches", "batch_id"),
    CheckConstraint("verdict IN ('sufficient', 'partial', 'wrong')", name="verdict"),
    Index("ix_assessments_batch", "tenant_id", "batch_id", "assessment_id"),
)

use_receipts = Table(
    "use_receipts",
    metadata,
    tenant_key(),
    Column("use_receipt_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("receipt_id"),
    required_text("request_hash"),
    required_text("batch_id"),
    Column("assessment_id", Text),
    Column("evidence_refs", ARRAY(Text), nullable=False),
    Column("answer", JSONB, nullable=False),
    # Facts for the audit, copied when it was used, so that expiry cannot take them (D32).
    Column("audit", JSONB, nullable=False),
    created_at(),
    belongs_to("batches", "batch_id"),
    belongs_to("assessments", "assessment_id"),
    UniqueConstraint("tenant_id", "namespace", "receipt_id"),
    Index("ix_use_receipts_namespace", "tenant_id", "namespace", "use_receipt_id"),
    Index("ix_use_receipts_batch", "tenant_id", "batch_id"),
    Index("ix_use_receipts_assessment", "tenant_id", "assessment_id"),
)

use_receipt_events = Table(
    "use_receipt_events",
    metadata,
    tenant_key(),
    Column("use_receipt_id", Text, primary_key=True),
    Column("event_id", Text, primary_key=True),
    Column("reinforced", Boolean, nullable=False),
    belongs_to("use_receipts", "use_receipt_id"),
    belongs_to("events", "event_id"),
    Index("ix_use_receipt_events_event", "tenant_id", "event_id"),
)
