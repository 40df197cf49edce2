"""External memory imports, and the wall that hides the source of an undone one."""

from __future__ import annotations

from typing import Any

from alembic import context, op

from shared.store.row_security import protect

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE imports (
        tenant_id TEXT NOT NULL,
        import_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        state TEXT NOT NULL,
        source TEXT NOT NULL,
        top_k SMALLINT NOT NULL,
        content TEXT NOT NULL,
        is_recovered BOOLEAN DEFAULT 'false' NOT NULL,
        skipped JSONB DEFAULT '[]'::jsonb NOT NULL,
        source_block_id TEXT,
        source_thread_id TEXT,
        effects JSONB DEFAULT '{}'::jsonb NOT NULL,
        key_id TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        committed_at TIMESTAMP WITH TIME ZONE,
        undone_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_imports PRIMARY KEY (tenant_id, import_id),
        CONSTRAINT fk_imports_tenant_id_namespace FOREIGN KEY(tenant_id, namespace)
            REFERENCES namespaces (tenant_id, namespace),
        CONSTRAINT ck_imports_state CHECK (state IN ('extracting', 'processing', 'decided',
            'committed', 'undone')),
        CONSTRAINT ck_imports_source CHECK (source IN ('stratagate', 'mem0', 'recovered')),
        CONSTRAINT ck_imports_top_k CHECK (top_k BETWEEN 1 AND 20),
        CONSTRAINT ck_imports_committed_at CHECK ((state IN ('committed', 'undone')) =
            (committed_at IS NOT NULL)),
        CONSTRAINT ck_imports_undone_at CHECK ((state = 'undone') = (undone_at IS NOT NULL))
    )
    """,
    """
    CREATE TABLE import_candidates (
        tenant_id TEXT NOT NULL,
        import_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        candidate JSONB DEFAULT '{}'::jsonb NOT NULL,
        fingerprint TEXT NOT NULL,
        matches JSONB DEFAULT '[]'::jsonb NOT NULL,
        decision JSONB,
        answer JSONB,
        event_id TEXT,
        decided_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_import_candidates PRIMARY KEY (tenant_id, import_id, position),
        CONSTRAINT fk_import_candidates_tenant_id_import_id FOREIGN KEY(tenant_id, import_id)
            REFERENCES imports (tenant_id, import_id)
    )
    """,
    """
    CREATE TABLE import_graph_changes (
        tenant_id TEXT NOT NULL,
        import_id TEXT NOT NULL,
        record_id TEXT NOT NULL,
        before JSONB,
        CONSTRAINT pk_import_graph_changes PRIMARY KEY (tenant_id, import_id, record_id),
        CONSTRAINT fk_import_graph_changes_tenant_id_import_id FOREIGN KEY(tenant_id, import_id)
            REFERENCES imports (tenant_id, import_id)
    )
    """,
)

_INDEXES = (
    "CREATE INDEX ix_imports_namespace ON imports (tenant_id, namespace, import_id)",
    """
    CREATE INDEX ix_imports_undone ON imports (tenant_id, source_thread_id)
        WHERE state = 'undone'
    """,
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "imports": (
        "SELECT, INSERT, UPDATE (state, source, is_recovered, skipped, source_block_id, "
        "source_thread_id, effects, committed_at, undone_at)"
    ),
    "import_candidates": (
        "SELECT, INSERT, UPDATE (matches, decision, answer, event_id, decided_at)"
    ),
    "import_graph_changes": "SELECT, INSERT, DELETE",
}

# Where the source of an import and what was drawn from it stand. Their rows stay when it is
# undone; one rule where the rows are keeps them out of every list, search, context and count.
_HIDDEN = (
    "threads",
    "turns",
    "messages",
    "message_vectors",
    "blocks",
    "block_states",
    "events",
    "event_vectors",
)
# The name is tested first: ordinary threads never pay for the look-up.
_NOT_UNDONE = """
    CREATE POLICY not_undone ON {table} AS RESTRICTIVE FOR SELECT TO "{role}" USING (
        NOT starts_with(thread_id, 'external-import:')
        OR current_setting('app.undone', true) = 'shown'
        OR NOT EXISTS (SELECT FROM imports AS i
                       WHERE i.tenant_id = {table}.tenant_id
                         AND i.source_thread_id = {table}.thread_id AND i.state = 'undone')
    )
"""


def upgrade() -> None:
    """Create the tables under forced row level security, then hide what an undo takes back."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    for table in _HIDDEN:
        op.execute(_NOT_UNDONE.format(table=table, role=_app_role()))


def _app_role() -> Any:
    return context.config.attributes["app_role"]
