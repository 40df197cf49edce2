"""Vectors of messages and events: asking for them, what has none yet, writing and removing them.

Each carries the model that made it; another model's are neither compared nor counted as there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Column, Table, and_, delete, func, select, text
from sqlalchemy.dialects.postgresql import insert

from shared.domain.jobs import BACKFILL, FollowUp, JobKind
from shared.domain.tenancy import Policy
from shared.settings import Settings
from shared.store.database import ReadTx, WriteTx
from shared.store.events import VISIBLE
from shared.store.jobs import enqueue
from shared.store.tables import event_vectors, events, message_vectors, messages
from shared.store.versions import in_version


class VectorKind(StrEnum):
    """What a vector stands for."""

    MESSAGE = "message"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class VectorModel:
    """Which vectors are meant: those of one model, of one length."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A message or event without a vector of the model, with the text to embed."""

    kind: VectorKind
    source_id: str
    thread_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A packed vector of a message or event; None where the model refused the text."""

    kind: VectorKind
    source_id: str
    thread_id: str
    packed: bytes | None


VECTOR_TABLES: Final[Mapping[VectorKind, Table]] = {
    VectorKind.MESSAGE: message_vectors,
    VectorKind.EVENT: event_vectors,
}
_LOCK_SHARED = text("SELECT pg_advisory_xact_lock_shared(hashtextextended(:subject, 0))")
_LOCK_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended(:subject, 0))")


def wants_vectors(settings: Settings, policy: Policy) -> bool:
    """Tell whether a namespace's messages and events are embedded."""
    return settings.embeddings_provider != "none" and policy.stages.embed


def request_vectors(tx: WriteTx, namespace: str, policy: Policy, settings: Settings) -> None:
    """Enqueue the namespace's embed job with what was just stored, unless one is live or none
    is wanted.

    Held until the commit: the job that is live looks for rows once more after waiting for us.
    """
    if wants_vectors(settings, policy):
        tx.connection.execute(_LOCK_SHARED, {"subject": _subject(tx, namespace)})
        enqueue(
            tx,
            namespace,
            FollowUp(JobKind.EMBED, namespace),
            max_attempts=settings.max_attempts,
        )


def request_backfill(tx: WriteTx, namespace: str, *, max_attempts: int) -> str:
    """Enqueue a job on the backfill queue that gives every row a vector of the current model.

    What a model refused is tried again. Returns the job's id, a live one's if there is one.
    """
    for kind in VectorKind:
        table = VECTOR_TABLES[kind]
        tx.connection.execute(
            delete(table).where(*rows_of(tx, table, namespace), table.c.vector.is_(None))
        )
    tx.connection.execute(_LOCK_SHARED, {"subject": _subject(tx, namespace)})
    work = FollowUp(JobKind.EMBED, namespace, queue=BACKFILL)
    return enqueue(tx, namespace, work, max_attempts=max_attempts)


def await_requests(tx: WriteTx, namespace: str) -> None:
    """Wait for transactions that request vectors, and keep new ones waiting until the commit.

    Then what they stored is seen, or they find the job ended and enqueue another one.
    """
    tx.connection.execute(_LOCK_ALONE, {"subject": _subject(tx, namespace)})


def without_vector(
    tx: ReadTx, namespace: str, model: VectorModel, *, derivation_version: int, limit: int
) -> list[Unembedded]:
    """Return messages and then events of the namespace that have no vector of the model.

    Newest first: what was said last is asked for first. Texts are those that readers see (D38).
    """
    found = _messages_without(tx, namespace, model, limit=limit)
    if len(found) < limit:
        found += _events_without(
            tx, namespace, model, version=derivation_version, limit=limit - len(found)
        )
    return found


