"""The calls that a job's model has answered: what the bound of calls a job counts (D36)."""

from __future__ import annotations

from typing import Final

from sqlalchemy import func, or_, select

from shared.store.database import ReadTx
from shared.store.tables import model_calls

CALLS_BEFORE: Final = "calls_before"
"""In a job's usage until it ends: the answered calls of the rounds that a person has closed."""

_ANSWERED = ("replied", "accepted", "partial", "malformed", "truncated")


def answered_calls(tx: ReadTx, job_id: str) -> int:
    """Return how many calls of a job a model has answered, in all its attempts.

    A call that was turned away, by a rate limit for instance, is not one of them.
    """
    statement = select(func.count()).where(
        model_calls.c.tenant_id == tx.tenant_id,
        model_calls.c.job_id == job_id,
        or_(
            model_calls.c.outcome.in_(_ANSWERED),
            model_calls.c.input_tokens + model_calls.c.output_tokens > 0,
        ),
    )
    return int(tx.connection.execute(statement).scalar_one())
