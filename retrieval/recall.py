"""The context of a conversation's next turn: nothing said in it is ever missing (D31).

Ready blocks at their level, unready ones as their source messages, the open tail verbatim; and,
apart and marked as background, what other conversations know. No batch, no reinforcement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.activated import Activated, activated_section
from retrieval.block_views import (
    PENDING,
    RAW_LEVEL,
    READY,
    header_of,
    messages_of,
    ready_cards,
    standing_of,
)
from retrieval.message_cards import MessageCard, message_card
from retrieval.progress import Pending, pending
from retrieval.reader import Reader
from retrieval.schemas import ContextRequest
from shared.domain.budget import estimate_tokens
from shared.domain.layers import render_l5
from shared.domain.turns import UNTHREADED
from shared.store.block_views import Member, members_of_thread
from shared.store.blocks import BlockRow, list_blocks
from shared.store.database import ReadTx
from shared.store.messages import StoredMessage, turns_range
from shared.store.namespaces import find_thread

_QUERY_TURNS = 2
"""How many turns of the open tail stand beside the query when memories are activated."""


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One block of the thread. Unready ones come as their messages, at L5.

    `message_ids` are exactly the messages a host may replace by `header` and `content`.
    """

    block_id: str
    turn_ids: list[str]
    message_ids: list[str]
    turn_range: list[int]
    level: int
    status: str
    header: str
    content: str
    tokens: int
    messages: list[MessageCard] | None


@dataclass(frozen=True, slots=True)
class ContextReply:
    """A thread's memory, oldest first, and what else bears on it."""

    thread_id: str
    blocks: list[ContextBlock]
    open_tail: list[MessageCard]
    activated: Activated
    pending: Pending


def recall_context(tx: ReadTx, reader: Reader, asked: ContextRequest) -> ContextReply:
    """Return what the next turn of a thread should know.

    A thread without turns yet is in order: it gets what other conversations know.
    """
    thread_id = reader.thread_id or UNTHREADED
    thread = find_thread(tx, reader.name, thread_id)
    sealed = 0 if thread is None else thread.sealed_turn_count
    tail = turns_range(tx, reader.name, thread_id, first=sealed + 1, last=None)
    blocks = list_blocks(tx, reader.name, thread_id)
    return ContextReply(
        thread_id=thread_id,
        blocks=_shown(tx, reader, thread_id, blocks),
        open_tail=[message_card(stored) for stored in tail],
        activated=activated_section(
            tx,
            reader,
            query=_query(asked.query, tail) if _has_others(reader, blocks) else "",
            thread_id=thread_id,
            own_block_ids={block.block_id for block in blocks},
            max_tokens=asked.max_tokens,
            max_events=asked.max_events,
            max_nodes=asked.max_nodes,
        ),
        pending=pending(tx, reader),
    )


def _has_others(reader: Reader, own: Sequence[BlockRow]) -> bool:
    """Tell whether blocks of other conversations may be there; if not, nothing is looked for.

    Blocks that were sealed since the namespace's count was read are not in it.
    """
    namespace = reader.namespace
    counted = sum(block.formed_turn <= namespace.turn_count for block in own)
    return namespace.block_count > counted


def _shown(
    tx: ReadTx, reader: Reader, thread_id: str, blocks: Sequence[BlockRow]
) -> list[ContextBlock]:
    if not blocks:
        return []
    members = members_of_thread(tx, reader.name, thread_id)
    cards = {card.block_id: card for card in ready_cards(tx, reader, blocks)}
    standing = standing_of(tx, blocks)
    shown: list[ContextBlock] = []
    for block in blocks:
        own = [m for m in members if block.start_turn <= m.turn_sequence <= block.end_turn]
        if standing[block.block_id] == READY:
            card = cards[block.block_id]
            shown.append(_block(block, own, READY, level=card.level, content=card.content))
        else:
            status = standing.get(block.block_id, PENDING)
            sources = messages_of(tx, block)
            content = render_l5([stored.message for stored in sources])
            shown.append(
                _block(block, own, status, level=RAW_LEVEL, content=content, sources=sources)
            )
    return shown


def _block(
    block: BlockRow,
    members: Sequence[Member],
    status: str,
    *,
    level: int,
    content: str,
    sources: Sequence[StoredMessage] | None = None,
) -> ContextBlock:
    return ContextBlock(
        block_id=block.block_id,
        turn_ids=list(dict.fromkeys(member.turn_id for member in members)),
        message_ids=[member.message_id for member in members],
        turn_range=[block.start_turn, block.end_turn],
        level=level,
        status=status,
        header=header_of(block, level),
        content=content,
        tokens=estimate_tokens(content),
        messages=None if sources is None else [message_card(stored) for stored in sources],
    )


def _query(query: str | None, tail: Sequence[StoredMessage]) -> str:
    """Return what memories are activated by: the query, then the last turns (section 20)."""
    turns = sorted({stored.turn_sequence for stored in tail})[-_QUERY_TURNS:]
    recent = render_l5([stored.message for stored in tail if stored.turn_sequence in turns])
    return "\n\n".join(part for part in (query or "", recent) if part.strip())
