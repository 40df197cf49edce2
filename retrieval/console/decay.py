"""How a block fades, for pictures: the API's own rule told again, for numbers it has not stored.

The console reaches no rule of the domain by import; a test holds both to the same answers.
"""

from __future__ import annotations

import math

DEEPEST = 5
_DROPS = ((0.7, 0), (0.5, 1), (0.3, 2), (0.15, 3), (0.08, 4))
_LAMBDA_STEP = 0.05


def weight_after(newer_blocks: int, decay_lambda: float) -> float:
    """Return the weight of a block that `newer_blocks` ready ones have followed, in (0, 1]."""
    return math.exp(-decay_lambda * max(0, newer_blocks))


def level_after(newer_blocks: int, decay_lambda: float, *, anchor_level: int = DEEPEST) -> int:
    """Return the level 0-5 it then stands at, begun at `anchor_level`."""
    weight = weight_after(newer_blocks, decay_lambda)
    drop = next((drop for bound, drop in _DROPS if weight > bound), DEEPEST)
    return min(DEEPEST, max(0, anchor_level - drop))


def suggested_lambda(decay_lambda: float, *, size: int, new_size: int) -> float:
    """Return the λ that keeps decay per turn when the block size changes, to the nearest 0.05."""
    steps = decay_lambda * new_size / size / _LAMBDA_STEP
    whole = math.floor(steps)
    return round((whole + (steps - whole >= 0.5)) * _LAMBDA_STEP, 2)
