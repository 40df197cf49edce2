"""What a person's decision does to an event, and to both sides of a contradiction (D14, D28).

Pure: the plan is worked out from present states and applied by the store in one transaction.
Text is never part of it, and every plan can be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.events import Criticality, EventStatus
from shared.domain.supersession import (
    EventState,
    StatusChange,
    applied,
    plan_release,
    plan_restore,
    plan_set_aside,
)

_SET_ASIDE: Final = frozenset({EventStatus.FORGOTTEN, EventStatus.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Curated:
    """What people may change of an event: its standing, its pin, its criticality."""

    state: EventState
    pinned: bool
    criticality: Criticality


@dataclass(frozen=True, slots=True)
class CurationWish:
    """What is asked for; None leaves it as it is. `status` is never `superseded`."""

    status: EventStatus | None = None
    pinned: bool | None = None
    criticality: Criticality | None = None


class ConflictState(StrEnum):
    """Where a contradiction stands.

    resolved: a person decided. closed: an event of it no longer speaks. open: all else.
    """

    OPEN = "open"
    RESOLVED = "resolved"
    CLOSED = "closed"


def plan_curation(event: Curated, wish: CurationWish) -> Curated:
    """Return the event as it is wished; equal to what it was where nothing is to change.

    `active` is a restoration: it gives back the status the event had before it was set aside,
    so what was superseded comes back superseded. Raises ValueError for `superseded`.
    """
    state = event.state
    if wish.status is EventStatus.ACTIVE:
        if state.status in _SET_ASIDE:
            state = applied(state, plan_restore(state))
    elif wish.status is not None:
        state = applied(state, plan_set_aside(state, wish.status))
    return Curated(
        state=state,
        pinned=event.pinned if wish.pinned is None else wish.pinned,
        criticality=wish.criticality or event.criticality,
    )


def plan_keep(kept: EventState, other: EventState) -> StatusChange:
    """Plan that one side of a contradiction replaces the other, which becomes superseded by it.

    Unlike a derivation, a person may keep the older statement. Raises ValueError unless both
    are active: only an open contradiction can be settled.
    """
    if kept.status is not EventStatus.ACTIVE or other.status is not EventStatus.ACTIVE:
        raise ValueError("only an open contradiction can be settled")
    return StatusChange(other.id, EventStatus.SUPERSEDED, superseded_by=kept.id)


def plan_reopen(
    kept: str, other: EventState, *, successors: Sequence[str]
) -> tuple[StatusChange, ...]:
    """Plan that the side which was not kept stands again as it did before the decision.

    `successors` are all events that claim to supersede it, oldest first. Another one of them
    takes it over; a forgotten side stays forgotten and is restored to the right status later.
    """
    return plan_release([kept], [other], superseders={other.id: successors})
