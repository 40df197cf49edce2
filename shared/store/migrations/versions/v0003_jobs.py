"""The ledger of jobs and of model calls."""

from __future__ import annotations

from alembic import op

from shared.store.row_security import let_queue_role_in, protect

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLES = (
    """
    CREATE TABLE jobs (
        tenant_id TEXT NOT NULL,
        job_id TEXT NOT NULL,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        queue TEXT NOT NULL,
        priority SMALLINT DEFAULT '0' NOT NULL,
        state TEXT DEFAULT 'available' NOT NULL,
        attempt SMALLINT DEFAULT '0' NOT NULL,
        max_attempts SMALLINT DEFAULT '3' NOT NULL,
        scheduled_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        rung_at TIMESTAMP WITH TIME ZONE,
        lease_token TEXT,
        lease_until TIMESTAMP WITH TIME ZONE,
        reason TEXT,
        snoozed_s INTEGER DEFAULT '0' NOT NULL,
        payload JSONB DEFAULT '{}'::jsonb NOT NULL,
        errors JSONB DEFAULT '[]'::jsonb NOT NULL,
        rejections JSONB DEFAULT '[]'::jsonb NOT NULL,
        usage JSONB DEFAULT '{}'::jsonb NOT NULL,
        result JSONB DEFAULT '{}'::jsonb NOT NULL,
        prompt_version TEXT,
        model TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE,
        finalized_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_jobs PRIMARY KEY (tenant_id, job_id),
        CONSTRAINT fk_jobs_tenant_id_namespace FOREIGN KEY(tenant_id, namespace) REFERENCES
            namespaces (tenant_id, namespace),
        CONSTRAINT ck_jobs_state CHECK (state IN ('available', 'running', 'retryable',
            'succeeded', 'succeeded_empty', 'degraded', 'dead', 'cancelled', 'skipped')),
        CONSTRAINT ck_jobs_running_has_lease CHECK ((state = 'running') = (lease_token IS NOT
            NULL)),
        CONSTRAINT ck_jobs_lease_whole CHECK ((lease_token IS NULL) = (lease_until IS NULL)),
        CONSTRAINT ck_jobs_final_has_time CHECK ((state IN ('succeeded', 'succeeded_empty',
            'degraded', 'dead', 'cancelled', 'skipped')) = (finalized_at IS NOT NULL)),
        CONSTRAINT ck_jobs_attempts CHECK (attempt >= 0 AND attempt <= max_attempts)
    )
    """,
    """
    CREATE TABLE model_calls (
        tenant_id TEXT NOT NULL,
        job_id TEXT NOT NULL,
        attempt SMALLINT NOT NULL,
        call SMALLINT NOT NULL,
        namespace TEXT NOT NULL,
        kind TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt_version TEXT NOT NULL,
        outcome TEXT NOT NULL,
        input_tokens BIGINT NOT NULL,
        output_tokens BIGINT NOT NULL,
        duration_ms INTEGER NOT NULL,
        detail JSONB,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        CONSTRAINT pk_model_calls PRIMARY KEY (tenant_id, job_id, attempt, call)
    )
    """,
)

_INDEXES = (
    """
    CREATE INDEX ix_jobs_due ON jobs (tenant_id, queue, priority DESC, scheduled_at, job_id)
        WHERE state IN ('available', 'retryable')
    """,
    """
    CREATE INDEX ix_jobs_rung ON jobs (rung_at) WHERE state IN ('available', 'retryable') AND
        rung_at IS NOT NULL
    """,
    "CREATE INDEX ix_jobs_lease ON jobs (lease_until) WHERE state = 'running'",
    "CREATE INDEX ix_jobs_list ON jobs (tenant_id, state, job_id)",
    "CREATE INDEX ix_jobs_subject ON jobs (tenant_id, subject)",
    """
    CREATE UNIQUE INDEX uq_jobs_live_subject ON jobs (tenant_id, kind, subject) WHERE state IN
        ('available', 'running', 'retryable')
    """,
    "CREATE INDEX ix_model_calls_day ON model_calls (tenant_id, created_at)",
    "CREATE INDEX ix_model_calls_namespace ON model_calls (tenant_id, namespace, created_at)",
    """
    CREATE INDEX ix_model_calls_replies ON model_calls (tenant_id, namespace, created_at) WHERE
        detail IS NOT NULL
    """,
)

# What the app role may do with each table, and nothing more.
_PRIVILEGES = {
    "jobs": "SELECT, INSERT, UPDATE, DELETE",
    "model_calls": "SELECT, INSERT, UPDATE (outcome, detail)",
}


def upgrade() -> None:
    """Create the tables, each under forced row level security."""
    for statement in (*_TABLES, *_INDEXES):
        op.execute(statement)
    for table, privileges in _PRIVILEGES.items():
        protect(table, privileges)
    let_queue_role_in("jobs")
