"""What operators see of the ledger, over all tenants: counts, ages, waits, and what went wrong.

Runs as the queue role, which reaches the job table alone: ids and figures, never what was said.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from shared.store.database import QueueTx

_BY_KIND = text("SELECT kind, state, count(*) AS n FROM jobs GROUP BY kind, state")

_WAITING = text(
    """
    SELECT reason, count(*) AS n, min(scheduled_at) AS resumes_at,
           count(DISTINCT (tenant_id, namespace)) AS namespaces
    FROM jobs
    WHERE state = 'available' AND scheduled_at > now() AND reason IS NOT NULL
    GROUP BY reason ORDER BY n DESC
    """
)

_DUE = text(
    """
    SELECT queue, count(*) AS due,
           extract(epoch FROM now() - min(scheduled_at)) AS oldest_due_s,
           count(*) FILTER (WHERE rung_at < now() - make_interval(secs => :patience_s)) AS unclaimed
    FROM jobs
    WHERE state IN ('available', 'retryable') AND scheduled_at <= now()
    GROUP BY queue ORDER BY queue
    """
)

# Only jobs that had room: what its tenant's or queue's cap holds back is not the relay's fault.
_UNRUNG = text(
    """
    WITH flying AS MATERIALIZED (
        SELECT tenant_id, queue FROM jobs WHERE state = 'running'
        UNION ALL
        SELECT tenant_id, queue FROM jobs
        WHERE state IN ('available', 'retryable')
          AND rung_at >= now() - make_interval(secs => :ring_again_after_s)
    )
    SELECT count(*) AS n,
           coalesce(extract(epoch FROM now() - min(j.scheduled_at)), 0) AS oldest_s
    FROM jobs AS j
    WHERE j.state IN ('available', 'retryable') AND j.rung_at IS NULL
      AND j.scheduled_at < now() - make_interval(secs => :patience_s)
      AND (SELECT count(*) FROM flying AS f WHERE f.tenant_id = j.tenant_id) < :tenant_cap
      AND (SELECT count(*) FROM flying AS f WHERE f.queue = j.queue)
          < CASE j.queue WHEN 'backfill' THEN :backfill_cap ELSE :queue_cap END
    """
)

_LEASES = text(
    """
    SELECT (SELECT count(*) FROM jobs AS j
            CROSS JOIN LATERAL jsonb_array_elements(j.errors) AS e
            WHERE j.errors @> '[{"code": "lease_expired"}]' AND e->>'code' = 'lease_expired'
              AND (e->>'at')::timestamptz > now() - interval '1 hour') AS expired_last_hour,
           (SELECT count(*) FROM jobs
            WHERE state = 'running' AND lease_until < now() - make_interval(secs => :patience_s)
           ) AS unrescued
    """
)

_DEAD = text(
    """
    SELECT kind, coalesce(errors->-1->>'code', reason, 'unknown') AS code, count(*) AS n,
           max(finalized_at) AS newest
    FROM jobs WHERE state = 'dead'
    GROUP BY 1, 2 ORDER BY n DESC
    """
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Jobs that wait for one reason, and when the first of them is due again."""

    reason: str
    count: int
    namespaces: int
    resumes_at: datetime


@dataclass(frozen=True, slots=True)
class Due:
    """Jobs of one queue that could run now; `unclaimed` were rung and nobody came."""

    queue: str
    count: int
    oldest_s: float
    unclaimed: int


@dataclass(frozen=True, slots=True)
class Dead:
    """Dead jobs of one kind with one last error."""

    kind: str
    code: str
    count: int
    newest: datetime


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is normal: seconds before something counts as stuck, and the relay's caps."""

    stuck_s: float
    ring_again_after_s: float
    tenant_cap: int
    queue_cap: int
    backfill_cap: int


@dataclass(frozen=True, slots=True)
class LedgerHealth:
    """The state of the whole ledger at one moment, by the database's clock."""

    due: tuple[Due, ...]
    waiting: tuple[Waiting, ...]
    dead: tuple[Dead, ...]
    unrung: int
    unrung_oldest_s: float
    leases_expired_last_hour: int
    leases_unrescued: int


def count_by_kind(tx: QueueTx) -> dict[tuple[str, str], int]:
    """Return how many jobs stand in each (kind, state)."""
    return {(row.kind, row.state): row.n for row in tx.connection.execute(_BY_KIND)}


def waiting_jobs(tx: QueueTx) -> tuple[Waiting, ...]:
    """Return the jobs that are put to sleep, by reason."""
    rows = tx.connection.execute(_WAITING)
    return tuple(Waiting(row.reason, row.n, row.namespaces, row.resumes_at) for row in rows)


def ledger_health(tx: QueueTx, patience: Patience) -> LedgerHealth:
    """Look at everything that tells whether jobs move."""
    values = {"patience_s": patience.stuck_s}
    due = tx.connection.execute(_DUE, values)
    leases = tx.connection.execute(_LEASES, values).one()
    unrung = tx.connection.execute(
        _UNRUNG,
        values
        | {
            "ring_again_after_s": patience.ring_again_after_s,
            "tenant_cap": patience.tenant_cap,
            "queue_cap": patience.queue_cap,
            "backfill_cap": patience.backfill_cap,
        },
    ).one()
    dead = tx.connection.execute(_DEAD)
    return LedgerHealth(
        due=tuple(Due(r.queue, r.due, float(r.oldest_due_s), r.unclaimed) for r in due),
        waiting=waiting_jobs(tx),
        dead=tuple(Dead(row.kind, row.code, row.n, row.newest) for row in dead),
        unrung=unrung.n,
        unrung_oldest_s=float(unrung.oldest_s),
        leases_expired_last_hour=leases.expired_last_hour,
        leases_unrescued=leases.unrescued,
    )
