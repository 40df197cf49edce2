"""When an open tail becomes blocks: by completed turns of its thread (D2, D40)."""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Seal:
    """A block to be made: the turns of the thread it holds, from 1, both included."""

    first_turn: int
    last_turn: int


def plan_seals(open_turns: int, *, sealed_turns: int, block_turn_size: int) -> tuple[Seal, ...]:
    """Return the blocks that a thread's open tail is full for, oldest first.

    `open_turns` are the completed turns not yet sealed, `sealed_turns` those that are. Sealing
    goes on until the tail is shorter than the size, so that a smaller size takes effect at
    once. Raises InvalidInput for a size below 1.
    """
    if block_turn_size < 1:
        raise InvalidInput.at("/block_turn_size", "must be a whole number of turns, 1 or more")
    full = open_turns // block_turn_size
    firsts = range(sealed_turns + 1, sealed_turns + full * block_turn_size + 1, block_turn_size)
    return tuple(Seal(first, first + block_turn_size - 1) for first in firsts)
