"""Versions built beside the live one: their blocks, and the events carried over into them."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import protect

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE version_blocks (
        tenant_id TEXT NOT NULL,
        graph_version_id TEXT NOT NULL,
        block_id TEXT NOT NULL,
        done_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_version_blocks PRIMARY KEY (tenant_id, graph_version_id, block_id),
        CONSTRAINT fk_version_blocks_tenant_id_graph_version_id FOREIGN KEY(tenant_id,
            graph_version_id) REFERENCES graph_versions (tenant_id, graph_version_id),
        CONSTRAINT fk_version_blocks_tenant_id_block_id FOREIGN KEY(tenant_id, block_id)
            REFERENCES blocks (tenant_id, block_id)
    )
    """,
    """
    CREATE TABLE carried_events (
        tenant_id TEXT NOT NULL,
        derivation_version INTEGER NOT NULL,
        event_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        superseded_by TEXT,
        CONSTRAINT pk_carried_events PRIMARY KEY (tenant_id, event_id, derivation_version),
        CONSTRAINT fk_carried_events_tenant_id_event_id FOREIGN KEY(tenant_id, event_id)
            REFERENCES events (tenant_id, event_id)
    )
    """,
)

_INDEXES = (
    """
    CREATE INDEX ix_version_blocks_waiting ON version_blocks (tenant_id, graph_version_id) WHERE
        done_at IS NULL
    """,
    """
    CREATE INDEX ix_carried_events_version ON carried_events (tenant_id, namespace,
        derivation_version)
    """,
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "version_blocks": "SELECT, INSERT, UPDATE (done_at), DELETE",
    "carried_events": "SELECT, INSERT, UPDATE (superseded_by), DELETE",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
