"""What readers need of blocks beside their rows: members, progress, neighbours of messages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, Text, and_, any_, bindparam, func, select

from shared.domain.jobs import LIVE_STATES, JobKind
from shared.store.database import ReadTx
from shared.store.direct import Direct
from shared.store.tables import block_layers, block_states, blocks, jobs, messages, threads
from shared.store.tables.blocks import PENDING

_TENANT = bindparam("tenant_id", type_=Text)
_LIVE = [state.value for state in LIVE_STATES]
_MEMBERS = Direct(
    select(messages.c.turn_sequence, messages.c.turn_id, messages.c.message_id)
    .where(
        messages.c.tenant_id == _TENANT,
        messages.c.namespace == bindparam("namespace", type_=Text),
        messages.c.thread_id == bindparam("thread_id", type_=Text),
    )
    .order_by(messages.c.turn_sequence, messages.c.position)
)


def _backlog(*, for_graph: bool) -> Direct:
    found = select(block_states.c.block_id).where(
        block_states.c.tenant_id == _TENANT,
        block_states.c.namespace == bindparam("namespace", type_=Text),
        PENDING,
    )
    projecting = select(jobs.c.subject).where(
        jobs.c.tenant_id == _TENANT,
        jobs.c.namespace == bindparam("namespace", type_=Text),
        jobs.c.kind == bindparam("kind", type_=Text),
        jobs.c.state == any_(bindparam("states", type_=ARRAY(Text))),
    )
    waiting = (found.union(projecting) if for_graph else found).subquery()
    # A query of its own for each, as a join may be planned to walk all blocks of the namespace.
    created = (
        select(blocks.c.created_at)
        .where(blocks.c.tenant_id == _TENANT, blocks.c.block_id == waiting.c.block_id)
        .scalar_subquery()
    )
    return Direct(
        select(func.count().label("blocks"), func.min(created).label("oldest")).select_from(waiting)
    )


_BACKLOG, _BACKLOG_OF_GRAPH = _backlog(for_graph=False), _backlog(for_graph=True)


@dataclass(frozen=True, slots=True)
class Member:
    """One message's place in its thread."""

    turn_sequence: int
    turn_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many blocks are not processed yet, and since when the oldest waits."""

    blocks: int
    oldest_sealed_at: datetime | None


def members_of_thread(tx: ReadTx, namespace: str, thread_id: str) -> list[Member]:
    """Return every message's place in the thread, in order, without its text."""
    rows = _MEMBERS.rows(tx, namespace=namespace, thread_id=thread_id)
    return [Member(*row) for row in rows]


def backlog(tx: ReadTx, namespace: str, *, for_graph: bool = False) -> Backlog:
    """Return the blocks whose events (or, `for_graph`, whose graph) are not derived yet.

    A failed block counts: what it holds is no more findable than a pending one's.
    """
    row = (_BACKLOG_OF_GRAPH if for_graph else _BACKLOG).first(
        tx, namespace=namespace, kind=JobKind.PROJECT.value, states=_LIVE
    )
    return Backlog(0, None) if row is None else Backlog(row.blocks, row.oldest)


def ready_since(tx: ReadTx, namespace: str, thread_id: str, sequence: int) -> int:
    """Return how many ready blocks of the thread come after a place in the block list."""
    state = block_states.c
    statement = (
        select(func.count())
        .select_from(blocks)
        .join(
            block_states,
            and_(state.tenant_id == blocks.c.tenant_id, state.block_id == blocks.c.block_id),
        )
        .where(
            blocks.c.tenant_id == tx.tenant_id,
            blocks.c.namespace == namespace,
            blocks.c.thread_id == thread_id,
            blocks.c.sequence > sequence,
            state.status == "ready",
        )
    )
    return int(tx.connection.execute(statement).scalar_one())


def layer_tokens(tx: ReadTx, block_ids: Collection[str]) -> dict[tuple[str, int], int]:
    """Return the estimated tokens of levels 3 to 5 by (block, level), without their texts."""
    if not block_ids:
        return {}
    statement = select(block_layers.c.block_id, block_layers.c.level, block_layers.c.tokens).where(
        block_layers.c.tenant_id == tx.tenant_id, block_layers.c.block_id.in_(block_ids)
    )
    rows = tx.connection.execute(statement)
    return {(row.block_id, row.level): row.tokens for row in rows}


def open_tail_turns(tx: ReadTx, namespace: str, thread_id: str | None = None) -> int:
    """Return how many turns stand in the open tail of a thread, or of all threads."""
    statement = select(
        func.coalesce(func.sum(threads.c.turn_count - threads.c.sealed_turn_count), 0)
    ).where(threads.c.tenant_id == tx.tenant_id, threads.c.namespace == namespace)
    if thread_id is not None:
        statement = statement.where(threads.c.thread_id == thread_id)
    return int(tx.connection.execute(statement).scalar_one())
