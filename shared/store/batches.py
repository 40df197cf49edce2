"""Retrieval batches: what was shown, with the events a use of each item would reinforce (D23)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, insert, select, update

from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.direct import Direct, as_json, insertion
from shared.store.tables import assessments, batch_items, batches

_ITEM = ("batch_id", "position", "evidence_ref", "event_ids", "rank_score")
# A batch and its items in one statement: every search makes one.
_INSERT = Direct(
    f"""
    WITH made AS (
        INSERT INTO batches
            (tenant_id, batch_id, namespace, thread_id, key_id, tool, query, request, expires_at)
        VALUES (:tenant_id, :batch_id, :namespace, :thread_id, :key_id, :tool, :query,
                CAST(:request AS jsonb), :expires_at)
    )
    {insertion(batch_items, _ITEM, "items")}
    """  # noqa: S608 - joins constants of the code; every value is a parameter
)


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One shown item: its ref, the events behind it (none for raw and block refs), its score."""

    evidence_ref: str
    event_ids: tuple[str, ...] = ()
    rank_score: float | None = None


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch to store; `request` is what was asked, for the audit."""

    batch_id: str
    namespace: str
    thread_id: str | None
    key_id: str
    tool: str
    query: str | None
    expires_at: datetime
    request: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[BatchItem, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch with its items in the order they were shown."""

    batch_id: str
    namespace: str
    thread_id: str | None
    key_id: str
    tool: str
    query: str | None
    state: str
    created_at: datetime
    expires_at: datetime
    items: tuple[BatchItem, ...]

    @property
    def refs(self) -> tuple[str, ...]:
        """The evidence refs that were shown."""
        return tuple(item.evidence_ref for item in self.items)


@dataclass(frozen=True, slots=True)
class StoredAssessment:
    """A normalised assessment as stored."""

    assessment_id: str
    batch_id: str
    verdict: str
    evidence_refs: tuple[str, ...]
    rejected_evidence_refs: tuple[Mapping[str, Any], ...]
    fit: str
    missing: str
    next_strategy: str
    question: str | None
    advisories: tuple[Mapping[str, Any], ...]
    created_at: datetime | None = None


def insert_batch(tx: WriteTx, batch: NewBatch) -> None:
    """Store a batch with its items, open."""
    _INSERT.run(
        tx,
        batch_id=batch.batch_id,
        namespace=batch.namespace,
        thread_id=batch.thread_id,
        key_id=batch.key_id,
        tool=batch.tool,
        query=batch.query,
        request=as_json(dict(batch.request)),
        expires_at=batch.expires_at,
        items=as_json(
            [
                {
                    "batch_id": batch.batch_id,
                    "position": position,
                    "evidence_ref": item.evidence_ref,
                    "event_ids": list(item.event_ids),
                    "rank_score": item.rank_score,
                }
                for position, item in enumerate(batch.items)
            ]
        ),
    )


def get_batch(tx: ReadTx, batch_id: str, *, lock: bool = False) -> StoredBatch:
    """Return one batch; NotFound when this tenant has none of that id.

    `lock` holds its row until the commit, so that two uses of one batch follow each other.
    """
    statement = select(batches).where(
        batches.c.tenant_id == tx.tenant_id, batches.c.batch_id == batch_id
    )
    if lock:
        statement = statement.with_for_update()
    found = _load(tx, statement)
    if not found:
        raise NotFound("no such batch")
    return found[0]


def find_latest_batch(
    tx: ReadTx, namespace: str, *, thread_id: str | None, key_id: str, lock: bool = False
) -> StoredBatch | None:
    """Return the newest batch of a thread, or without a thread of a key; None before the first.

    It is the latest whatever its state (D32). `lock` as for `get_batch`.
    """
    statement = _newest_first(tx, namespace, thread_id=thread_id, key_id=key_id).limit(1)
    if lock:
        statement = statement.with_for_update()
    return next(iter(_load(tx, statement)), None)


def recent_batches(
    tx: ReadTx, namespace: str, *, thread_id: str | None, key_id: str, limit: int
) -> list[StoredBatch]:
    """Return the newest batches of a thread, or without a thread of a key, newest first."""
    statement = _newest_first(tx, namespace, thread_id=thread_id, key_id=key_id)
    return _load(tx, statement.limit(limit))


def earlier_batches(tx: ReadTx, batch: StoredBatch, *, limit: int) -> list[StoredBatch]:
    """Return the batches before this one of its thread, else of its key, newest first."""
    statement = select(batches).where(
        batches.c.tenant_id == tx.tenant_id,
        batches.c.namespace == batch.namespace,
        batches.c.batch_id < batch.batch_id,
    )
    if batch.thread_id is None:
        statement = statement.where(batches.c.thread_id.is_(None), batches.c.key_id == batch.key_id)
    else:
        statement = statement.where(batches.c.thread_id == batch.thread_id)
    return _load(tx, statement.order_by(batches.c.batch_id.desc()).limit(limit))


