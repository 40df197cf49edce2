"""Imports of external memory as stored: the row, its candidates one by one, and their jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.dialects.postgresql import distinct_on

from shared.domain.external_memory_progress import StoredState
from shared.domain.jobs import JobKind, JobState
from shared.errors import NotFound
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import events, import_candidates, imports, jobs
from shared.store.versions import in_version

TEXT = "text"
"""In a job's subject, stands for the whole text instead of one candidate."""


@dataclass(frozen=True, slots=True)
class ImportRow:
    """An import; `content` is what was sent, or its redacted view where nothing else is kept."""

    import_id: str
    namespace: str
    state: StoredState
    source: str
    top_k: int
    content: str
    is_recovered: bool
    skipped: Sequence[Mapping[str, Any]]
    source_block_id: str | None
    source_thread_id: str | None
    effects: Mapping[str, Any]
    key_id: str
    created_at: datetime
    committed_at: datetime | None
    undone_at: datetime | None


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate at its `position` (from 0), with what was decided and what came of it."""

    position: int
    candidate: Mapping[str, Any]
    fingerprint: str
    matches: Sequence[Mapping[str, Any]]
    decision: Mapping[str, Any] | None
    answer: Mapping[str, Any] | None
    event_id: str | None


@dataclass(frozen=True, slots=True)
class ImportJob:
    """The newest job about one part of an import: a candidate's position, or None: the text."""

    job_id: str
    position: int | None
    state: JobState
    reason: str | None


def insert_import(tx: WriteTx, row: Mapping[str, Any]) -> None:
    """Store a new import; `row` holds its columns but the tenant."""
    tx.connection.execute(insert(imports).values(tenant_id=tx.tenant_id, **row))


def get_import(tx: ReadTx, import_id: str) -> ImportRow:
    """Return one import; NotFound when this tenant has none of that id."""
    return _found(tx, import_id, lock=False)


def lock_import(tx: WriteTx, import_id: str) -> ImportRow:
    """Return one import and hold it until the commit; NotFound as `get_import`."""
    return _found(tx, import_id, lock=True)


def change_import(tx: WriteTx, import_id: str, **values: Any) -> None:
    """Change columns of an import that the caller holds."""
    tx.connection.execute(
        update(imports)
        .where(imports.c.tenant_id == tx.tenant_id, imports.c.import_id == import_id)
        .values(**values)
    )


def commit_import(tx: WriteTx, import_id: str, **values: Any) -> None:
    """Note that an import is written into the namespace, and what that did."""
    change_import(
        tx, import_id, state=StoredState.COMMITTED.value, committed_at=func.now(), **values
    )


def undo_import(tx: WriteTx, import_id: str) -> None:
    """Mark an import undone: from here on row level security hides its source and events."""
    change_import(tx, import_id, state=StoredState.UNDONE.value, undone_at=func.now())


def add_candidates(tx: WriteTx, import_id: str, candidates: Sequence[Mapping[str, Any]]) -> None:
    """Store the candidates of an import in their order; those with a decision are settled."""
    if candidates:
        tx.connection.execute(
            insert(import_candidates),
            [
                {
                    "tenant_id": tx.tenant_id,
                    "import_id": import_id,
                    "position": position,
                    **one,
                }
                for position, one in enumerate(candidates)
            ],
        )


def candidates_of(tx: ReadTx, import_id: str) -> list[CandidateRow]:
    """Return the candidates of an import, in order."""
    statement = (
        select(import_candidates)
        .where(
            import_candidates.c.tenant_id == tx.tenant_id,
            import_candidates.c.import_id == import_id,
        )
        .order_by(import_candidates.c.position)
    )
    return [_candidate(row) for row in tx.connection.execute(statement)]


def get_candidate(tx: ReadTx, import_id: str, position: int) -> CandidateRow | None:
    """Return one candidate, or None."""
    row = tx.connection.execute(
        select(import_candidates).where(*_is(tx, import_id, position))
    ).one_or_none()
    return None if row is None else _candidate(row)


def save_decision(
    tx: WriteTx,
    import_id: str,
    position: int,
    *,
    decision: Mapping[str, Any],
    matches: Sequence[Mapping[str, Any]],
) -> None:
    """Keep what was decided about a candidate, beside what the decider was shown."""
    tx.connection.execute(
        update(import_candidates)
        .where(*_is(tx, import_id, position))
        .values(decision=dict(decision), matches=list(matches), decided_at=func.now())
    )


