"""Sealed blocks, their layers, states and summaries."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE blocks (
        tenant_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        sequence BIGINT NOT NULL,
        start_turn BIGINT NOT NULL,
        end_turn BIGINT NOT NULL,
        formed_turn BIGINT NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_blocks PRIMARY KEY (tenant_id, block_id),
        CONSTRAINT fk_blocks_tenant_id_namespace_thread_id FOREIGN KEY(tenant_id, namespace,
            thread_id) REFERENCES threads (tenant_id, namespace, thread_id),
        CONSTRAINT uq_blocks_tenant_id_namespace_thread_id_start_turn UNIQUE (tenant_id,
            namespace, thread_id, start_turn),
        CONSTRAINT uq_blocks_tenant_id_namespace_sequence UNIQUE (tenant_id, namespace, sequence),
        CONSTRAINT ck_blocks_turn_range CHECK (start_turn >= 1 AND end_turn >= start_turn)
    )
    """,
    """
    CREATE TABLE block_layers (
        tenant_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        level SMALLINT NOT NULL,
        content TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        CONSTRAINT pk_block_layers PRIMARY KEY (tenant_id, block_id, level),
        CONSTRAINT fk_block_layers_tenant_id_block_id FOREIGN KEY(tenant_id, block_id)
            REFERENCES blocks (tenant_id, block_id),
        CONSTRAINT ck_block_layers_level CHECK (level BETWEEN 3 AND 5)
    )
    """,
    """
    CREATE TABLE block_states (
        tenant_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        status TEXT DEFAULT 'pending' NOT NULL,
        anchor_level SMALLINT DEFAULT '5' NOT NULL,
        anchor_position INTEGER,
        lifted_at TIMESTAMP WITH TIME ZONE,
        lifted_by TEXT,
        ready_at TIMESTAMP WITH TIME ZONE,
        updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_block_states PRIMARY KEY (tenant_id, block_id),
        CONSTRAINT fk_block_states_tenant_id_block_id FOREIGN KEY(tenant_id, block_id)
            REFERENCES blocks (tenant_id, block_id),
        CONSTRAINT ck_block_states_status CHECK (status IN ('pending', 'ready')),
        CONSTRAINT ck_block_states_ready_at CHECK ((status = 'ready') = (ready_at IS NOT NULL)),
        CONSTRAINT ck_block_states_anchor CHECK ((status = 'ready') = (anchor_position IS NOT
            NULL)),
        CONSTRAINT ck_block_states_anchor_level CHECK (anchor_level BETWEEN 0 AND 5)
    )
    """,
    """
    CREATE TABLE block_summaries (
        tenant_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        derivation_version INTEGER NOT NULL,
        title TEXT NOT NULL,
        tags TEXT[] NOT NULL,
        summary TEXT NOT NULL,
        keypoints TEXT[] NOT NULL,
        should_extract BOOLEAN NOT NULL,
        job_id TEXT NOT NULL,
        prompt_version TEXT NOT NULL,
        model TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_block_summaries PRIMARY KEY (tenant_id, block_id, derivation_version),
        CONSTRAINT fk_block_summaries_tenant_id_block_id FOREIGN KEY(tenant_id, block_id)
            REFERENCES blocks (tenant_id, block_id)
    )
    """,
)

_INDEXES = (
    """
    CREATE INDEX ix_block_states_thread ON block_states (tenant_id, namespace, thread_id, status)
    """,
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "blocks": "SELECT, INSERT",
    "block_layers": "SELECT, INSERT",
    "block_states": "SELECT, INSERT, UPDATE",
    "block_summaries": "SELECT, INSERT, UPDATE",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
