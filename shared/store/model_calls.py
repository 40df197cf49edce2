"""Every call of a model: what it cost, how it ended, and for a while what it said (D50).

A row is written as soon as a call's cost is known and outlives its job, so that spend is never
lost. Of replies that were taken only the latest few per namespace keep their text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, func, insert, literal, not_, null, select, tuple_, update

from shared.store.database import ReadTx, WriteTx
from shared.store.tables import model_calls

KEPT_REPLIES: Final = 5
"""How many taken replies of a namespace keep their text; failed ones keep theirs."""

_TAKEN = ("accepted", "partial")


@dataclass(frozen=True, slots=True)
class NewCall:
    """One call of one attempt; `outcome` is `replied` until its reply has been read."""

    job_id: str
    attempt: int
    namespace: str
    kind: str
    model: str
    prompt_version: str
    outcome: str
    input_tokens: int
    output_tokens: int
    duration_ms: int
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyKey:
    """Where a reply stands in the list of its namespace."""

    created_at: datetime
    job_id: str
    attempt: int
    call: int


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A call whose text is still there, for administrators."""

    job_id: str
    attempt: int
    call: int
    kind: str
    model: str
    prompt_version: str
    outcome: str
    input_tokens: int
    output_tokens: int
    duration_ms: int
    reply: str
    created_at: datetime


def record_call(tx: WriteTx, call: NewCall) -> int:
    """Write one call and return its number within the attempt.

    Numbers go on where an attempt was given back and is made again.
    """
    of_attempt = (
        model_calls.c.tenant_id == tx.tenant_id,
        model_calls.c.job_id == call.job_id,
        model_calls.c.attempt == call.attempt,
    )
    last = select(func.coalesce(func.max(model_calls.c.call), 0)).where(*of_attempt)
    number: int = tx.connection.execute(
        insert(model_calls)
        .values(
            tenant_id=tx.tenant_id,
            job_id=call.job_id,
            attempt=call.attempt,
            call=last.scalar_subquery() + 1,
            namespace=call.namespace,
            kind=call.kind,
            model=call.model,
            prompt_version=call.prompt_version,
            outcome=call.outcome,
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            duration_ms=call.duration_ms,
            detail=null() if call.reply is None else {"reply": call.reply},
        )
        .returning(model_calls.c.call)
    ).scalar_one()
    return number


def settle_calls(tx: WriteTx, job_id: str, attempt: int, outcomes: Mapping[int, str]) -> None:
    """Write how the calls of an attempt ended, by their numbers."""
    for number, outcome in sorted(outcomes.items()):
        tx.connection.execute(
            update(model_calls)
            .where(
                model_calls.c.tenant_id == tx.tenant_id,
                model_calls.c.job_id == job_id,
                model_calls.c.attempt == attempt,
                model_calls.c.call == number,
            )
            .values(outcome=outcome)
        )


def drop_old_replies(tx: WriteTx, namespace: str) -> None:
    """Forget the text of taken replies but the latest few of the namespace."""
    of_namespace = (
        model_calls.c.tenant_id == tx.tenant_id,
        model_calls.c.namespace == namespace,
        model_calls.c.detail.is_not(None),
        model_calls.c.outcome.in_(_TAKEN),
    )
    oldest_kept = (
        select(model_calls.c.created_at)
        .where(*of_namespace)
        .order_by(model_calls.c.created_at.desc())
        .offset(KEPT_REPLIES - 1)
        .limit(1)
        .scalar_subquery()
    )
    tx.connection.execute(
        update(model_calls)
        .where(*of_namespace, model_calls.c.created_at < oldest_kept)
        .values(detail=null())
    )


def list_replies(
    tx: ReadTx,
    namespace: str,
    *,
    failed: bool | None = None,
    before: ReplyKey | None = None,
    limit: int = 50,
) -> list[StoredReply]:
    """Return the calls of a namespace whose text is kept, newest first, older than `before`.

    `failed` True gives only those that could not be taken, False only those that were.
    """
    columns = model_calls.c
    place = (columns.created_at, columns.job_id, columns.attempt, columns.call)
    statement = select(model_calls).where(
        columns.tenant_id == tx.tenant_id,
        columns.namespace == namespace,
        columns.detail.is_not(None),
    )
    if failed is not None:
        is_taken = columns.outcome.in_(_TAKEN)
        statement = statement.where(not_(is_taken) if failed else is_taken)
    if before is not None:
        key = (before.created_at, before.job_id, before.attempt, before.call)
        statement = statement.where(tuple_(*place) < tuple_(*map(literal, key)))
    order = [column.desc() for column in place]
    rows = tx.connection.execute(statement.order_by(*order).limit(limit))
    return [_stored(row._mapping) for row in rows]


def _stored(row: RowMapping) -> StoredReply:
    names = (field.name for field in fields(StoredReply) if field.name != "reply")
    return StoredReply(**{name: row[name] for name in names}, reply=row["detail"]["reply"])
