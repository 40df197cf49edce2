"""How far a namespace has come along the walk, in counts; and which tails are over a size."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from shared.store.database import ReadTx
from shared.store.jobs import count_by_state, live_by_kind
from shared.store.tables import block_states, block_summaries, events, namespaces, nodes, threads
from shared.store.versions import in_version


def stage_counts(tx: ReadTx, namespace: str) -> dict[str, Any]:
    """Return counts per stage: turns, tail, blocks, summaries, events, nodes and jobs.

    `in_progress` tells, by kind of job, how many are live and how old the oldest is, in seconds.
    """
    here = {"tenant_id": tx.tenant_id, "namespace": namespace}
    tail = select(
        func.count().label("threads"),
        func.coalesce(func.sum(threads.c.turn_count), 0).label("turns"),
        func.coalesce(func.sum(threads.c.turn_count - threads.c.sealed_turn_count), 0).label(
            "open"
        ),
    ).filter_by(**here)
    row = tx.connection.execute(tail).one()
    blocks = _by(tx, block_states.c.status, here)
    jobs: dict[str, dict[str, int]] = {}
    for (kind, state), number in sorted(count_by_state(tx, namespace).items()):
        jobs.setdefault(kind, {})[state] = number
    return {
        "threads": row.threads,
        "turns": int(row.turns),
        "open_tail_turns": int(row.open),
        "blocks": {"pending": blocks.get("pending", 0), "ready": blocks.get("ready", 0)},
        "summaries": _summaries(tx, namespace),
        "events": _events(tx, namespace),
        "nodes": _nodes(tx, namespace),
        "jobs": jobs,
        "in_progress": live_by_kind(tx, namespace),
    }


def overfull_threads(tx: ReadTx, namespace: str, *, block_turn_size: int) -> list[str]:
    """Return the threads whose open tail holds a whole block of that size, by name."""
    open_turns = threads.c.turn_count - threads.c.sealed_turn_count
    statement = select(threads.c.thread_id).where(
        threads.c.tenant_id == tx.tenant_id,
        threads.c.namespace == namespace,
        open_turns >= block_turn_size,
    )
    return list(tx.connection.execute(statement.order_by(threads.c.thread_id)).scalars())


def _by(tx: ReadTx, column: Any, here: dict[str, Any]) -> dict[str, int]:
    statement = select(column, func.count()).filter_by(**here).group_by(column)
    return {str(value): number for value, number in tx.connection.execute(statement)}


def _summaries(tx: ReadTx, namespace: str) -> int:
    statement = (
        select(func.count(func.distinct(block_summaries.c.block_id)))
        .join(
            block_states,
            (block_states.c.tenant_id == block_summaries.c.tenant_id)
            & (block_states.c.block_id == block_summaries.c.block_id),
        )
        .where(block_states.c.tenant_id == tx.tenant_id, block_states.c.namespace == namespace)
    )
    return int(tx.connection.execute(statement).scalar_one())


def _events(tx: ReadTx, namespace: str) -> dict[str, int]:
    statement = (
        select(events.c.status, func.count())
        .join(
            namespaces,
            (namespaces.c.tenant_id == events.c.tenant_id)
            & (namespaces.c.namespace == events.c.namespace)
            & in_version(namespaces.c.derivation_version),
        )
        .where(events.c.tenant_id == tx.tenant_id, events.c.namespace == namespace)
        .group_by(events.c.status)
    )
    return {str(status): number for status, number in tx.connection.execute(statement)}


def _nodes(tx: ReadTx, namespace: str) -> int:
    statement = (
        select(func.count())
        .select_from(nodes)
        .join(
            namespaces,
            (namespaces.c.tenant_id == nodes.c.tenant_id)
            & (namespaces.c.namespace == nodes.c.namespace)
            & (namespaces.c.graph_version_id == nodes.c.graph_version_id),
        )
        .where(nodes.c.tenant_id == tx.tenant_id, nodes.c.namespace == namespace)
    )
    return int(tx.connection.execute(statement).scalar_one())
