"""Read use receipts back, with the turn in which each answer was given (D32).

The turn is found when it is read: it may be posted after its use was recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, or_, select

from shared.store.database import ReadTx
from shared.store.tables import turns, use_receipt_events, use_receipts


@dataclass(frozen=True, slots=True)
class AnswerTurn:
    """The turn that holds an answer."""

    turn_id: str
    thread_id: str
    sequence: int
    receipt_id: str
    occurred_at: datetime
    zone: str


@dataclass(frozen=True, slots=True)
class StoredUse:
    """A use as recorded. `reinforced` tells for each event whether it was counted."""

    use_receipt_id: str
    receipt_id: str
    batch_id: str
    evidence_refs: tuple[str, ...]
    audit: Mapping[str, Any]
    created_at: datetime
    turn: AnswerTurn | None = None
    reinforced: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UseFilter:
    """Which uses a list shows; None is no condition. A thread: of the answer or of the batch."""

    thread_id: str | None = None
    event_id: str | None = None
    turn_id: str | None = None
    batch_id: str | None = None


_ANSWER_RECEIPT = use_receipts.c.audit["answer"]["turn_receipt_id"].astext
_ANSWER_THREAD = use_receipts.c.audit["answer"]["thread_id"].astext
_BATCH_THREAD = use_receipts.c.audit["thread_id"].astext


def uses_page(
    tx: ReadTx, namespace: str, *, only: UseFilter, before: str | None = None, limit: int
) -> list[StoredUse]:
    """Return the uses of a namespace, newest first, older than the id `before`."""
    statement = select(use_receipts).where(
        use_receipts.c.tenant_id == tx.tenant_id, use_receipts.c.namespace == namespace
    )
    if only.thread_id is not None:
        threads = (_ANSWER_THREAD, _BATCH_THREAD)
        statement = statement.where(or_(*(one == only.thread_id for one in threads)))
    if only.batch_id is not None:
        statement = statement.where(use_receipts.c.batch_id == only.batch_id)
    if only.event_id is not None:
        statement = statement.where(
            use_receipts.c.use_receipt_id.in_(
                select(use_receipt_events.c.use_receipt_id).where(
                    use_receipt_events.c.tenant_id == tx.tenant_id,
                    use_receipt_events.c.event_id == only.event_id,
                )
            )
        )
    if only.turn_id is not None:
        statement = statement.where(
            select(turns.c.turn_id)
            .where(
                turns.c.tenant_id == tx.tenant_id,
                turns.c.namespace == namespace,
                turns.c.turn_id == only.turn_id,
                turns.c.receipt_id == _ANSWER_RECEIPT,
                turns.c.thread_id == func.coalesce(_ANSWER_THREAD, turns.c.thread_id),
            )
            .exists()
        )
    if before is not None:
        statement = statement.where(use_receipts.c.use_receipt_id < before)
    statement = statement.order_by(use_receipts.c.use_receipt_id.desc()).limit(limit)
    rows = list(tx.connection.execute(statement))
    reinforced = _reinforced(tx, [row.use_receipt_id for row in rows])
    answered = _turns(tx, namespace, [_answer(row).get("turn_receipt_id") for row in rows])
    return [_use(row, answered, reinforced) for row in rows]


def uses_of_batches(tx: ReadTx, batch_ids: Collection[str]) -> dict[str, tuple[str, list[str]]]:
    """Return, for each batch whose use was recorded, the receipt's id and the refs it used."""
    if not batch_ids:
        return {}
    rows = tx.connection.execute(
        select(
            use_receipts.c.batch_id, use_receipts.c.use_receipt_id, use_receipts.c.evidence_refs
        ).where(use_receipts.c.tenant_id == tx.tenant_id, use_receipts.c.batch_id.in_(batch_ids))
    )
    return {row.batch_id: (row.use_receipt_id, list(row.evidence_refs)) for row in rows}


def _use(
    row: Row[Any],
    answered: Mapping[str, AnswerTurn],
    reinforced: Mapping[str, Mapping[str, bool]],
) -> StoredUse:
    answer = _answer(row)
    turn = answered.get(answer.get("turn_receipt_id") or "")
    if turn is not None and answer.get("thread_id") not in (None, turn.thread_id):
        turn = None
    return StoredUse(
        use_receipt_id=row.use_receipt_id,
        receipt_id=row.receipt_id,
        batch_id=row.batch_id,
        evidence_refs=tuple(row.evidence_refs),
        audit=row.audit,
        created_at=row.created_at,
        turn=turn,
        reinforced=reinforced.get(row.use_receipt_id, {}),
    )


def _answer(row: Row[Any]) -> Mapping[str, Any]:
    """Return what an answer was named by; an erasure may have left nothing of it."""
    answer = row.audit.get("answer")
    return answer if isinstance(answer, Mapping) else {}


def _reinforced(tx: ReadTx, use_receipt_ids: Collection[str]) -> dict[str, dict[str, bool]]:
    if not use_receipt_ids:
        return {}
    found: dict[str, dict[str, bool]] = {}
    for row in tx.connection.execute(
        select(use_receipt_events)
        .where(
            use_receipt_events.c.tenant_id == tx.tenant_id,
            use_receipt_events.c.use_receipt_id.in_(use_receipt_ids),
        )
        .order_by(use_receipt_events.c.use_receipt_id, use_receipt_events.c.event_id)
    ):
        found.setdefault(row.use_receipt_id, {})[row.event_id] = row.reinforced
    return found


def _turns(
    tx: ReadTx, namespace: str, receipt_ids: Collection[str | None]
) -> dict[str, AnswerTurn]:
    wanted = {one for one in receipt_ids if one}
    if not wanted:
        return {}
    rows = tx.connection.execute(
        select(turns).where(
            turns.c.tenant_id == tx.tenant_id,
            turns.c.namespace == namespace,
            turns.c.receipt_id.in_(wanted),
        )
    )
    return {
        row.receipt_id: AnswerTurn(
            turn_id=row.turn_id,
            thread_id=row.thread_id,
            sequence=row.sequence,
            receipt_id=row.receipt_id,
            occurred_at=row.occurred_at,
            zone=row.zone,
        )
        for row in rows
    }
