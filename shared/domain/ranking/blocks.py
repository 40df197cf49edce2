"""Rank blocks by their messages: a block is worth what the messages in it are worth together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.ordering import collation_key
from shared.domain.ranking.messages import Ranked
from shared.domain.ranking.weights import SHARPNESS


@dataclass(frozen=True, slots=True)
class RankedBlock:
    """One block's place: the sum of its messages' shares, and those messages, best first."""

    block_id: str
    score: float
    messages: tuple[Ranked, ...]


def rank_blocks(ranked: Sequence[Ranked], block_of: Mapping[str, str]) -> list[RankedBlock]:
    """Return the blocks of ranked messages, best first; ties by id.

    `block_of` maps a message's id to its block's; messages without a block, such as those of
    the open tail, are left out. Scores are taken as shares of the best one and sharpened.
    """
    best = max((one.score for one in ranked), default=0.0)
    held: dict[str, list[Ranked]] = {}
    for one in ranked:
        block_id = block_of.get(one.said.id)
        if block_id is not None:
            held.setdefault(block_id, []).append(one)
    blocks = [
        RankedBlock(block_id, _worth(members, best), tuple(members))
        for block_id, members in held.items()
    ]
    return sorted(blocks, key=lambda block: (-block.score, collation_key(block.block_id)))


def _worth(members: Sequence[Ranked], best: float) -> float:
    return sum((max(0.0, one.score) / best) ** SHARPNESS for one in members) if best > 0 else 0.0
