"""Turns, messages and the receipts of requests."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE turns (
        tenant_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        sequence BIGINT NOT NULL,
        namespace_turn BIGINT NOT NULL,
        receipt_id TEXT,
        occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
        zone TEXT NOT NULL,
        time_basis TEXT NOT NULL,
        agent JSONB,
        labels JSONB DEFAULT '{}'::jsonb NOT NULL,
        metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_turns PRIMARY KEY (tenant_id, turn_id),
        CONSTRAINT fk_turns_tenant_id_namespace_thread_id FOREIGN KEY(tenant_id, namespace,
            thread_id) REFERENCES threads (tenant_id, namespace, thread_id),
        CONSTRAINT uq_turns_tenant_id_namespace_thread_id_sequence UNIQUE (tenant_id, namespace,
            thread_id, sequence),
        CONSTRAINT uq_turns_tenant_id_namespace_namespace_turn UNIQUE (tenant_id, namespace,
            namespace_turn),
        CONSTRAINT ck_turns_time_basis CHECK (time_basis IN ('given', 'received'))
    )
    """,
    """
    CREATE TABLE messages (
        tenant_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        turn_sequence BIGINT NOT NULL,
        position INTEGER NOT NULL,
        role TEXT NOT NULL,
        name TEXT,
        origin TEXT,
        content TEXT NOT NULL,
        redacted_content TEXT,
        tool_calls JSONB DEFAULT '[]'::jsonb NOT NULL,
        redacted_tool_calls JSONB,
        tool_call_id TEXT,
        occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
        zone TEXT NOT NULL,
        metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
        CONSTRAINT pk_messages PRIMARY KEY (tenant_id, message_id),
        CONSTRAINT fk_messages_tenant_id_turn_id FOREIGN KEY(tenant_id, turn_id) REFERENCES
            turns (tenant_id, turn_id),
        CONSTRAINT uq_messages_tenant_id_namespace_thread_id_turn_sequence_19cb UNIQUE
            (tenant_id, namespace, thread_id, turn_sequence, position),
        CONSTRAINT ck_messages_role CHECK (role IN ('user', 'assistant', 'tool', 'system'))
    )
    """,
    """
    CREATE TABLE request_receipts (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        operation TEXT NOT NULL,
        receipt_id TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        answer JSONB,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        erased_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_request_receipts PRIMARY KEY (tenant_id, namespace, operation, receipt_id)
    )
    """,
)

_INDEXES = ()

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "turns": "SELECT, INSERT",
    "messages": "SELECT, INSERT",
    "request_receipts": "SELECT, INSERT, UPDATE (answer, erased_at)",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