def save_vectors(
    tx: WriteTx, namespace: str, model: VectorModel, embedded: Sequence[Embedded]
) -> int:
    """Store vectors, in place of another model's; return how many.

    What was erased meanwhile is left out.
    """
    saved = 0
    for kind in VectorKind:
        table, identity = VECTOR_TABLES[kind], identity_of(kind)
        source = messages if kind is VectorKind.MESSAGE else events
        given = {one.source_id: one for one in embedded if one.kind is kind}
        alive = _alive(tx, source, identity, given)
        rows = [
            {
                "tenant_id": tx.tenant_id,
                identity: one.source_id,
                "namespace": namespace,
                "thread_id": one.thread_id,
                "model": model.name,
                "dimension": model.dimension,
                "vector": one.packed,
            }
            for one in (given[name] for name in alive)
        ]
        if rows:
            statement = insert(table)
            new = {name: statement.excluded[name] for name in ("model", "dimension", "vector")}
            tx.connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["tenant_id", identity], set_={**new, "created_at": func.now()}
                ),
                rows,
            )
        saved += len(rows)
    return saved


def remove_vectors(tx: WriteTx, namespace: str, ids: Collection[str]) -> int:
    """Delete the vectors of messages and events, whatever model made them; return how many."""
    removed = 0
    if ids:
        for kind in VectorKind:
            table = VECTOR_TABLES[kind]
            removed += tx.connection.execute(
                delete(table).where(
                    *rows_of(tx, table, namespace), table.c[identity_of(kind)].in_(ids)
                )
            ).rowcount
    return removed


def rows_of(tx: ReadTx, table: Table, namespace: str) -> tuple[Any, ...]:
    """Return the conditions that a vector is of the namespace."""
    return table.c.tenant_id == tx.tenant_id, table.c.namespace == namespace


def identity_of(kind: VectorKind) -> str:
    """Return the column that names what a vector stands for."""
    return f"{kind.value}_id"


def _messages_without(
    tx: ReadTx, namespace: str, model: VectorModel, *, limit: int
) -> list[Unembedded]:
    shown = func.coalesce(messages.c.redacted_content, messages.c.content)
    statement = (
        select(messages.c.message_id, messages.c.thread_id, messages.c.name, shown.label("shown"))
        .select_from(messages.outerjoin(message_vectors, _of(model, VectorKind.MESSAGE, messages)))
        .where(
            messages.c.tenant_id == tx.tenant_id,
            messages.c.namespace == namespace,
            message_vectors.c.message_id.is_(None),
            func.btrim(shown, " \t\r\n") != "",
        )
        .order_by(messages.c.message_id.desc())
        .limit(limit)
    )
    return [
        Unembedded(
            VectorKind.MESSAGE,
            row.message_id,
            row.thread_id,
            f"{row.name}: {row.shown}" if row.name else row.shown,
        )
        for row in tx.connection.execute(statement)
    ]


def _events_without(
    tx: ReadTx, namespace: str, model: VectorModel, *, version: int, limit: int
) -> list[Unembedded]:
    statement = (
        select(events.c.event_id, events.c.thread_id, events.c.title, events.c.summary)
        .select_from(events.outerjoin(event_vectors, _of(model, VectorKind.EVENT, events)))
        .where(
            events.c.tenant_id == tx.tenant_id,
            events.c.namespace == namespace,
            in_version(version),
            events.c.status.in_([status.value for status in VISIBLE]),
            event_vectors.c.event_id.is_(None),
        )
        .order_by(events.c.event_id.desc())
        .limit(limit)
    )
    return [
        Unembedded(VectorKind.EVENT, row.event_id, row.thread_id, f"{row.title}. {row.summary}")
        for row in tx.connection.execute(statement)
    ]


def _of(model: VectorModel, kind: VectorKind, source: Table) -> Any:
    table, identity = VECTOR_TABLES[kind], identity_of(kind)
    return and_(
        table.c.tenant_id == source.c.tenant_id,
        table.c[identity] == source.c[identity],
        table.c.model == model.name,
        table.c.dimension == model.dimension,
    )


def _alive(tx: WriteTx, source: Table, identity: str, given: Collection[str]) -> list[str]:
    """Return which sources still exist; one that is erased right now fails its foreign key."""
    column: Column[str] = source.c[identity]
    statement = (
        select(column).where(source.c.tenant_id == tx.tenant_id, column.in_(given)).order_by(column)
    )
    return list(tx.connection.execute(statement).scalars()) if given else []


def _subject(tx: ReadTx, namespace: str) -> str:
    return f"embed:{tx.tenant_id}:{namespace}"
