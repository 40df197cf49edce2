"""How a block fades from raw transcript to title as newer blocks of its thread become ready.

A block is anchored at a level and a position; its level falls with the number of ready blocks
since. Reading it deeper anchors it anew (section 5).
"""

from __future__ import annotations

import math
import re
from typing import Final

from shared.domain.spacing import trim
from shared.errors import InvalidInput

DEEPEST: Final = 5
"""The level of the raw transcript."""

DEFAULT_LAMBDA: Final = 0.30
"""The decay rate per ready block when a policy names none (D5)."""

LABELS: Final = (
    "L0 title and tags",
    "L1 narrative summary",
    "L2 key points",
    "L3 rule-condensed transcript",
    "L4 readable near-verbatim transcript",
    "L5 raw transcript",
)
"""What each level holds, by its number."""

_DROPS: Final = ((0.7, 0), (0.5, 1), (0.3, 2), (0.15, 3), (0.08, 4))
_LEVEL = re.compile(r"[Ll]?([0-5])", re.ASCII)
_LAMBDA_STEP = 0.05
_LONGEST_CURVE = 60


def decay_weight(anchor_position: int, latest_position: int, *, decay_lambda: float) -> float:
    """Return exp(-lambda * blocks since the anchor), in (0, 1]; never less than no block.

    Raises InvalidInput for a lambda that is negative or not finite.
    """
    if not math.isfinite(decay_lambda) or decay_lambda < 0:
        raise InvalidInput.at("/block_decay_lambda", "must be a finite number, 0 or more")
    return math.exp(-decay_lambda * max(0, latest_position - anchor_position))


def level_at(
    anchor_level: int, anchor_position: int, *, latest_position: int, decay_lambda: float
) -> int:
    """Return the level 0-5 a block stands at, never deeper than its anchor.

    Positions count the ready blocks of the block's own thread from 1.
    """
    weight = decay_weight(anchor_position, latest_position, decay_lambda=decay_lambda)
    drop = next((drop for bound, drop in _DROPS if weight > bound), DEEPEST)
    return min(DEEPEST, max(0, anchor_level - drop))


def decay_curve(
    anchor_level: int, *, decay_lambda: float, at_least: int = 12
) -> tuple[tuple[int, float, int], ...]:
    """Return (blocks since the anchor, weight, level) from the anchor until the title is reached.

    At least so many points, and at most 60: a lambda of 0 never gets there.
    """
    points: list[tuple[int, float, int]] = []
    for since in range(_LONGEST_CURVE):
        level = level_at(anchor_level, 0, latest_position=since, decay_lambda=decay_lambda)
        points.append((since, decay_weight(0, since, decay_lambda=decay_lambda), level))
        if level == 0 and since >= at_least:
            break
    return tuple(points)


def age_in_blocks(own_position: int, latest_position: int) -> int:
    """Return how many ready blocks of the thread are newer than this one, 0 or more.

    Counted from the block itself, so that reading it deeper does not make it younger.
    """
    return max(0, latest_position - own_position)


def expansion_level(target: object, current_level: int) -> int:
    """Return the level 0-5 that an expansion asks for (D7).

    None means one deeper than `current_level`, at most 5. Otherwise an integer 0-5, or the
    text "0".."5" or "L0".."L5" in either case, trimmed. Raises InvalidInput for all else.
    """
    if target is None:
        return min(DEEPEST, current_level + 1)
    level = _named_level(target)
    if level is None:
        raise InvalidInput.at(
            "/level", "must be a level 0 to 5 or L0 to L5, or absent for one deeper"
        )
    return level


def label_of(level: int) -> str:
    """Return what a level 0-5 holds, in words."""
    return LABELS[level]


def suggest_lambda(current_lambda: float, *, current_size: int, new_size: int) -> float:
    """Return the lambda that keeps decay per turn when the block size changes.

    lambda * new / current, to the nearest 0.05; sizes are turns a block, 1 or more.
    """
    steps = current_lambda * new_size / current_size / _LAMBDA_STEP
    whole = math.floor(steps)
    # Not floor(steps + 0.5): the sum rounds 0.49999999999999994 up.
    return round((whole + (steps - whole >= 0.5)) * _LAMBDA_STEP, 2)


def _named_level(target: object) -> int | None:
    if isinstance(target, bool):
        return None
    if isinstance(target, int | float):
        # 3.0 is the integer 3 on the wire; NaN and infinities fail the range.
        return int(target) if 0 <= target <= DEEPEST and target == int(target) else None
    if isinstance(target, str):
        named = _LEVEL.fullmatch(trim(target))
        return int(named.group(1)) if named else None
    return None
