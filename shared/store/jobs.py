"""The ledger as its clients see it: enqueue, look up, list, retry and cancel by hand.

Enqueueing is an insert in the caller's transaction: the job row is the outbox row, so work
cannot be accepted without its job, nor a job exist without its work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import (
    Boolean,
    Row,
    RowMapping,
    Text,
    and_,
    bindparam,
    func,
    null,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, distinct_on
from sqlalchemy.exc import IntegrityError

from shared.domain.jobs import (
    FINAL_STATES,
    LIVE_STATES,
    QUEUE_OF,
    RETRYABLE_BY_HAND,
    FollowUp,
    JobKind,
    JobState,
)
from shared.errors import Conflict, NotFound
from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.direct import Direct
from shared.store.job_calls import CALLS_BEFORE, answered_calls
from shared.store.tables import jobs
from shared.tracing import current_traceparent

# The states are literals, as a prepared statement could not infer the partial index from
# parameters.
_ADD = Direct(
    text(
        """
        INSERT INTO jobs (tenant_id, job_id, namespace, kind, subject, queue, priority,
                          max_attempts, payload, state, reason, finalized_at, rung_at)
        VALUES (:tenant_id, :job_id, :namespace, :kind, :subject, :queue, :priority,
                :max_attempts, :payload, :state, :reason, CASE WHEN :is_final THEN now() END,
                CASE WHEN :is_rung THEN now() END)
        ON CONFLICT (tenant_id, kind, subject)
            WHERE state IN ('available', 'running', 'retryable')
            DO NOTHING
        RETURNING job_id
        """
    ).bindparams(
        bindparam("payload", type_=JSONB),
        bindparam("reason", type_=Text),
        bindparam("is_final", type_=Boolean),
        bindparam("is_rung", type_=Boolean),
    )
)


def enqueue(
    tx: WriteTx,
    namespace: str,
    work: FollowUp,
    *,
    max_attempts: int = 3,
    state: JobState = JobState.AVAILABLE,
    reason: str | None = None,
) -> str:
    """Add a job on the caller's transaction and return its id.

    While a job of the same kind and subject is live, that one's id is returned and nothing is
    added. With a final `state` (a stage that policy switches off) the row only records it.
    """
    added = add_job(tx, namespace, work, max_attempts=max_attempts, state=state, reason=reason)
    return added or _live_job(tx, work.kind, work.subject)


def add_job(
    tx: WriteTx,
    namespace: str,
    work: FollowUp,
    *,
    max_attempts: int,
    state: JobState = JobState.AVAILABLE,
    reason: str | None = None,
    is_rung: bool = False,
) -> str | None:
    """Add a job and return its id, or None while one of the same kind and subject is live.

    `is_rung` says that the caller rings it after the commit.
    """
    added: str | None = _ADD.scalar(
        tx,
        job_id=new_id(Prefix.JOB),
        namespace=namespace,
        kind=work.kind.value,
        subject=work.subject,
        queue=work.queue or QUEUE_OF[work.kind],
        priority=work.priority,
        max_attempts=max_attempts,
        payload=traced(work.payload),
        state=state.value,
        reason=reason,
        is_final=state in FINAL_STATES,
        is_rung=is_rung,
    )
    return added


def _live_job(tx: ReadTx, kind: JobKind, subject: str) -> str:
    statement = select(jobs.c.job_id).where(
        jobs.c.tenant_id == tx.tenant_id,
        jobs.c.kind == kind.value,
        jobs.c.subject == subject,
        jobs.c.state.in_([s.value for s in LIVE_STATES]),
    )
    job_id: str = tx.connection.execute(statement).scalar_one()
    return job_id


def traced(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the trace that causes a job with it, so that its spans and log lines join that."""
    traceparent = current_traceparent()
    return dict(payload) if traceparent is None else {"traceparent": traceparent, **payload}


def get_job(tx: ReadTx, job_id: str) -> RowMapping:
    """Return the whole row of one job; NotFound when this tenant has none of that id."""
    statement = select(jobs).where(jobs.c.tenant_id == tx.tenant_id, jobs.c.job_id == job_id)
    row = tx.connection.execute(statement).one_or_none()
    if row is None:
        raise NotFound("no such job")
    return row._mapping


