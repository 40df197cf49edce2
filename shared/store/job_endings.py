"""End a job well: its row, the job that follows, and its model calls, in one statement.

Fenced by the lease token, as everything of an attempt, in the transaction of its effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Boolean, Text, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

from shared.domain.jobs import BACKFILL, QUEUE_OF, Done, FollowUp, Job
from shared.ids import Prefix, new_id
from shared.store.database import WriteTx
from shared.store.direct import Direct
from shared.store.job_leases import ENDED, LeaseLost
from shared.store.job_queue import Ring
from shared.store.job_rings import enqueue_to_ring
from shared.store.jobs import traced
from shared.store.model_calls import SETTLING, settling

# The states are literals, as a prepared statement could not infer the partial index from
# parameters. The job's own row is as it was to the part that adds the next one.
_END = Direct(
    text(
        f"""
        WITH ended AS (
            UPDATE jobs SET
                state = :state, reason = :reason, result = :result, rejections = :rejections,
                usage = :usage, model = :model, prompt_version = :prompt_version,
                lease_token = NULL, lease_until = NULL, finalized_at = now()
            WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'running'
              AND lease_token = :token
            RETURNING job_id
        ), followed AS (
            INSERT INTO jobs (tenant_id, job_id, namespace, kind, subject, queue, priority,
                              max_attempts, payload, rung_at)
            SELECT CAST(:tenant_id AS text), :next_id, CAST(:namespace AS text), :next_kind,
                   :next_subject, :next_queue, CAST(:next_priority AS integer),
                   CAST(:max_attempts AS smallint), :next_payload,
                   CASE WHEN :is_rung THEN now() END
            FROM ended WHERE :next_id IS NOT NULL
            ON CONFLICT (tenant_id, kind, subject)
                WHERE state IN ('available', 'running', 'retryable')
                DO NOTHING
            RETURNING job_id
        ), {SETTLING}
        SELECT (SELECT job_id FROM ended) AS ended, (SELECT job_id FROM followed) AS followed
        """  # noqa: S608 - joins constants of the code; every value is a parameter
    ).bindparams(
        *(bindparam(name, type_=JSONB) for name in ("result", "rejections", "usage")),
        bindparam("next_payload", type_=JSONB),
        bindparam("is_rung", type_=Boolean),
        *(
            bindparam(name, type_=Text)
            for name in (
                "state",
                "reason",
                "model",
                "prompt_version",
                "next_id",
                "next_kind",
                "next_subject",
                "next_queue",
            )
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Costs:
    """What an attempt used, by whom it was answered, and how its calls ended, by their numbers."""

    model: str | None = None
    prompt_version: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[int, str] = field(default_factory=dict)


def finish(
    tx: WriteTx,
    job: Job,
    done: Done,
    *,
    follow_ups: tuple[FollowUp, ...] = (),
    max_attempts: int = 3,
    costs: Costs | None = None,
) -> list[Ring]:
    """End the job well, in the transaction of its effects, and return what the caller is to ring.

    What follows is enqueued, except where a live job does the same work already; backfill is left
    to the relay, as `enqueue_to_ring` has it. Raises LeaseLost.
    """
    spent = costs or Costs()
    first = follow_ups[0] if follow_ups else None
    row = _END.first(
        tx,
        job_id=job.job_id,
        namespace=job.namespace,
        attempt=job.attempt,
        token=job.lease_token,
        state=done.state.value,
        reason=done.reason,
        result=dict(done.result),
        rejections=list(done.rejections),
        usage=dict(spent.usage),
        model=spent.model,
        prompt_version=spent.prompt_version,
        max_attempts=max_attempts,
        **_following(first),
        **settling(spent.outcomes),
    )
    if row is None or row.ended is None:
        raise LeaseLost(ENDED)
    rings = [
        enqueue_to_ring(tx, job.namespace, one, max_attempts=max_attempts) for one in follow_ups[1:]
    ]
    queue = None if first is None else _queue(first)
    if queue is not None and queue != BACKFILL and row.followed is not None:
        rings.insert(0, Ring(tx.tenant_id, row.followed, queue))
    return [ring for ring in rings if ring is not None]


def _following(work: FollowUp | None) -> dict[str, Any]:
    if work is None:
        names = ("id", "kind", "subject", "queue", "payload")
        return {f"next_{name}": None for name in names} | {"next_priority": 0, "is_rung": False}
    return {
        "next_id": new_id(Prefix.JOB),
        "next_kind": work.kind.value,
        "next_subject": work.subject,
        "next_queue": _queue(work),
        "next_payload": traced(work.payload),
        "next_priority": work.priority,
        "is_rung": _queue(work) != BACKFILL,
    }


def _queue(work: FollowUp) -> str:
    return work.queue or QUEUE_OF[work.kind]
