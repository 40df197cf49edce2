"""The doorbell as workers ring it: right after their commit, marked so that the relay need not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, func, null, update

from shared.domain.jobs import BACKFILL, JobState
from shared.store.database import WriteTx
from shared.store.job_queue import Ring
from shared.store.tables import jobs


def mark_rung(tx: WriteTx, job_ids: Collection[str]) -> list[Ring]:
    """Mark due jobs that nobody has rung yet, and return those that the caller is to ring.

    If it never does, the relay rings them again after a while. Backfill is left to the relay,
    which rings only a few of it at a time.
    """
    if not job_ids:
        return []
    rows = tx.connection.execute(
        update(jobs)
        .where(
            *_waiting(tx, job_ids),
            jobs.c.queue != BACKFILL,
            jobs.c.rung_at.is_(None),
            jobs.c.scheduled_at <= func.now(),
        )
        .values(rung_at=func.now())
        .returning(jobs.c.tenant_id, jobs.c.job_id, jobs.c.queue)
    )
    return [Ring(row.tenant_id, row.job_id, row.queue) for row in rows]


def unmark_rung(tx: WriteTx, job_ids: Collection[str]) -> None:
    """Leave jobs whose ring failed to the relay, at once."""
    if job_ids:
        tx.connection.execute(update(jobs).where(*_waiting(tx, job_ids)).values(rung_at=null()))


def _waiting(tx: WriteTx, job_ids: Collection[str]) -> tuple[ColumnElement[Any], ...]:
    return (
        jobs.c.tenant_id == tx.tenant_id,
        jobs.c.job_id.in_(job_ids),
        jobs.c.state.in_([JobState.AVAILABLE.value, JobState.RETRYABLE.value]),
    )
