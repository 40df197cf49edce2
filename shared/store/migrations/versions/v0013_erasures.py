"""Erasures with their tombstones, and the one function through which source text is deleted.

Whatever table names an erased row by foreign key loses its rows too, so that a table which comes
later cannot keep what was erased.
"""

from __future__ import annotations

from alembic import context, op

from shared.store.migrations.erasure_functions import CALLERS, FUNCTIONS
from shared.store.row_security import protect

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE erasures (
        tenant_id TEXT NOT NULL,
        erasure_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        selector TEXT,
        selector_hash TEXT NOT NULL,
        state TEXT DEFAULT 'running' NOT NULL,
        job_id TEXT,
        key_id TEXT,
        counts JSONB DEFAULT '{}'::jsonb NOT NULL,
        progress JSONB DEFAULT '{}'::jsonb NOT NULL,
        certificate JSONB,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        finished_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_erasures PRIMARY KEY (tenant_id, erasure_id),
        CONSTRAINT ck_erasures_kind CHECK (kind IN ('turn', 'thread', 'label', 'event',
            'namespace', 'retention')),
        CONSTRAINT ck_erasures_state CHECK (state IN ('running', 'done')),
        CONSTRAINT ck_erasures_done CHECK ((state = 'done') = (finished_at IS NOT NULL)),
        CONSTRAINT ck_erasures_forgotten CHECK (state = 'running' OR selector IS NULL)
    )
    """,
    """
    CREATE TABLE erasure_keys (
        tenant_id TEXT NOT NULL,
        inner_pad BYTEA NOT NULL,
        outer_pad BYTEA NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_erasure_keys PRIMARY KEY (tenant_id)
    )
    """,
    """
    CREATE TABLE tombstones (
        tenant_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        hash TEXT NOT NULL,
        erasure_id TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_tombstones PRIMARY KEY (tenant_id, kind, hash)
    )
    """,
    "ALTER TABLE threads ADD erased_turn_count BIGINT DEFAULT '0' NOT NULL",
    "ALTER TABLE threads ADD erased_block_count BIGINT DEFAULT '0' NOT NULL",
    "ALTER TABLE namespaces ADD erased_turn_count BIGINT DEFAULT '0' NOT NULL",
    "ALTER TABLE namespaces ADD erased_block_count BIGINT DEFAULT '0' NOT NULL",
    # The erasure of a namespace ends as a job of a namespace that is no more.
    "ALTER TABLE jobs DROP CONSTRAINT fk_jobs_tenant_id_namespace",
)

_INDEXES = (
    "CREATE INDEX ix_erasures_selector ON erasures (tenant_id, namespace, selector_hash)",
    "CREATE INDEX ix_tombstones_erasure ON tombstones (tenant_id, erasure_id, kind, hash)",
    # What a deletion's foreign keys ask for.
    "CREATE INDEX ix_messages_turn ON messages (tenant_id, turn_id)",
    "CREATE INDEX ix_use_receipts_batch ON use_receipts (tenant_id, batch_id)",
    "CREATE INDEX ix_use_receipts_assessment ON use_receipts (tenant_id, assessment_id)",
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "erasures": "SELECT, INSERT, UPDATE",
    "erasure_keys": "REFERENCES",
    "tombstones": "SELECT",
}


def upgrade() -> None:
    """Create the tables, the functions with their callers, and the guards of receipts."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    for function in FUNCTIONS:
        op.execute(function)
    for signature, role in CALLERS.items():
        op.execute(f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC")
        if role is not None:
            named = context.config.attributes[role]
            op.execute(f'GRANT EXECUTE ON FUNCTION {signature} TO "{named}"')
    for table in ("request_receipts", "use_receipts"):
        for moment in ("BEFORE", "AFTER"):
            op.execute(
                f"CREATE TRIGGER refuse_erased_{moment.lower()} {moment} INSERT ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION refuse_erased_receipt()"
            )
