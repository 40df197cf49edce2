"""Commit a turn: receipt, messages, postings, open tail and sealed blocks, in one transaction.

Locks are taken in one order by every writer: the receipt, the thread, and last and shortest the
namespace's counter, so that writers of other threads wait only for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ingest.sealing import SealedTail, seal_full_tail
from ingest.turns.prepare import PreparedMessage, PreparedTurn
from shared.domain.tenancy import Policy
from shared.limits import check_turn
from shared.settings import Settings
from shared.store.database import WriteTx
from shared.store.limits import limit_defaults
from shared.store.messages import NewMessage, NewTurn, insert_turn
from shared.store.namespaces import (
    ThreadRow,
    advance_thread,
    ensure_namespace,
    lock_thread,
    next_namespace_turn,
    policy_defaults,
)
from shared.store.policies import rules_for
from shared.store.receipts import Receipt, answer, claim
from shared.store.search_index import DocumentKind, SearchDocument, index_documents
from shared.store.vectors import request_vectors

OPERATION = "turn"
_REDACT_SOURCE = "redact_source"


def commit_turn(
    tx: WriteTx, namespace: str, turn: PreparedTurn, *, settings: Settings
) -> dict[str, Any]:
    """Store a turn and return the answer to it; nothing is stored when this raises.

    A known receipt returns its first answer with `duplicate` true, and raises Conflict
    (`receipt_conflict`) when the content differs; a new turn beyond a quota raises TooMany. A
    sub-agent's turn is not stored unless the
    policy says so; the answer then says `stored: false`.
    """
    policy, limits = rules_for(
        tx, namespace, defaults=policy_defaults(settings), limits=limit_defaults(settings)
    )
    if turn.is_subagent and not policy.ingest_subagents:
        return {
            "stored": False,
            "reason": "subagent",
            "thread_id": turn.thread_id,
            "duplicate": False,
        }
    receipt = Receipt(namespace, OPERATION, turn.receipt_id, turn.request_hash)
    known = claim(tx, receipt)
    if known is not None:
        return known
    size_bytes = _size(turn)
    check_turn(tx, limits, new_bytes=size_bytes)
    ensure_namespace(tx, namespace)
    thread = lock_thread(tx, namespace, turn.thread_id)
    sequence = thread.turn_count + 1
    _store(tx, namespace, turn, sequence=sequence, policy=policy, size_bytes=size_bytes)
    sealed = _seal(tx, namespace, thread, policy=policy, settings=settings)
    request_vectors(tx, namespace, policy, settings)
    content = _answer(turn, sequence, sealed)
    answer(tx, receipt, content)
    return content


def _store(
    tx: WriteTx,
    namespace: str,
    turn: PreparedTurn,
    *,
    sequence: int,
    policy: Policy,
    size_bytes: int,
) -> None:
    # Postings are many and need no number, so they come before the counter's lock.
    index_documents(tx, namespace, DocumentKind.MESSAGE, _documents(turn), are_new=True)
    redacts_source = policy.redaction == _REDACT_SOURCE
    messages = tuple(_new_message(m, redacts_source=redacts_source) for m in turn.messages)
    namespace_turn = next_namespace_turn(tx, namespace, size_bytes=size_bytes)
    insert_turn(
        tx,
        NewTurn(
            turn_id=turn.turn_id,
            namespace=namespace,
            thread_id=turn.thread_id,
            sequence=sequence,
            namespace_turn=namespace_turn,
            receipt_id=turn.receipt_id,
            occurred_at=turn.occurred_at,
            zone=turn.zone,
            time_basis=turn.time_basis,
            messages=messages,
            agent=turn.agent,
            labels=turn.labels,
            metadata=turn.metadata,
            size_bytes=size_bytes,
        ),
    )
    advance_thread(tx, namespace, turn.thread_id, turns=1, sealed=0, blocks=0)


def _seal(
    tx: WriteTx, namespace: str, thread: ThreadRow, *, policy: Policy, settings: Settings
) -> SealedTail:
    return seal_full_tail(
        tx,
        namespace,
        thread.thread_id,
        turn_count=thread.turn_count + 1,
        sealed_turn_count=thread.sealed_turn_count,
        block_turn_size=policy.block_turn_size,
        max_attempts=settings.max_attempts,
    )


def _size(turn: PreparedTurn) -> int:
    """Return the bytes of the turn's messages as they were sent: what a storage quota counts."""
    return sum(
        len(message.content.encode()) + len(orjson.dumps(message.tool_calls or ""))
        for message in (prepared.message for prepared in turn.messages)
    )


def _documents(turn: PreparedTurn) -> list[SearchDocument]:
    return [
        SearchDocument(
            document_id=prepared.message.id,
            thread_id=turn.thread_id,
            at=prepared.message.occurred_at or turn.occurred_at,
            frequencies=prepared.frequencies,
        )
        for prepared in turn.messages
        if prepared.frequencies
    ]


def _new_message(prepared: PreparedMessage, *, redacts_source: bool) -> NewMessage:
    """Keep what was sent, or only the redacted text where the policy says so (D27, D38)."""
    said, redacted = prepared.message, prepared.redacted
    if redacts_source:
        return NewMessage(redacted)
    calls: list[Mapping[str, Any]] = list(redacted.tool_calls)
    return NewMessage(
        said,
        redacted_content=redacted.content if redacted.content != said.content else None,
        redacted_tool_calls=calls if calls != list(said.tool_calls) else None,
    )


def _answer(turn: PreparedTurn, sequence: int, sealed: SealedTail) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "thread_id": turn.thread_id,
        "sequence": sequence,
        "duplicate": False,
        "open_tail_turns": sealed.open_tail_turns,
        "sealed_block_ids": list(sealed.block_ids),
        "time_basis": turn.time_basis,
    }
