"""Plans: what the planner must know, and two indexes, so that no search walks a namespace."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# A tenant's namespace is not a tenant times a namespace: taken as independent, the two leave less
# than a row, and a plan made for any parameters then walks the namespace instead of using the key.
_TOGETHER = {
    "turns": "tenant_id, namespace, thread_id",
    "messages": "tenant_id, namespace, thread_id",
    "blocks": "tenant_id, namespace, thread_id",
    "block_states": "tenant_id, namespace, thread_id",
    "events": "tenant_id, namespace, thread_id",
    "nodes": "tenant_id, graph_version_id, namespace",
    "jobs": "tenant_id, namespace",
    "search_documents": "tenant_id, corpus, namespace",
    "search_postings": "tenant_id, corpus",
}


def upgrade() -> None:
    """Let columns that go together be counted together; index what waits and what lasts."""
    for table, columns in _TOGETHER.items():
        op.execute(f"CREATE STATISTICS st_{table}_tenancy (dependencies) ON {columns} FROM {table}")
    op.execute(
        "CREATE INDEX ix_block_states_pending ON block_states (tenant_id, namespace, block_id) "
        "WHERE status = 'pending'"
    )
    op.execute(
        "CREATE INDEX ix_events_lasting ON events (tenant_id, namespace, event_id) "
        "WHERE pinned OR criticality = 'safety'"
    )
    # Counted together only once analysed; an empty database is left to the upkeep of Postgres.
    for table in _TOGETHER:
        op.execute(
            f"DO $$ BEGIN IF pg_relation_size('{table}') > 0 THEN ANALYZE {table}; END IF; END $$"
        )
