"""What the relay and the upkeep see of all tenants: due jobs, expired leases, depth and age.

Runs as the queue role, which reaches the job table alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import text

from shared.store.database import QueueTx
from shared.store.direct import Direct

# A skip scan over tenants and queues, then the first few due jobs of each: one backlog neither
# slows the query nor starves the others. In flight is what is running, or rung and unclaimed.
_RING_DUE = Direct(
    """
    WITH RECURSIVE pair AS (
        (SELECT tenant_id, queue FROM jobs WHERE state IN ('available', 'retryable')
         ORDER BY tenant_id, queue LIMIT 1)
        UNION ALL
        SELECT following.tenant_id, following.queue
        FROM pair CROSS JOIN LATERAL (
            SELECT j.tenant_id, j.queue FROM jobs AS j
            WHERE j.state IN ('available', 'retryable')
              AND (j.tenant_id, j.queue) > (pair.tenant_id, pair.queue)
            ORDER BY j.tenant_id, j.queue LIMIT 1
        ) AS following
    ), in_flight AS MATERIALIZED (
        SELECT tenant_id, queue FROM jobs WHERE state = 'running'
        UNION ALL
        SELECT tenant_id, queue FROM jobs
        WHERE state IN ('available', 'retryable')
          AND rung_at >= now() - make_interval(secs => :ring_again_after_s)
    ), room AS (
        SELECT pair.tenant_id, pair.queue,
               :tenant_cap - (SELECT count(*) FROM in_flight AS f
                              WHERE f.tenant_id = pair.tenant_id) AS of_tenant,
               CASE pair.queue WHEN 'backfill' THEN :backfill_cap ELSE :queue_cap END
                   - (SELECT count(*) FROM in_flight AS f WHERE f.queue = pair.queue) AS of_queue
        FROM pair
    ), due AS (
        SELECT d.*, room.queue, room.of_tenant, room.of_queue,
               row_number() OVER (
                   PARTITION BY room.tenant_id
                   ORDER BY room.queue = 'backfill', d.priority DESC, d.scheduled_at, d.job_id
               ) AS turn
        FROM room
        CROSS JOIN LATERAL (
            SELECT j.tenant_id, j.job_id, j.priority, j.scheduled_at
            FROM jobs AS j
            WHERE j.tenant_id = room.tenant_id
              AND j.queue = room.queue
              AND j.state IN ('available', 'retryable')
              AND j.scheduled_at <= now()
              AND (j.rung_at IS NULL
                   OR j.rung_at < now() - make_interval(secs => :ring_again_after_s))
            ORDER BY j.priority DESC, j.scheduled_at, j.job_id
            LIMIT greatest(0, least(:batch, room.of_tenant, room.of_queue))
        ) AS d
    ), fair AS (
        SELECT due.*, row_number() OVER (PARTITION BY queue ORDER BY turn, tenant_id) AS place
        FROM due WHERE turn <= of_tenant
    ), chosen AS (
        SELECT tenant_id, job_id, turn FROM fair WHERE place <= of_queue
        ORDER BY turn, tenant_id LIMIT :batch
    ), locked AS (
        SELECT j.tenant_id, j.job_id, chosen.turn
        FROM jobs AS j JOIN chosen USING (tenant_id, job_id)
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


@dataclass(frozen=True, slots=True)
class Caps:
    """How many jobs may be in flight at a time: a tenant's, a queue's, and those of backfill."""

    tenant: int
    queue: int
    backfill: int


def take_due(tx: QueueTx, *, batch: int, caps: Caps, ring_again_after_s: float) -> list[Ring]:
    """Mark up to `batch` due jobs as rung, fair between tenants, and return them in that order.

    A tenant's live work goes before its backfill. Two relays at one moment may pass a cap by
    what the other one takes.
    """
    rows = _RING_DUE.rows_of_queue(
        tx,
        batch=batch,
        tenant_cap=caps.tenant,
        queue_cap=caps.queue,
        backfill_cap=caps.backfill,
        ring_again_after_s=float(ring_again_after_s),
    )
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
