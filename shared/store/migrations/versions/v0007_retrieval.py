"""Batches, assessments and use receipts."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE batches (
        tenant_id TEXT NOT NULL,
        batch_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT,
        key_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        query TEXT,
        request JSONB DEFAULT '{}'::jsonb NOT NULL,
        state TEXT DEFAULT 'open' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_batches PRIMARY KEY (tenant_id, batch_id),
        CONSTRAINT fk_batches_tenant_id_namespace FOREIGN KEY(tenant_id, namespace) REFERENCES
            namespaces (tenant_id, namespace),
        CONSTRAINT ck_batches_state CHECK (state IN ('open', 'assessed', 'recorded'))
    )
    """,
    """
    CREATE TABLE batch_items (
        tenant_id TEXT NOT NULL,
        batch_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        evidence_ref TEXT NOT NULL,
        event_ids TEXT[] NOT NULL,
        rank_score DOUBLE PRECISION,
        CONSTRAINT pk_batch_items PRIMARY KEY (tenant_id, batch_id, position),
        CONSTRAINT fk_batch_items_tenant_id_batch_id FOREIGN KEY(tenant_id, batch_id) REFERENCES
            batches (tenant_id, batch_id),
        CONSTRAINT uq_batch_items_tenant_id_batch_id_evidence_ref UNIQUE (tenant_id, batch_id,
            evidence_ref)
    )
    """,
    """
    CREATE TABLE assessments (
        tenant_id TEXT NOT NULL,
        assessment_id TEXT NOT NULL,
        batch_id TEXT NOT NULL,
        verdict TEXT NOT NULL,
        evidence_refs TEXT[] NOT NULL,
        rejected_evidence_refs JSONB DEFAULT '[]'::jsonb NOT NULL,
        fit TEXT NOT NULL,
        missing TEXT NOT NULL,
        next_strategy TEXT NOT NULL,
        question TEXT,
        advisories JSONB DEFAULT '[]'::jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_assessments PRIMARY KEY (tenant_id, assessment_id),
        CONSTRAINT fk_assessments_tenant_id_batch_id FOREIGN KEY(tenant_id, batch_id) REFERENCES
            batches (tenant_id, batch_id),
        CONSTRAINT ck_assessments_verdict CHECK (verdict IN ('sufficient', 'partial', 'wrong'))
    )
    """,
    """
    CREATE TABLE use_receipts (
        tenant_id TEXT NOT NULL,
        use_receipt_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        receipt_id TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        batch_id TEXT NOT NULL,
        assessment_id TEXT,
        evidence_refs TEXT[] NOT NULL,
        answer JSONB NOT NULL,
        audit JSONB NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_use_receipts PRIMARY KEY (tenant_id, use_receipt_id),
        CONSTRAINT fk_use_receipts_tenant_id_batch_id FOREIGN KEY(tenant_id, batch_id)
            REFERENCES batches (tenant_id, batch_id),
        CONSTRAINT fk_use_receipts_tenant_id_assessment_id FOREIGN KEY(tenant_id, assessment_id)
            REFERENCES assessments (tenant_id, assessment_id),
        CONSTRAINT uq_use_receipts_tenant_id_namespace_receipt_id UNIQUE (tenant_id, namespace,
            receipt_id)
    )
    """,
    """
    CREATE TABLE use_receipt_events (
        tenant_id TEXT NOT NULL,
        use_receipt_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        reinforced BOOLEAN NOT NULL,
        CONSTRAINT pk_use_receipt_events PRIMARY KEY (tenant_id, use_receipt_id, event_id),
        CONSTRAINT fk_use_receipt_events_tenant_id_use_receipt_id FOREIGN KEY(tenant_id,
            use_receipt_id) REFERENCES use_receipts (tenant_id, use_receipt_id),
        CONSTRAINT fk_use_receipt_events_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
)

_INDEXES = (
    "CREATE INDEX ix_batches_key ON batches (tenant_id, key_id, batch_id)",
    "CREATE INDEX ix_batches_thread ON batches (tenant_id, namespace, thread_id, batch_id)",
    "CREATE INDEX ix_assessments_batch ON assessments (tenant_id, batch_id, assessment_id)",
    "CREATE INDEX ix_use_receipt_events_event ON use_receipt_events (tenant_id, event_id)",
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "batches": "SELECT, INSERT, UPDATE (state)",
    "batch_items": "SELECT, INSERT",
    "assessments": "SELECT, INSERT",
    "use_receipts": "SELECT, INSERT",
    "use_receipt_events": "SELECT, INSERT",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
