"""Tenants, keys, namespaces, threads and the audit log."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import create_key_lookup, protect

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE tenants (
        tenant_id TEXT NOT NULL,
        name TEXT NOT NULL,
        policy JSONB DEFAULT '{}'::jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_tenants PRIMARY KEY (tenant_id)
    )
    """,
    """
    CREATE TABLE api_keys (
        tenant_id TEXT NOT NULL,
        key_id TEXT NOT NULL,
        key_hash BYTEA NOT NULL,
        label TEXT NOT NULL,
        permissions TEXT[] NOT NULL,
        namespaces TEXT[],
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE,
        revoked_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_api_keys PRIMARY KEY (tenant_id, key_id),
        CONSTRAINT fk_api_keys_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (tenant_id),
        CONSTRAINT uq_api_keys_key_hash UNIQUE (key_hash)
    )
    """,
    """
    CREATE TABLE namespaces (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        policy JSONB DEFAULT '{}'::jsonb NOT NULL,
        turn_count BIGINT DEFAULT '0' NOT NULL,
        block_count BIGINT DEFAULT '0' NOT NULL,
        revision BIGINT DEFAULT '0' NOT NULL,
        derivation_version INTEGER DEFAULT '1' NOT NULL,
        graph_version_id TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_namespaces PRIMARY KEY (tenant_id, namespace),
        CONSTRAINT fk_namespaces_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (tenant_id)
    )
    """,
    """
    CREATE TABLE threads (
        tenant_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        turn_count BIGINT DEFAULT '0' NOT NULL,
        sealed_turn_count BIGINT DEFAULT '0' NOT NULL,
        block_count INTEGER DEFAULT '0' NOT NULL,
        ready_count INTEGER DEFAULT '0' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        last_turn_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_threads PRIMARY KEY (tenant_id, namespace, thread_id),
        CONSTRAINT fk_threads_tenant_id_namespace FOREIGN KEY(tenant_id, namespace) REFERENCES
            namespaces (tenant_id, namespace)
    )
    """,
    """
    CREATE TABLE audit_log (
        tenant_id TEXT NOT NULL,
        audit_id TEXT NOT NULL,
        namespace TEXT,
        key_id TEXT,
        action TEXT NOT NULL,
        subject TEXT,
        detail JSONB DEFAULT '{}'::jsonb NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_audit_log PRIMARY KEY (tenant_id, audit_id)
    )
    """,
)

_INDEXES = ("CREATE INDEX ix_audit_log_tenant_id_subject ON audit_log (tenant_id, subject)",)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "tenants": "SELECT",
    "api_keys": "SELECT, INSERT, UPDATE (expires_at, revoked_at)",
    "namespaces": "SELECT, INSERT, UPDATE",
    "threads": "SELECT, INSERT, UPDATE",
    "audit_log": "SELECT, INSERT",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    create_key_lookup()
