"""Show the whole ledger as gauges: jobs by kind and state, and what waits for which reason."""

from __future__ import annotations

from shared.domain.jobs import JobKind, JobState
from shared.metrics import JOBS, JOBS_WAITING
from shared.store.database import QueueDatabase
from shared.store.job_samples import count_by_kind, waiting_jobs


def sample_ledger(queue: QueueDatabase) -> None:
    """Set every gauge, also to zero: what is over must not show its last figure."""
    with queue.transaction() as tx:
        counts = count_by_kind(tx)
        waiting = waiting_jobs(tx)
    for kind in JobKind:
        for state in JobState:
            JOBS.labels(kind.value, state.value).set(counts.get((kind.value, state.value), 0))
    JOBS_WAITING.clear()
    for one in waiting:
        JOBS_WAITING.labels(one.reason).set(one.count)