def save_answer(
    tx: WriteTx, import_id: str, position: int, *, answer: Mapping[str, Any], event_id: str | None
) -> None:
    """Keep what was done with a candidate in the end, and the event that came of it."""
    tx.connection.execute(
        update(import_candidates)
        .where(*_is(tx, import_id, position))
        .values(answer=dict(answer), event_id=event_id)
    )


def count_undecided(tx: ReadTx, import_id: str) -> int:
    """Return how many candidates of an import nobody has decided yet."""
    statement = (
        select(func.count())
        .select_from(import_candidates)
        .where(
            import_candidates.c.tenant_id == tx.tenant_id,
            import_candidates.c.import_id == import_id,
            import_candidates.c.decision.is_(None),
        )
    )
    return int(tx.connection.execute(statement).scalar_one())


def count_undone_blocks(tx: ReadTx, namespace: str) -> int:
    """Return how many blocks of a namespace are the source of an undone import."""
    statement = (
        select(func.count())
        .select_from(imports)
        .where(
            imports.c.tenant_id == tx.tenant_id,
            imports.c.namespace == namespace,
            imports.c.state == StoredState.UNDONE.value,
            imports.c.source_block_id.is_not(None),
            # An erasure empties what it takes, and counts those blocks itself.
            imports.c.content != "",
        )
    )
    return int(tx.connection.execute(statement).scalar_one())


def import_of_block(tx: ReadTx, block_id: str, thread_id: str) -> str | None:
    """Return the import whose source a block of the given thread is, or None."""
    found: str | None = tx.connection.execute(
        select(imports.c.import_id).where(
            imports.c.tenant_id == tx.tenant_id,
            imports.c.source_thread_id == thread_id,
            imports.c.source_block_id == block_id,
        )
    ).scalar()
    return found


def events_in(tx: ReadTx, event_ids: Collection[str], *, version: int) -> list[str]:
    """Return which of the events belong to a derivation version."""
    statement = select(events.c.event_id).where(
        events.c.tenant_id == tx.tenant_id,
        events.c.event_id.in_(event_ids),
        in_version(version),
    )
    return list(tx.connection.execute(statement).scalars())


def subject_of(import_id: str, position: int | None) -> str:
    """Return the subject of the job about one candidate, or about the text."""
    return f"{import_id}/{TEXT if position is None else position}"


def jobs_of_import(tx: ReadTx, import_id: str) -> list[ImportJob]:
    """Return the newest job about each part of an import."""
    statement = (
        select(jobs.c.job_id, jobs.c.subject, jobs.c.state, jobs.c.reason)
        .where(
            jobs.c.tenant_id == tx.tenant_id,
            jobs.c.subject.like(f"{import_id}/%"),
            jobs.c.kind == JobKind.IMPORT.value,
        )
        .ext(distinct_on(jobs.c.subject))
        .order_by(jobs.c.subject, jobs.c.job_id.desc())
    )
    return [
        ImportJob(row.job_id, _position(row.subject), JobState(row.state), row.reason)
        for row in tx.connection.execute(statement)
    ]


def _position(subject: str) -> int | None:
    part = subject.rpartition("/")[2]
    return None if part == TEXT else int(part)


def _found(tx: ReadTx, import_id: str, *, lock: bool) -> ImportRow:
    statement = select(imports).where(
        imports.c.tenant_id == tx.tenant_id, imports.c.import_id == import_id
    )
    if lock:
        statement = statement.with_for_update(key_share=True)
    row = tx.connection.execute(statement).one_or_none()
    if row is None:
        raise NotFound("no such import")
    values = {name: value for name, value in row._mapping.items() if name != "tenant_id"}
    return ImportRow(**{**values, "state": StoredState(row.state)})


def _is(tx: ReadTx, import_id: str, position: int) -> tuple[Any, ...]:
    return (
        import_candidates.c.tenant_id == tx.tenant_id,
        import_candidates.c.import_id == import_id,
        import_candidates.c.position == position,
    )


def _candidate(row: Row[Any]) -> CandidateRow:
    return CandidateRow(
        position=row.position,
        candidate=row.candidate,
        fingerprint=row.fingerprint,
        matches=row.matches,
        decision=row.decision,
        answer=row.answer,
        event_id=row.event_id,
    )
