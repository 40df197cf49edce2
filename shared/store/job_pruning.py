"""Prune final jobs by state and age; what they made and what they cost stays.

Ids are ordered by time, so the id of the cut-off instant bounds the index scan. What a person
may still start again is kept longer, and as long as its block is unready it is kept at all.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from shared.store.database import QueueTx, WriteTx

_WENT_WELL = "state IN ('succeeded', 'succeeded_empty')"
_DID_NOT = "state IN ('degraded', 'dead', 'cancelled', 'skipped')"
_CREATED_BEFORE = (
    "job_id < 'job_' || lpad(to_hex((extract(epoch FROM now() "
    "- make_interval(secs => :{age})) * 1000)::bigint), 12, '0')"
)
_OLD_WELL = f"({_WENT_WELL} AND {_CREATED_BEFORE.format(age='well_s')})"
_OLD_FAILED = f"({_DID_NOT} AND {_CREATED_BEFORE.format(age='failed_s')})"

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
    WHERE tenant_id IS NOT NULL AND (
        EXISTS (SELECT FROM jobs WHERE jobs.tenant_id = tenant.tenant_id AND {_OLD_WELL})
        OR EXISTS (SELECT FROM jobs WHERE jobs.tenant_id = tenant.tenant_id AND {_OLD_FAILED})
    )
    """  # noqa: S608 - only constants of this file are put in
)

_PRUNE = text(
    f"""
    DELETE FROM jobs WHERE tenant_id = :tenant_id AND job_id IN (
        SELECT job_id FROM jobs
        WHERE tenant_id = :tenant_id AND {_OLD_WELL}
          AND finalized_at < now() - make_interval(secs => :well_s)
        UNION ALL
        SELECT job_id FROM jobs
        WHERE tenant_id = :tenant_id AND {_OLD_FAILED}
          AND finalized_at < now() - make_interval(secs => :failed_s)
          AND NOT EXISTS (
              SELECT FROM block_states AS b
              WHERE b.tenant_id = :tenant_id AND b.block_id = jobs.subject AND b.status <> 'ready'
          )
        LIMIT :batch
    )
    """  # noqa: S608 - only constants of this file are put in
)


def tenants_with_old_jobs(tx: QueueTx, *, well_s: float, failed_s: float) -> list[str]:
    """Return the tenants that may have jobs to prune."""
    values = {"well_s": well_s, "failed_s": failed_s}
    return list(tx.connection.execute(_TENANTS, values).scalars())


def prune_ended(tx: WriteTx, *, well_s: float, failed_s: float, batch: int = 1_000) -> int:
    """Delete up to `batch` ended jobs of a tenant; return how many.

    Those that ended well go after `well_s` seconds, others after `failed_s`; of an unready block
    only the former, so that a person can always retry what keeps it unready.
    """
    values: dict[str, Any] = {
        "tenant_id": tx.tenant_id,
        "well_s": well_s,
        "failed_s": failed_s,
        "batch": batch,
    }
    return tx.connection.execute(_PRUNE, values).rowcount
