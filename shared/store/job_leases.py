"""Renew and end an attempt of a job: one compare-and-set each, fenced by the lease token.

A worker whose lease is gone changes no row; `LeaseLost` then rolls its effects back. All times
are the database's (D37).
"""

from __future__ import annotations

import json
from typing import Any, Final

from sqlalchemy import Update, cast, func, literal, null, text, update
from sqlalchemy.dialects.postgresql import JSONB

from shared.domain.jobs import Cancel, Failure, Job, JobState, Snooze
from shared.errors import StrataGateError
from shared.store.database import WriteTx
from shared.store.tables import jobs

ENDED: Final = "the lease of this attempt has ended"


class LeaseLost(StrataGateError):
    """The job belongs to another attempt now; nothing of this one may be stored."""

    code = "lease_lost"


def renew(tx: WriteTx, job: Job, *, lease_s: float) -> bool:
    """Lengthen the lease; False when it is no longer this attempt's."""
    changed = tx.connection.execute(_fenced(tx, job).values(lease_until=_in_seconds(lease_s)))
    return changed.rowcount == 1


def cancel(tx: WriteTx, job: Job, outcome: Cancel) -> None:
    """End the job because its subject is gone. Raises LeaseLost."""
    _require_one(
        tx,
        _fenced(tx, job).values(
            state=JobState.CANCELLED.value,
            reason=outcome.reason,
            lease_token=null(),
            lease_until=null(),
            finalized_at=func.now(),
        ),
    )


def snooze(tx: WriteTx, job: Job, outcome: Snooze) -> None:
    """Give the attempt back and wait. Raises LeaseLost."""
    _require_one(
        tx,
        _fenced(tx, job).values(
            state=JobState.AVAILABLE.value,
            attempt=jobs.c.attempt - 1,
            snoozed_s=jobs.c.snoozed_s + int(outcome.delay_s),
            scheduled_at=_in_seconds(outcome.delay_s),
            rung_at=null(),
            reason=outcome.reason,
            lease_token=null(),
            lease_until=null(),
        ),
    )


def fail(tx: WriteTx, job: Job, failure: Failure, *, retry_in_s: float | None) -> None:
    """Record a failed attempt: try again in `retry_in_s`, or be dead when that is None.

    Raises LeaseLost.
    """
    entry = {
        "attempt": job.attempt,
        "class": failure.failure_class.value,
        "code": failure.code,
        "detail": failure.detail[:2_000],
    }
    dated = func.jsonb_build_array(
        cast(literal(json.dumps(entry)), JSONB).op("||")(
            func.jsonb_build_object(text("'at'"), func.now())
        )
    )
    values: dict[str, Any] = {
        "errors": jobs.c.errors.op("||")(dated),
        "reason": failure.code,
        "lease_token": null(),
        "lease_until": null(),
        "rung_at": null(),
    }
    if retry_in_s is None:
        values |= {"state": JobState.DEAD.value, "finalized_at": func.now()}
    else:
        values |= {"state": JobState.RETRYABLE.value, "scheduled_at": _in_seconds(retry_in_s)}
    _require_one(tx, _fenced(tx, job).values(**values))


def _fenced(tx: WriteTx, job: Job) -> Update:
    return update(jobs).where(
        jobs.c.tenant_id == tx.tenant_id,
        jobs.c.job_id == job.job_id,
        jobs.c.state == JobState.RUNNING.value,
        jobs.c.lease_token == job.lease_token,
    )


def _require_one(tx: WriteTx, statement: Update) -> None:
    if tx.connection.execute(statement).rowcount != 1:
        raise LeaseLost(ENDED)


def _in_seconds(seconds: float) -> Any:
    return func.now() + func.make_interval(0, 0, 0, 0, 0, 0, float(seconds))
