"""The doorbell as workers ring it: right after their commit, marked so that the relay need not."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import null, update

from shared.domain.jobs import BACKFILL, QUEUE_OF, FollowUp, JobState
from shared.store.database import WriteTx
from shared.store.job_queue import Ring
from shared.store.jobs import add_job
from shared.store.tables import jobs


def enqueue_to_ring(
    tx: WriteTx, namespace: str, work: FollowUp, *, max_attempts: int
) -> Ring | None:
    """Add a job that the caller rings itself, right after its commit.

    None when a live job does the same work already, and for backfill, which is left to the
    relay: that rings only a few at a time. If the caller never rings, the relay does after a
    while.
    """
    queue = work.queue or QUEUE_OF[work.kind]
    is_own = queue != BACKFILL
    job_id = add_job(tx, namespace, work, max_attempts=max_attempts, is_rung=is_own)
    return Ring(tx.tenant_id, job_id, queue) if job_id and is_own else None


def unmark_rung(tx: WriteTx, job_ids: Collection[str]) -> None:
    """Leave jobs whose ring failed to the relay, at once."""
    if job_ids:
        waiting = [JobState.AVAILABLE.value, JobState.RETRYABLE.value]
        tx.connection.execute(
            update(jobs)
            .where(
                jobs.c.tenant_id == tx.tenant_id,
                jobs.c.job_id.in_(job_ids),
                jobs.c.state.in_(waiting),
            )
            .values(rung_at=null())
        )
