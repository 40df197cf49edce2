"""Retention: begin an erasure of what a namespace has held for longer than its policy says.

One erasure a namespace at a time, a few namespaces a pass; the next pass takes the rest.
"""

from __future__ import annotations

from typing import Final

from shared.domain.erasure import SelectorKind
from shared.domain.jobs import FollowUp, JobKind
from shared.settings import Settings
from shared.store.audit import AuditEntry, record
from shared.store.database import Database, QueueDatabase, WriteTx
from shared.store.erasures import begin_erasure, set_job
from shared.store.jobs import enqueue
from shared.store.retention import RetentionDue, cutoff_of, retention_due

MOST_A_PASS: Final = 20


def retain(queue: QueueDatabase, database: Database, settings: Settings) -> int:
    """Begin an erasure in each namespace that is due; return how many were begun.

    Age counts from when a turn was stored, not from when it was said: an old conversation that
    was loaded yesterday is kept as long as one of yesterday.
    """
    with queue.transaction() as tx:
        due = retention_due(tx, most=MOST_A_PASS)
    for one in due:
        with database.write(one.tenant_id) as write:
            _begin(write, one, settings)
    return len(due)


def _begin(tx: WriteTx, due: RetentionDue, settings: Settings) -> None:
    cutoff = cutoff_of(tx, due.days)
    erasure = begin_erasure(tx, due.namespace, SelectorKind.RETENTION, cutoff, key_id=None)
    work = FollowUp(JobKind.ERASE, erasure.erasure_id, payload={"erasure_id": erasure.erasure_id})
    job_id = enqueue(tx, due.namespace, work, max_attempts=settings.max_attempts)
    set_job(tx, erasure.erasure_id, job_id)
    record(
        tx,
        AuditEntry(
            "erasure_started",
            namespace=due.namespace,
            subject=erasure.erasure_id,
            detail={"kind": SelectorKind.RETENTION.value, "days": due.days},
        ),
    )
