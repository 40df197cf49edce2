"""Every call of a model: what it cost, how it ended, and for a while what it said (D50).

A row is written as soon as a call's cost is known and outlives its job, so that spend is never
lost. Of replies that were taken only the latest few per namespace keep their text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    RowMapping,
    SmallInteger,
    Text,
    bindparam,
    literal,
    not_,
    select,
    text,
    tuple_,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.store.database import Database, ReadTx, WriteTx
from shared.store.direct import Direct
from shared.store.one_trip import in_one_trip
from shared.store.tables import model_calls

KEPT_REPLIES: Final = 5
"""How many taken replies of a namespace keep their text; failed ones keep theirs."""

_TAKEN = ("accepted", "partial")

# An erasure takes the lease of whatever read what it erases; locking the row waits for it.
_RECORD = Direct(
    text(
        """
        WITH held AS (
            SELECT lease_token FROM jobs
            WHERE tenant_id = :tenant_id AND job_id = :job_id
              AND CAST(:lease_token AS text) IS NOT NULL
            FOR SHARE
        )
        INSERT INTO model_calls (tenant_id, job_id, attempt, call, namespace, kind, model,
            prompt_version, outcome, input_tokens, output_tokens, duration_ms, detail)
        SELECT :tenant_id, :job_id, :attempt,
            (SELECT coalesce(max(c.call), 0) + 1 FROM model_calls AS c
             WHERE c.tenant_id = :tenant_id AND c.job_id = :job_id AND c.attempt = :attempt),
            :namespace, :kind, :model, :prompt_version, :outcome, :input_tokens, :output_tokens,
            :duration_ms, CASE WHEN NOT EXISTS (
                SELECT FROM held WHERE lease_token IS DISTINCT FROM CAST(:lease_token AS text)
            ) THEN CAST(:detail AS jsonb) END
        RETURNING call
        """
    ).bindparams(
        bindparam("detail", type_=JSONB),
        *(
            bindparam(name, type_=Text)
            for name in (
                "tenant_id",
                "job_id",
                "namespace",
                "kind",
                "model",
                "prompt_version",
                "outcome",
                "lease_token",
            )
        ),
        bindparam("attempt", type_=SmallInteger),
        *(
            bindparam(name, type_=BigInteger)
            for name in ("input_tokens", "output_tokens", "duration_ms")
        ),
    )
)

# The rows are passed over where another attempt has just locked them: it forgets them itself.
# All parts see the calls as they were before, so the ones just taken are counted beforehand. Old
# rows are reached by their address: a plan that joined them by their key could begin with every
# call of the tenant.
SETTLING: Final = """
    settled AS (
        UPDATE model_calls AS c SET outcome = s.outcome
        FROM unnest(CAST(:calls AS smallint[]), CAST(:outcomes AS text[])) AS s(call, outcome)
        WHERE c.tenant_id = :tenant_id AND c.job_id = :job_id AND c.attempt = :attempt
          AND c.call = s.call
    ), old AS MATERIALIZED (
        SELECT c.ctid AS address FROM model_calls AS c
        WHERE c.tenant_id = :tenant_id AND c.namespace = :namespace AND c.detail IS NOT NULL
          AND c.outcome IN ('accepted', 'partial')
        ORDER BY c.created_at DESC OFFSET CAST(:kept AS integer)
    ), locked AS MATERIALIZED (
        SELECT c.address FROM old CROSS JOIN LATERAL (
            SELECT c.ctid AS address FROM model_calls AS c
            WHERE c.ctid = old.address FOR UPDATE OF c SKIP LOCKED) AS c
    ), dropped AS (
        UPDATE model_calls AS c SET detail = NULL FROM locked WHERE c.ctid = locked.address
    )
    """
"""SQL: parts of a statement that settle an attempt's calls; their values are `settling`'s."""
_SETTLE = Direct(f"WITH {SETTLING} SELECT 1")


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
    # Of a job that has lost this lease the cost is kept, not what the model said.
    lease_token: str | None = None


_CALL_FIELDS: Final = tuple(field.name for field in fields(NewCall) if field.name != "reply")


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
    number: int = _RECORD.scalar(tx, **_recorded(call))
    return number


def record_call_at_once(database: Database, tenant_id: str, call: NewCall) -> int:
    """Write one call as `record_call` does, committed by itself when this returns."""
    [[row]] = in_one_trip(database, tenant_id, _RECORD.request(**_recorded(call)))
    number: int = row.call
    return number


def _recorded(call: NewCall) -> dict[str, Any]:
    values = {name: getattr(call, name) for name in _CALL_FIELDS}
    return values | {"detail": None if call.reply is None else {"reply": call.reply}}


def settle_calls(
    tx: WriteTx, namespace: str, job_id: str, attempt: int, outcomes: Mapping[int, str]
) -> None:
    """Write how the calls of an attempt ended, by their numbers, and let old replies go."""
    if outcomes:
        values = settling(outcomes)
        _SETTLE.rows(tx, namespace=namespace, job_id=job_id, attempt=attempt, **values)


def settling(outcomes: Mapping[int, str]) -> dict[str, Any]:
    """Return the values that `SETTLING` takes beside namespace, job_id and attempt."""
    taken = sum(outcome in _TAKEN for outcome in outcomes.values())
    return {
        "calls": list(outcomes),
        "outcomes": list(outcomes.values()),
        "kept": max(0, KEPT_REPLIES - taken),
    }


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
