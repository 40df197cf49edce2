"""How close messages are in meaning: cosines of their vectors, smoothed over their neighbours.

A cosine by itself says little, models differ in what they give to unlike texts; so each is placed
between the least alike and the most alike message of the whole search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.ranking.said import Near

BESIDE: Final = 0.5
"""What the cosine of the previous and of the next message counts beside a message's own 1."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines of messages by id, and the least of all that were compared.

    A message without one has no vector yet.
    """

    cosines: Mapping[str, float]
    lowest: float

    def smoothed(self, message_id: str, beside: Near) -> float | None:
        """Return the mean cosine of a message and those right beside it, None without its own."""
        own = self.cosines.get(message_id)
        if own is None:
            return None
        total, weight = own, 1.0
        for lender in (beside.previous, beside.following):
            lent = None if lender is None else self.cosines.get(lender.id)
            if lent is not None:
                total += BESIDE * lent
                weight += BESIDE
        return total / weight


def scaled_likeness(found: Mapping[str, float], *, lowest: float) -> dict[str, float]:
    """Place each smoothed cosine between the least alike of all (0) and the best of these (1)."""
    best = max(found.values(), default=lowest)
    span = best - lowest
    return {
        name: max(0.0, value - lowest) / span if span > 0 else 1.0 for name, value in found.items()
    }
