"""The ledger: the job row is the outbox row and the only state of a retry; model calls beside.

Spend outlives its job (final jobs are pruned), so model calls name it without a foreign key.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.store.tables.base import (
    NOW,
    created_at,
    instant,
    json_list,
    json_object,
    metadata,
    required_text,
    tenant_key,
)

_STATES = (
    "'available', 'running', 'retryable', 'succeeded', 'succeeded_empty', 'degraded', "
    "'dead', 'cancelled', 'skipped'"
)
_FINAL = "state IN ('succeeded', 'succeeded_empty', 'degraded', 'dead', 'cancelled', 'skipped')"
_LIVE = "state IN ('available', 'running', 'retryable')"
_DUE = "state IN ('available', 'retryable')"

jobs = Table(
    "jobs",
    metadata,
    tenant_key(),
    Column("job_id", Text, primary_key=True),
    required_text("namespace"),
    required_text("kind"),
    # What the job is about: the id of a block, an import, an erasure …
    required_text("subject"),
    required_text("queue"),
    Column("priority", SmallInteger, nullable=False, server_default="0"),
    Column("state", Text, nullable=False, server_default="available"),
    Column("attempt", SmallInteger, nullable=False, server_default="0"),
    Column("max_attempts", SmallInteger, nullable=False, server_default="3"),
    instant("scheduled_at", server_default=NOW),
    instant("rung_at", nullable=True),
    Column("lease_token", Text),
    instant("lease_until", nullable=True),
    # Why the job waits or how it ended, in one stable word or sentence.
    Column("reason", Text),
    Column("snoozed_s", Integer, nullable=False, server_default="0"),
    json_object("payload"),
    json_list("errors"),
    json_list("rejections"),
    json_object("usage"),
    json_object("result"),
    Column("prompt_version", Text),
    Column("model", Text),
    created_at(),
    instant("started_at", nullable=True),
    instant("finalized_at", nullable=True),
    CheckConstraint(f"state IN ({_STATES})", name="state"),
    CheckConstraint("(state = 'running') = (lease_token IS NOT NULL)", name="running_has_lease"),
    CheckConstraint("(lease_token IS NULL) = (lease_until IS NULL)", name="lease_whole"),
    CheckConstraint(f"({_FINAL}) = (finalized_at IS NOT NULL)", name="final_has_time"),
    CheckConstraint("attempt >= 0 AND attempt <= max_attempts", name="attempts"),
    Index(
        "uq_jobs_live_subject",
        "tenant_id",
        "kind",
        "subject",
        unique=True,
        postgresql_where=text(_LIVE),
    ),
    # Per tenant and queue: the relay takes a few due jobs of each in turn.
    Index(
        "ix_jobs_due",
        "tenant_id",
        "queue",
        text("priority DESC"),
        "scheduled_at",
        "job_id",
        postgresql_where=text(_DUE),
    ),
    # Rung and unclaimed: few at a time, however many are due.
    Index("ix_jobs_rung", "rung_at", postgresql_where=text(f"{_DUE} AND rung_at IS NOT NULL")),
    Index("ix_jobs_lease", "lease_until", postgresql_where=text("state = 'running'")),
    Index("ix_jobs_list", "tenant_id", "state", "job_id"),
    Index("ix_jobs_subject", "tenant_id", "subject"),
)

model_calls = Table(
    "model_calls",
    metadata,
    tenant_key(),
    Column("job_id", Text, primary_key=True),
    Column("attempt", SmallInteger, primary_key=True),
    Column("call", SmallInteger, primary_key=True),
    required_text("namespace"),
    required_text("kind"),
    required_text("model"),
    required_text("prompt_version"),
    required_text("outcome"),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("duration_ms", Integer, nullable=False),
    Column("detail", JSONB),
    created_at(),
    Index("ix_model_calls_namespace", "tenant_id", "namespace", "created_at"),
    # The spend of a whole tenant in one day.
    Index("ix_model_calls_day", "tenant_id", "created_at"),
    # Few rows keep their reply, so that forgetting the old ones stays cheap.
    Index(
        "ix_model_calls_replies",
        "tenant_id",
        "namespace",
        "created_at",
        postgresql_where=text("detail IS NOT NULL"),
    ),
)
