"""Claim a due job: one compare-and-set, with all that most attempts need to know, in one trip.

That is the job, its namespace's rules and, where the job reads a block, that block's messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from shared.domain.jobs import Job, JobKind, JobState
from shared.domain.tenancy import Policy
from shared.store.block_material import BLOCK_COLUMNS, BlockMaterial, block_material, block_of
from shared.store.database import Database, WriteTx
from shared.store.direct import Direct
from shared.store.job_calls import CALLS_BEFORE
from shared.store.namespaces import NamespaceRow, namespace_row
from shared.store.one_trip import in_one_trip

_CLAIMED: Final = """
    WITH claimed AS (
        UPDATE jobs SET
            state = 'running', attempt = attempt + 1, lease_token = :token,
            lease_until = now() + make_interval(secs => :lease_s),
            started_at = coalesce(started_at, now()), reason = NULL
        WHERE tenant_id = :tenant_id AND job_id = :job
          AND state IN ('available', 'retryable') AND scheduled_at <= now()
        RETURNING tenant_id, job_id, namespace, kind, subject, queue, state, attempt, max_attempts,
                  snoozed_s, payload, errors, usage, created_at AS enqueued_at
    )
    """
_SUBJECT: Final = "CASE WHEN c.kind IN ('summarize', 'extract') THEN c.subject END"
_CLAIM = Direct(f"{_CLAIMED} SELECT * FROM claimed")  # noqa: S608 - joins constants of the code
_CLAIM_WITH_MATERIAL = Direct(
    f"""
    {_CLAIMED}
    SELECT c.*, n.policy, n.turn_count, n.block_count, n.revision, n.derivation_version,
           n.graph_version_id, n.created_at, t.policy AS tenant_policy, t.limits AS tenant_limits,
           {BLOCK_COLUMNS}
    FROM claimed AS c
    JOIN namespaces AS n ON n.tenant_id = :tenant_id AND n.namespace = c.namespace
    JOIN tenants AS t ON t.tenant_id = :tenant_id
    {block_of(_SUBJECT, is_extracted="c.kind = 'extract'")}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that is this attempt's, with its namespace, and the block that it is to read."""

    job: Job
    namespace: NamespaceRow
    block: BlockMaterial | None


def claim(tx: WriteTx, job_id: str, *, lease_token: str, lease_s: float) -> Job | None:
    """Take a due job, or return None when it is taken, waiting or over."""
    row = _CLAIM.first(tx, job=job_id, token=lease_token, lease_s=float(lease_s))
    return None if row is None else _job(row, lease_token)


def claim_with_material(
    database: Database,
    tenant_id: str,
    job_id: str,
    *,
    lease_token: str,
    lease_s: float,
    defaults: Policy,
) -> Claimed | None:
    """Take a due job as `claim` does, in a transaction of its own, and read what it needs."""
    request = _CLAIM_WITH_MATERIAL.request(job=job_id, token=lease_token, lease_s=float(lease_s))
    [rows] = in_one_trip(database, tenant_id, request)
    if not rows:
        return None
    [row] = rows
    namespace = namespace_row(row, defaults=defaults)
    return Claimed(_job(row, lease_token), namespace, block_material(row))


def _job(row: Any, lease_token: str) -> Job:
    return Job(
        tenant_id=row.tenant_id,
        job_id=row.job_id,
        namespace=row.namespace,
        kind=JobKind(row.kind),
        subject=row.subject,
        queue=row.queue,
        state=JobState(row.state),
        attempt=row.attempt,
        max_attempts=row.max_attempts,
        lease_token=lease_token,
        snoozed_s=row.snoozed_s,
        payload=row.payload,
        errors=tuple(row.errors),
        created_at=row.enqueued_at,
        calls_before=row.usage.get(CALLS_BEFORE, 0),
    )
