"""Prune final jobs by state and age; what they made and what they cost stays.

Ids are ordered by time, so the id of the cut-off instant bounds the index scan.
"""

from __future__ import annotations

from sqlalchemy import text

from shared.store.database import QueueTx, WriteTx

# Dead, cancelled and degraded jobs stay: people look at them and may retry them.
_WENT_WELL = "state IN ('succeeded', 'succeeded_empty', 'skipped')"
_CREATED_BEFORE = (
    "job_id < 'job_' || lpad(to_hex((extract(epoch FROM now() "
    "- make_interval(secs => :older_than_s)) * 1000)::bigint), 12, '0')"
)

_TENANTS = text(
    f"""
    WITH RECURSIVE tenant AS (
        (SELECT tenant_id FROM jobs ORDER BY tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT j.tenant_id FROM jobs AS j WHERE j.tenant_id > tenant.tenant_id
                ORDER BY j.tenant_id LIMIT 1)
        FROM tenant WHERE tenant.tenant_id IS NOT NULL
    )
    SELECT tenant_id FROM tenant
    WHERE tenant_id IS NOT NULL AND EXISTS (
        SELECT FROM jobs WHERE jobs.tenant_id = tenant.tenant_id
        AND {_WENT_WELL} AND {_CREATED_BEFORE}
    )
    """  # noqa: S608 - only constants of this file are put in
)

_PRUNE = text(
    f"""
    DELETE FROM jobs WHERE tenant_id = :tenant_id AND job_id IN (
        SELECT job_id FROM jobs
        WHERE tenant_id = :tenant_id AND {_WENT_WELL} AND {_CREATED_BEFORE}
          AND finalized_at < now() - make_interval(secs => :older_than_s)
        ORDER BY job_id LIMIT :batch
    )
    """  # noqa: S608 - only constants of this file are put in
)


def tenants_with_old_jobs(tx: QueueTx, *, older_than_s: float) -> list[str]:
    """Return the tenants that may have jobs to prune."""
    return list(tx.connection.execute(_TENANTS, {"older_than_s": older_than_s}).scalars())


def prune_succeeded(tx: WriteTx, *, older_than_s: float, batch: int = 1_000) -> int:
    """Delete up to `batch` jobs of a tenant that ended well that long ago; return how many."""
    values = {"tenant_id": tx.tenant_id, "older_than_s": older_than_s, "batch": batch}
    return tx.connection.execute(_PRUNE, values).rowcount