def thread_batches(
    tx: ReadTx,
    namespace: str,
    thread_id: str | None,
    *,
    after: str | None = None,
    since: datetime | None = None,
    limit: int,
) -> list[StoredBatch]:
    """Return a thread's batches, oldest first, after the id `after`; None: those without one.

    `since` leaves out what was made earlier.
    """
    statement = select(batches).where(
        batches.c.tenant_id == tx.tenant_id,
        batches.c.namespace == namespace,
        batches.c.thread_id.is_not_distinct_from(thread_id),
    )
    if after is not None:
        statement = statement.where(batches.c.batch_id > after)
    if since is not None:
        statement = statement.where(batches.c.created_at >= since)
    return _load(tx, statement.order_by(batches.c.batch_id).limit(limit))


def assessments_of(tx: ReadTx, batch_ids: Collection[str]) -> dict[str, list[StoredAssessment]]:
    """Return the assessments of each batch, oldest first; the last one counts."""
    if not batch_ids:
        return {}
    found: dict[str, list[StoredAssessment]] = {}
    for row in tx.connection.execute(
        select(assessments)
        .where(assessments.c.tenant_id == tx.tenant_id, assessments.c.batch_id.in_(batch_ids))
        .order_by(assessments.c.assessment_id)
    ):
        found.setdefault(row.batch_id, []).append(_assessment(row))
    return found


def last_assessment_of_thread(
    tx: ReadTx, namespace: str, thread_id: str | None
) -> StoredAssessment | None:
    """Return the newest assessment of any batch of a thread, or None before the first."""
    row = tx.connection.execute(
        select(assessments)
        .join(
            batches,
            (batches.c.tenant_id == assessments.c.tenant_id)
            & (batches.c.batch_id == assessments.c.batch_id),
        )
        .where(
            batches.c.tenant_id == tx.tenant_id,
            batches.c.namespace == namespace,
            batches.c.thread_id.is_not_distinct_from(thread_id),
        )
        .order_by(assessments.c.assessment_id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else _assessment(row)


def set_batch_state(tx: WriteTx, batch_id: str, state: str) -> None:
    """Move a batch on: open, assessed, recorded."""
    tx.connection.execute(
        update(batches)
        .where(batches.c.tenant_id == tx.tenant_id, batches.c.batch_id == batch_id)
        .values(state=state)
    )


def insert_assessment(tx: WriteTx, assessment: StoredAssessment) -> None:
    """Store an assessment; the newest one of a batch counts."""
    tx.connection.execute(
        insert(assessments).values(
            tenant_id=tx.tenant_id,
            assessment_id=assessment.assessment_id,
            batch_id=assessment.batch_id,
            verdict=assessment.verdict,
            evidence_refs=list(assessment.evidence_refs),
            rejected_evidence_refs=[dict(ref) for ref in assessment.rejected_evidence_refs],
            fit=assessment.fit,
            missing=assessment.missing,
            next_strategy=assessment.next_strategy,
            question=assessment.question,
            advisories=[dict(advisory) for advisory in assessment.advisories],
        )
    )


def latest_assessment(tx: ReadTx, batch_id: str) -> StoredAssessment | None:
    """Return the newest assessment of a batch, or None before the first."""
    row = tx.connection.execute(
        select(assessments)
        .where(assessments.c.tenant_id == tx.tenant_id, assessments.c.batch_id == batch_id)
        .order_by(assessments.c.assessment_id.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None else _assessment(row)


def _newest_first(tx: ReadTx, namespace: str, *, thread_id: str | None, key_id: str) -> Select[Any]:
    statement = select(batches).where(
        batches.c.tenant_id == tx.tenant_id, batches.c.namespace == namespace
    )
    if thread_id is None:
        statement = statement.where(batches.c.key_id == key_id)
    else:
        statement = statement.where(batches.c.thread_id == thread_id)
    return statement.order_by(batches.c.batch_id.desc())


def _load(tx: ReadTx, statement: Select[Any]) -> list[StoredBatch]:
    rows = list(tx.connection.execute(statement))
    if not rows:
        return []
    items: dict[str, list[BatchItem]] = {row.batch_id: [] for row in rows}
    for row in tx.connection.execute(
        select(batch_items)
        .where(batch_items.c.tenant_id == tx.tenant_id, batch_items.c.batch_id.in_(items))
        .order_by(batch_items.c.batch_id, batch_items.c.position)
    ):
        items[row.batch_id].append(
            BatchItem(row.evidence_ref, tuple(row.event_ids), row.rank_score)
        )
    return [_batch(row, tuple(items[row.batch_id])) for row in rows]


def _batch(row: Row[Any], items: tuple[BatchItem, ...]) -> StoredBatch:
    return StoredBatch(
        batch_id=row.batch_id,
        namespace=row.namespace,
        thread_id=row.thread_id,
        key_id=row.key_id,
        tool=row.tool,
        query=row.query,
        state=row.state,
        created_at=row.created_at,
        expires_at=row.expires_at,
        items=items,
    )


def _assessment(row: Row[Any]) -> StoredAssessment:
    return StoredAssessment(
        assessment_id=row.assessment_id,
        batch_id=row.batch_id,
        verdict=row.verdict,
        evidence_refs=tuple(row.evidence_refs),
        rejected_evidence_refs=tuple(row.rejected_evidence_refs),
        fit=row.fit,
        missing=row.missing,
        next_strategy=row.next_strategy,
        question=row.question,
        advisories=tuple(row.advisories),
        created_at=row.created_at,
    )
