"""What the relay and the upkeep see of all tenants: due jobs, expired leases, depth and age.

Runs as the queue role, which reaches the job table alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text

from shared.store.database import QueueTx

# A skip scan over tenants, then the first few due jobs of each: one tenant's backlog neither
# slows the query nor starves the others. Cap counts what is running or rung and unclaimed.
_RING_DUE = text(
    """
    WITH RECURSIVE tenant AS (
        (SELECT tenant_id FROM jobs WHERE state IN ('available', 'retryable')
         ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT j.tenant_id FROM jobs AS j
                WHERE j.state IN ('available', 'retryable') AND j.tenant_id > tenant.tenant_id
                ORDER BY j.tenant_id LIMIT 1)
        FROM tenant WHERE tenant.tenant_id IS NOT NULL
    ), due AS (
        SELECT d.tenant_id, d.job_id, d.turn
        FROM tenant
        CROSS JOIN LATERAL (
            SELECT count(*) AS n FROM jobs AS j
            WHERE j.tenant_id = tenant.tenant_id
              AND (j.state = 'running' OR (j.state IN ('available', 'retryable')
                   AND j.rung_at >= now() - make_interval(secs => :ring_again_after_s)))
        ) AS in_flight
        CROSS JOIN LATERAL (
            SELECT j.tenant_id, j.job_id,
                   row_number() OVER (ORDER BY j.priority DESC, j.scheduled_at, j.job_id) AS turn
            FROM jobs AS j
            WHERE j.tenant_id = tenant.tenant_id
              AND j.state IN ('available', 'retryable')
              AND j.scheduled_at <= now()
              AND (j.rung_at IS NULL
                   OR j.rung_at < now() - make_interval(secs => :ring_again_after_s))
            ORDER BY j.priority DESC, j.scheduled_at, j.job_id
            LIMIT greatest(0, :in_flight_cap - in_flight.n)
        ) AS d
        WHERE tenant.tenant_id IS NOT NULL
        ORDER BY d.turn, d.tenant_id
        LIMIT :batch
    ), locked AS (
        SELECT j.tenant_id, j.job_id, due.turn
        FROM jobs AS j JOIN due USING (tenant_id, job_id)
        WHERE j.state IN ('available', 'retryable')
          AND (j.rung_at IS NULL
               OR j.rung_at < now() - make_interval(secs => :ring_again_after_s))
        FOR UPDATE OF j SKIP LOCKED
    )
    UPDATE jobs AS j SET rung_at = now()
    FROM locked
    WHERE j.tenant_id = locked.tenant_id AND j.job_id = locked.job_id
    RETURNING j.tenant_id, j.job_id, j.queue, locked.turn
    """
)

_RESCUE = text(
    """
    WITH expired AS (
        SELECT tenant_id, job_id FROM jobs
        WHERE state = 'running' AND lease_until < now()
        ORDER BY lease_until LIMIT :batch
        FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs AS j SET
        state = CASE WHEN j.attempt < j.max_attempts THEN 'retryable' ELSE 'dead' END,
        finalized_at = CASE WHEN j.attempt < j.max_attempts THEN NULL ELSE now() END,
        scheduled_at = now(),
        rung_at = NULL,
        lease_token = NULL,
        lease_until = NULL,
        reason = 'lease_expired',
        errors = j.errors || jsonb_build_array(jsonb_build_object(
            'attempt', j.attempt, 'class', 'transient', 'code', 'lease_expired',
            'detail', 'the worker stopped renewing its lease', 'at', now()))
    FROM expired
    WHERE j.tenant_id = expired.tenant_id AND j.job_id = expired.job_id
    RETURNING j.tenant_id, j.job_id, j.state
    """
)

_DEPTH = text(
    """
    SELECT queue, state, count(*) AS n,
           coalesce(extract(epoch FROM max(now() - scheduled_at)
                    FILTER (WHERE scheduled_at <= now())), 0) AS oldest_due_s
    FROM jobs WHERE state IN ('available', 'retryable', 'running')
    GROUP BY queue, state
    """
)

_UNRING = text("UPDATE jobs SET rung_at = NULL WHERE tenant_id = :tenant_id AND job_id = :job_id")


@dataclass(frozen=True, slots=True)
class Ring:
    """One job whose doorbell is to be rung."""

    tenant_id: str
    job_id: str
    queue: str


@dataclass(frozen=True, slots=True)
class Depth:
    """How many live jobs stand in one queue and state, and how long the oldest due one waits."""

    queue: str
    state: str
    count: int
    oldest_due_s: float


def take_due(
    tx: QueueTx, *, batch: int, in_flight_cap: int, ring_again_after_s: float
) -> list[Ring]:
    """Mark up to `batch` due jobs as rung, fair between tenants, and return them in that order."""
    rows = tx.connection.execute(
        _RING_DUE,
        {
            "batch": batch,
            "in_flight_cap": in_flight_cap,
            "ring_again_after_s": ring_again_after_s,
        },
    ).all()
    ordered = sorted(rows, key=lambda row: (row.turn, row.tenant_id))
    return [Ring(row.tenant_id, row.job_id, row.queue) for row in ordered]


def unring(tx: QueueTx, rings: list[Ring]) -> None:
    """Forget rings that could not be published, so that they are due again at once."""
    if rings:
        tx.connection.execute(
            _UNRING, [{"tenant_id": ring.tenant_id, "job_id": ring.job_id} for ring in rings]
        )


def rescue_expired(tx: QueueTx, *, batch: int = 500) -> list[tuple[str, str, str]]:
    """Free jobs whose lease has run out: retryable, or dead when no attempt is left.

    Returns (tenant, job, new state) of each.
    """
    rows = tx.connection.execute(_RESCUE, {"batch": batch})
    return [(row.tenant_id, row.job_id, row.state) for row in rows]


def sample_depth(tx: QueueTx) -> list[Depth]:
    """Return the depth of each queue and state, and the age of its oldest due job in seconds."""
    rows = tx.connection.execute(_DEPTH)
    return [Depth(row.queue, row.state, row.n, float(row.oldest_due_s)) for row in rows]
