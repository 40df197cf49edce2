"""Seal the open tail into blocks, by count alone: L5, L4, L3 and a summarize job, atomically.

The thread is locked by the caller. Levels are rendered from the redacted view, so that no reader
of a block meets a secret; the messages keep what was sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.jobs import FollowUp, JobKind
from shared.domain.layers import render_layers
from shared.domain.tenancy import Policy
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.blocks import NewBlock, insert_block
from shared.store.database import WriteTx
from shared.store.jobs import enqueue
from shared.store.messages import last_turn_of, turns_range
from shared.store.namespaces import ThreadRow, advance_thread, next_block_sequence


@dataclass(frozen=True, slots=True)
class SealedTail:
    """What sealing did: the new blocks in order, and how many turns are still open."""

    block_ids: tuple[str, ...]
    open_tail_turns: int


def seal_full_tail(
    tx: WriteTx,
    namespace: str,
    thread_id: str,
    *,
    turn_count: int,
    sealed_turn_count: int,
    block_turn_size: int,
    max_attempts: int = 3,
) -> SealedTail:
    """Seal blocks of `block_turn_size` turns until the tail is shorter than that (D2, D40).

    `turn_count` and `sealed_turn_count` are the locked thread's. A block's range counts the
    real turns of the thread, whatever sizes earlier blocks had.
    """
    block_ids: list[str] = []
    sealed = sealed_turn_count
    while turn_count - sealed >= block_turn_size:
        block_id = _seal(
            tx,
            namespace,
            thread_id,
            first=sealed + 1,
            last=sealed + block_turn_size,
            max_attempts=max_attempts,
        )
        if block_id is not None:
            block_ids.append(block_id)
        sealed += block_turn_size
    if sealed > sealed_turn_count:
        advance_thread(
            tx,
            namespace,
            thread_id,
            turns=0,
            sealed=sealed - sealed_turn_count,
            blocks=len(block_ids),
        )
    return SealedTail(tuple(block_ids), turn_count - sealed)


def seal_now(
    tx: WriteTx, namespace: str, thread: ThreadRow, *, policy: Policy, settings: Settings
) -> SealedTail:
    """Seal the whole open tail of a locked thread: full blocks first, the rest as one."""
    full = seal_full_tail(
        tx,
        namespace,
        thread.thread_id,
        turn_count=thread.turn_count,
        sealed_turn_count=thread.sealed_turn_count,
        block_turn_size=policy.block_turn_size,
        max_attempts=settings.max_attempts,
    )
    if full.open_tail_turns == 0:
        return full
    rest = seal_full_tail(
        tx,
        namespace,
        thread.thread_id,
        turn_count=thread.turn_count,
        sealed_turn_count=thread.turn_count - full.open_tail_turns,
        block_turn_size=full.open_tail_turns,
        max_attempts=settings.max_attempts,
    )
    return SealedTail((*full.block_ids, *rest.block_ids), 0)


def _seal(
    tx: WriteTx, namespace: str, thread_id: str, *, first: int, last: int, max_attempts: int
) -> str | None:
    stored = turns_range(tx, namespace, thread_id, first=first, last=last)
    if not stored:
        # Every turn of the range was erased before it was sealed.
        return None
    messages = [item.message for item in stored]
    layers = render_layers(messages)
    times = [m.occurred_at for m in messages if m.occurred_at is not None]
    block_id = new_id(Prefix.BLOCK)
    insert_block(
        tx,
        NewBlock(
            block_id=block_id,
            namespace=namespace,
            thread_id=thread_id,
            sequence=next_block_sequence(tx, namespace),
            start_turn=first,
            end_turn=last,
            formed_turn=last_turn_of(tx, namespace, thread_id, last).namespace_turn,
            started_at=min(times),
            ended_at=max(times),
            layers=layers.by_level(),
        ),
    )
    enqueue(tx, namespace, FollowUp(JobKind.SUMMARIZE, block_id), max_attempts=max_attempts)
    return block_id
