"""Carry events over into another derivation: equal in sources and fingerprint, they stay (D19)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.domain.events import EventStatus
from shared.store.blocks import BlockRow
from shared.store.database import ReadTx, WriteTx
from shared.store.derivations import carry_over, successors_in
from shared.store.events import events_of_blocks, hash_fingerprint
from shared.store.messages import turns_range
from shared.store.versions import live_derivation_version

TwinKey = tuple[str, frozenset[str]]
Twins = dict[TwinKey, str]


def twin_key(fingerprint: str, message_ids: Collection[str]) -> TwinKey:
    """Return what two events must share to be the same: the words and the messages they cite."""
    return hash_fingerprint(fingerprint), frozenset(message_ids)


def carriable(tx: ReadTx, block: BlockRow, *, version: int) -> Twins:
    """Return the block's live events that `version` does not hold yet, by what makes them equal.

    An event may rest on other blocks too, where it was said again; only the sources in this block
    are compared. Forgotten and archived events count as well: what was set aside stays aside.
    """
    live = live_derivation_version(tx, block.namespace)
    found = events_of_blocks(tx, [block.block_id], version=live).get(block.block_id, [])
    held = successors_in(tx, [event.event_id for event in found], version=version)
    own = {
        one.message.id
        for one in turns_range(
            tx, block.namespace, block.thread_id, first=block.start_turn, last=block.end_turn
        )
    }
    return {
        (event.fingerprint, frozenset(event.source_message_ids) & own): event.event_id
        for event in found
        if event.event_id not in held and event.derivation_version != version
    }


def carry_into(tx: WriteTx, block: BlockRow, event_ids: Sequence[str], *, version: int) -> None:
    """Let live events of a block belong to `version` as well, findable there too."""
    carry_over(
        tx,
        block.namespace,
        event_ids,
        from_version=live_derivation_version(tx, block.namespace),
        to_version=version,
    )


def carry_block(tx: WriteTx, block: BlockRow, *, version: int) -> bool:
    """Carry over all events of a block as they are; tell whether any of them is visible."""
    live = live_derivation_version(tx, block.namespace)
    found = events_of_blocks(tx, [block.block_id], version=live).get(block.block_id, [])
    carry_into(tx, block, [event.event_id for event in found], version=version)
    return any(event.status in (EventStatus.ACTIVE, EventStatus.SUPERSEDED) for event in found)
