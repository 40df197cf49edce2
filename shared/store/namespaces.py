"""Namespaces, their policy, and their threads' counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from shared.domain.limits import within_limits
from shared.domain.tenancy import Policy, Stages, effective_policy
from shared.errors import NotFound
from shared.settings import Settings
from shared.store.database import ReadTx, WriteTx
from shared.store.direct import Direct
from shared.store.tables import namespaces, tenants, threads

_FIND = Direct(
    select(
        namespaces,
        tenants.c.policy.label("tenant_policy"),
        tenants.c.limits.label("tenant_limits"),
    )
    .join(tenants, tenants.c.tenant_id == namespaces.c.tenant_id)
    .where(
        namespaces.c.tenant_id == bindparam("tenant_id"),
        namespaces.c.namespace == bindparam("namespace"),
    )
)

_COUNT_TURN = text(
    """
    UPDATE namespaces SET
        turn_count = turn_count + 1,
        day_turns = CASE WHEN counted_day = current_date THEN day_turns + 1 ELSE 1 END,
        counted_day = current_date,
        stored_bytes = stored_bytes + :size_bytes
    WHERE tenant_id = :tenant_id AND namespace = :namespace
    RETURNING turn_count
    """
)

_LOCK = Direct("SELECT pg_advisory_xact_lock(hashtextextended(:subject, 0))")
_REVISION = Direct(
    "UPDATE namespaces SET revision = revision + 1 "
    "WHERE tenant_id = :tenant_id AND namespace = :namespace RETURNING revision"
)


@dataclass(frozen=True, slots=True)
class NamespaceRow:
    """A namespace with its effective policy (D46) and counters."""

    namespace: str
    policy: Policy
    overrides: Mapping[str, Any]
    turn_count: int
    block_count: int
    revision: int
    derivation_version: int
    graph_version_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread's counters: turns posted, turns sealed, blocks, ready blocks."""

    thread_id: str
    turn_count: int
    sealed_turn_count: int
    block_count: int
    ready_count: int
    last_turn_at: datetime | None


def policy_defaults(settings: Settings) -> Policy:
    """Return the policy that settings alone give."""
    return Policy(
        block_turn_size=settings.block_turn_size,
        block_decay_lambda=settings.block_decay_lambda,
        token_budget=settings.token_budget,
        tenant_token_budget=settings.tenant_token_budget,
        stages=Stages(embed=settings.embeddings_provider != "none"),
    )


def find_namespace(tx: ReadTx, namespace: str, *, defaults: Policy) -> NamespaceRow | None:
    """Return the namespace, or None when this tenant has none of that name."""
    row = _FIND.first(tx, namespace=namespace)
    return None if row is None else namespace_row(row, defaults=defaults)


def namespace_row(row: Any, *, defaults: Policy) -> NamespaceRow:
    """Return the namespace of a row that holds its columns and the tenant's policy and limits."""
    return NamespaceRow(
        namespace=row.namespace,
        policy=within_limits(
            effective_policy(defaults, row.tenant_policy, row.policy), row.tenant_limits
        ),
        overrides=row.policy,
        turn_count=row.turn_count,
        block_count=row.block_count,
        revision=row.revision,
        derivation_version=row.derivation_version,
        graph_version_id=row.graph_version_id,
        created_at=row.created_at,
    )


def get_namespace(tx: ReadTx, namespace: str, *, defaults: Policy) -> NamespaceRow:
    """Return the namespace; NotFound when this tenant has none of that name."""
    found = find_namespace(tx, namespace, defaults=defaults)
    if found is None:
        raise NotFound("no such namespace")
    return found


def ensure_namespace(tx: WriteTx, namespace: str) -> None:
    """Begin the namespace unless it exists."""
    tx.connection.execute(
        insert(namespaces)
        .values(tenant_id=tx.tenant_id, namespace=namespace)
        .on_conflict_do_nothing()
    )


def save_policy(tx: WriteTx, namespace: str, overrides: Mapping[str, Any]) -> None:
    """Replace what the namespace's own policy says; takes effect with the next turn."""
    tx.connection.execute(
        update(namespaces)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .values(policy=dict(overrides), revision=namespaces.c.revision + 1)
    )


def list_namespaces(
    tx: ReadTx, *, after: str | None, limit: int, only: frozenset[str] | None = None
) -> list[str]:
    """Return namespace names in order, after the name `after`, within the key's list."""
    statement = select(namespaces.c.namespace).where(namespaces.c.tenant_id == tx.tenant_id)
    if after is not None:
        statement = statement.where(namespaces.c.namespace > after)
    if only is not None:
        statement = statement.where(namespaces.c.namespace.in_(only))
    rows = tx.connection.execute(statement.order_by(namespaces.c.namespace).limit(limit))
    return list(rows.scalars())