def list_jobs(
    tx: ReadTx,
    *,
    namespace: str | None = None,
    states: Collection[JobState] = (),
    kind: JobKind | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[RowMapping]:
    """Return jobs, newest first, older than the id `before`."""
    statement = select(jobs).where(jobs.c.tenant_id == tx.tenant_id)
    if namespace is not None:
        statement = statement.where(jobs.c.namespace == namespace)
    if states:
        statement = statement.where(jobs.c.state.in_([s.value for s in states]))
    if kind is not None:
        statement = statement.where(jobs.c.kind == kind.value)
    if before is not None:
        statement = statement.where(jobs.c.job_id < before)
    rows = tx.connection.execute(statement.order_by(jobs.c.job_id.desc()).limit(limit))
    return [row._mapping for row in rows]


def jobs_of(tx: ReadTx, subjects: Collection[str]) -> list[Row[Any]]:
    """Return the newest job of each kind for each of `subjects`."""
    if not subjects:
        return []
    statement = (
        select(jobs)
        .where(jobs.c.tenant_id == tx.tenant_id, jobs.c.subject.in_(subjects))
        .ext(distinct_on(jobs.c.subject, jobs.c.kind))
        .order_by(jobs.c.subject, jobs.c.kind, jobs.c.job_id.desc())
    )
    return list(tx.connection.execute(statement))


def count_by_state(tx: ReadTx, namespace: str | None = None) -> dict[tuple[str, str], int]:
    """Return how many jobs stand in each (kind, state)."""
    statement = (
        select(jobs.c.kind, jobs.c.state, func.count())
        .where(jobs.c.tenant_id == tx.tenant_id)
        .group_by(jobs.c.kind, jobs.c.state)
    )
    if namespace is not None:
        statement = statement.where(jobs.c.namespace == namespace)
    return {(kind, state): n for kind, state, n in tx.connection.execute(statement)}


def live_by_kind(tx: ReadTx, namespace: str) -> dict[str, dict[str, float]]:
    """Return, by kind, how many jobs are live and the age of the oldest, in seconds."""
    age = func.extract("epoch", func.now() - func.min(jobs.c.created_at))
    statement = (
        select(jobs.c.kind, func.count().label("jobs"), age.label("oldest_s"))
        .where(
            jobs.c.tenant_id == tx.tenant_id,
            jobs.c.namespace == namespace,
            jobs.c.state.in_([s.value for s in LIVE_STATES]),
        )
        .group_by(jobs.c.kind)
        .order_by(jobs.c.kind)
    )
    return {
        row.kind: {"jobs": row.jobs, "oldest_s": round(float(row.oldest_s), 1)}
        for row in tx.connection.execute(statement)
    }


def retry_by_hand(tx: WriteTx, job_id: str) -> RowMapping:
    """Make a dead, cancelled, degraded or skipped job available again with fresh attempts.

    Conflict when it is live, when it ended well, or when another live job does the same work.
    """
    row = get_job(tx, job_id)
    if JobState(row["state"]) not in RETRYABLE_BY_HAND:
        raise Conflict(
            f"a job in state '{row['state']}' cannot be retried", code="job_not_retryable"
        )
    try:
        changed = tx.connection.execute(
            update(jobs)
            .where(
                jobs.c.tenant_id == tx.tenant_id,
                jobs.c.job_id == job_id,
                jobs.c.state.in_([s.value for s in RETRYABLE_BY_HAND]),
            )
            .values(
                state=JobState.AVAILABLE.value,
                attempt=0,
                snoozed_s=0,
                scheduled_at=func.now(),
                rung_at=null(),
                finalized_at=null(),
                reason="retried by hand",
                usage={CALLS_BEFORE: answered_calls(tx, job_id)},
            )
        )
    except IntegrityError as error:
        # The unique index of live jobs decides, also between two people who retry at once.
        raise Conflict("a live job already does this work", code="job_not_retryable") from error
    if changed.rowcount == 0:
        raise Conflict("somebody else has just started this job again", code="job_not_retryable")
    return get_job(tx, job_id)


def skip_waiting(tx: WriteTx, namespace: str, kind: JobKind, *, reason: str) -> int:
    """Skip the jobs of a kind that wait in a namespace; return how many.

    What runs meanwhile ends as it does: its step asks the policy again.
    """
    return tx.connection.execute(
        update(jobs)
        .where(
            jobs.c.tenant_id == tx.tenant_id,
            jobs.c.namespace == namespace,
            jobs.c.kind == kind.value,
            jobs.c.state.in_([JobState.AVAILABLE.value, JobState.RETRYABLE.value]),
        )
        .values(state=JobState.SKIPPED.value, reason=reason, finalized_at=func.now())
    ).rowcount


def hurry_waiting(tx: WriteTx, namespace: str, kind: JobKind) -> None:
    """Make the jobs of a kind that wait in a namespace due now."""
    tx.connection.execute(
        update(jobs)
        .where(
            jobs.c.tenant_id == tx.tenant_id,
            jobs.c.namespace == namespace,
            jobs.c.kind == kind.value,
            jobs.c.state.in_([JobState.AVAILABLE.value, JobState.RETRYABLE.value]),
        )
        .values(scheduled_at=func.now(), rung_at=null())
    )


def skipped_work(tx: ReadTx, namespace: str) -> dict[str, int]:
    """Return how many subjects of each kind were skipped and not worked on since."""
    newer = jobs.alias()
    statement = (
        select(jobs.c.kind, func.count())
        .where(
            jobs.c.tenant_id == tx.tenant_id,
            jobs.c.namespace == namespace,
            jobs.c.state == JobState.SKIPPED.value,
            ~select(newer.c.job_id)
            .where(
                newer.c.tenant_id == jobs.c.tenant_id,
                newer.c.subject == jobs.c.subject,
                newer.c.kind == jobs.c.kind,
                newer.c.job_id > jobs.c.job_id,
            )
            .exists(),
        )
        .group_by(jobs.c.kind)
        .order_by(jobs.c.kind)
    )
    return {row[0]: row[1] for row in tx.connection.execute(statement)}


def cancel_by_hand(tx: WriteTx, job_id: str, *, reason: str) -> RowMapping:
    """End a live job; a running step's late finish then changes nothing. Conflict when final."""
    changed = tx.connection.execute(
        update(jobs)
        .where(
            and_(jobs.c.tenant_id == tx.tenant_id, jobs.c.job_id == job_id),
            jobs.c.state.in_([s.value for s in LIVE_STATES]),
        )
        .values(
            state=JobState.CANCELLED.value,
            reason=reason,
            lease_token=null(),
            lease_until=null(),
            finalized_at=func.now(),
        )
    )
    row = get_job(tx, job_id)
    if changed.rowcount == 0:
        raise Conflict(f"the job has already ended: '{row['state']}'", code="job_final")
    return row
