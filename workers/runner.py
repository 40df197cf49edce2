"""Run one job: claim it, load what it needs, and let the attempt take its course.

The ledger decides everything: a ring that comes twice or late claims nothing, and a worker whose
lease has gone changes nothing.
"""

from __future__ import annotations

from typing import Final

from shared.errors import Unavailable
from shared.ids import Prefix, new_id
from shared.logs import get_logger
from shared.metrics import JOB_SECONDS, JOBS_FINISHED
from shared.store.job_claims import claim_with_material
from shared.store.job_leases import LeaseLost
from shared.store.namespaces import policy_defaults
from workers.attempt import SNOOZED, Attempt, Deps, JobDied, JobRetried
from workers.attempt_scope import attempt_scope
from workers.lease import renewed_lease

__all__ = ["DUPLICATE", "LEASE_LOST", "SNOOZED", "Deps", "JobDied", "JobRetried", "run_job"]

DUPLICATE: Final = "duplicate_delivery"
LEASE_LOST: Final = "lease_lost"
_log = get_logger("workers")


def run_job(tenant_id: str, job_id: str, deps: Deps) -> str:
    """Run one attempt of a job and return the state it left the job in, or why it did nothing.

    Raises JobRetried or JobDied once a failed attempt is committed, and Unavailable while the
    database is away; then the lease runs out and the job is rescued.
    """
    attempt = _begin(tenant_id, job_id, deps)
    if attempt is None:
        _log.info(DUPLICATE, job_id=job_id)
        return DUPLICATE
    job = attempt.job
    try:
        with (
            JOB_SECONDS.labels(job.kind.value).time(),
            renewed_lease(
                deps.database,
                job,
                lease_s=deps.settings.lease_s,
                longest_s=deps.settings.hard_limit_s,
            ),
            attempt_scope(job),
        ):
            return attempt.run()
    except LeaseLost:
        JOBS_FINISHED.labels(job.kind.value, LEASE_LOST).inc()
        _log.warning(LEASE_LOST, job_id=job_id, attempt=job.attempt)
        return LEASE_LOST


def _begin(tenant_id: str, job_id: str, deps: Deps) -> Attempt | None:
    """Claim the job and load its material; None when there is none to claim.

    What breaks while loading is how the attempt then ends, so it counts.
    """
    claimed = claim_with_material(
        deps.database,
        tenant_id,
        job_id,
        lease_token=new_id(Prefix.REQUEST),
        lease_s=deps.settings.lease_s,
        defaults=policy_defaults(deps.settings),
    )
    if claimed is None:
        return None
    attempt = Attempt(claimed, deps)
    breaks: tuple[type[BaseException], ...] = (*deps.time_limits, Exception)
    try:
        with deps.database.read_when_needed(tenant_id) as tx:
            attempt.load(tx)
    except Unavailable:
        raise
    except breaks as error:
        attempt.broken = error
    return attempt