def lock_thread(tx: WriteTx, namespace: str, thread_id: str) -> ThreadRow:
    """Begin the thread unless it exists, lock its row, and return its counters.

    `derivation_locks` tells in which order rows are locked.
    """
    begin = (
        insert(threads)
        .values(tenant_id=tx.tenant_id, namespace=namespace, thread_id=thread_id)
        .on_conflict_do_nothing()
    )
    lock = (
        select(threads)
        .where(
            threads.c.tenant_id == tx.tenant_id,
            threads.c.namespace == namespace,
            threads.c.thread_id == thread_id,
        )
        .with_for_update(key_share=True)
    )
    # An erasure may take the row while this waits for it: then it begins anew.
    while True:
        tx.connection.execute(begin)
        row = tx.connection.execute(lock).one_or_none()
        if row is not None:
            return _thread(row)


def find_thread(tx: ReadTx, namespace: str, thread_id: str) -> ThreadRow | None:
    """Return a thread's counters, or None when it has no turn yet."""
    row = tx.connection.execute(
        select(threads).where(
            threads.c.tenant_id == tx.tenant_id,
            threads.c.namespace == namespace,
            threads.c.thread_id == thread_id,
        )
    ).one_or_none()
    return None if row is None else _thread(row)


def list_threads(
    tx: ReadTx, namespace: str, *, after: str | None = None, limit: int = 50
) -> list[ThreadRow]:
    """Return the threads of a namespace by name, after the name `after`."""
    statement = select(threads).where(
        threads.c.tenant_id == tx.tenant_id, threads.c.namespace == namespace
    )
    if after is not None:
        statement = statement.where(threads.c.thread_id > after)
    rows = tx.connection.execute(statement.order_by(threads.c.thread_id).limit(limit))
    return [_thread(row) for row in rows]


def advance_thread(
    tx: WriteTx, namespace: str, thread_id: str, *, turns: int, sealed: int, blocks: int
) -> None:
    """Add to a locked thread's counters."""
    tx.connection.execute(
        update(threads)
        .where(
            threads.c.tenant_id == tx.tenant_id,
            threads.c.namespace == namespace,
            threads.c.thread_id == thread_id,
        )
        .values(
            turn_count=threads.c.turn_count + turns,
            sealed_turn_count=threads.c.sealed_turn_count + sealed,
            block_count=threads.c.block_count + blocks,
            last_turn_at=func.now() if turns else threads.c.last_turn_at,
        )
    )


def next_namespace_turn(tx: WriteTx, namespace: str, *, size_bytes: int = 0) -> int:
    """Count one turn of the namespace and return its number: the clock of weights (D4).

    Counts it, and its `size_bytes`, for the tenant's quotas as well. Locks the namespace's row
    until the commit, so it is called last.
    """
    values = {"tenant_id": tx.tenant_id, "namespace": namespace, "size_bytes": size_bytes}
    number: int = tx.connection.execute(_COUNT_TURN, values).scalar_one()
    return number


def next_block_sequence(tx: WriteTx, namespace: str) -> int:
    """Count one block of the namespace and return its number."""
    return _count(tx, namespace, "block_count")


def lock_projection(tx: WriteTx, namespace: str) -> int:
    """Let one projection of the namespace store at a time; return the graph's revision, counted up.

    Held until the commit. The revision tells a reader that the graph has moved since it looked.
    """
    _LOCK.rows(tx, subject=f"project:{tx.tenant_id}:{namespace}")
    return count_revision(tx, namespace)


def count_revision(tx: WriteTx, namespace: str) -> int:
    """Count a change of the graph, and return its number. Locks the namespace's row: call late."""
    revision: int = _REVISION.scalar(tx, namespace=namespace)
    return revision


def _count(tx: WriteTx, namespace: str, counter: str) -> int:
    column = namespaces.c[counter]
    value: int = tx.connection.execute(
        update(namespaces)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .values({counter: column + 1})
        .returning(column)
    ).scalar_one()
    return value


def _thread(row: Any) -> ThreadRow:
    return ThreadRow(
        thread_id=row.thread_id,
        turn_count=row.turn_count,
        sealed_turn_count=row.sealed_turn_count,
        block_count=row.block_count,
        ready_count=row.ready_count,
        last_turn_at=row.last_turn_at,
    )
