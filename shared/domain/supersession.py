"""Planning of links between events: supersede, conflict, repeat, restore (D14, D15).

Pure: the plan is worked out from states and applied by the store in one transaction. Only ids
that were offered to the call are touched, never by similarity, never a forgotten or archived
event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.domain.events import EventStatus

_VISIBLE: Final = frozenset({EventStatus.ACTIVE, EventStatus.SUPERSEDED})


class LinkRefusal(StrEnum):
    """Why a proposed link is not made."""

    NOT_OFFERED = "not_offered"
    UNKNOWN = "unknown"
    ITSELF = "itself"
    NOT_VISIBLE = "not_visible"
    NEWER = "newer"
    REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class EventState:
    """What of a stored event the planning needs.

    `superseded_by` names the successor, also while the event is forgotten or archived.
    `status_before` is the status to return to; it is set while forgotten or archived.
    `said_at` is source time (the mention), aware; None where unknown.
    """

    id: str
    status: EventStatus
    superseded_by: str | None = None
    status_before: EventStatus | None = None
    said_at: datetime | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The new standing of one event; everything else of it stays."""

    event_id: str
    status: EventStatus
    superseded_by: str | None
    status_before: EventStatus | None = None


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A link that was proposed and is not made."""

    event_id: str
    reason: LinkRefusal


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """What one new event does to others.

    `supersedes` and `conflicts` are the links that hold; `changes` the statuses that follow;
    `conflict_links` holds each conflict in both directions, as (from, to).
    """

    changes: tuple[StatusChange, ...]
    supersedes: tuple[str, ...]
    conflicts: tuple[str, ...]
    refused: tuple[RefusedLink, ...]
    new_event_id: str

    @property
    def conflict_links(self) -> tuple[tuple[str, str], ...]:
        """Return every conflict link in both directions."""
        return tuple(
            pair
            for other in self.conflicts
            for pair in ((self.new_event_id, other), (other, self.new_event_id))
        )


def plan_links(
    new: EventState,
    events: Mapping[str, EventState],
    *,
    supersedes: Sequence[str],
    conflicts: Sequence[str],
    offered: Collection[str],
) -> LinkPlan:
    """Plan the links of one new event against the present states of the offered ones.

    An id named in both lists supersedes. An event said later than the new one is not
    superseded by it (D16); the same statement is no conflict with itself (D15).
    """
    refused: list[RefusedLink] = []
    replaced: list[str] = []
    disputed: list[str] = []
    for target in dict.fromkeys(supersedes):
        reason = _refusal(new, target, events, offered=offered) or _order(new, events[target])
        replaced.append(target) if reason is None else refused.append(RefusedLink(target, reason))
    for target in dict.fromkeys(conflicts):
        if target in replaced:
            continue
        reason = _refusal(new, target, events, offered=offered) or _sameness(new, events[target])
        disputed.append(target) if reason is None else refused.append(RefusedLink(target, reason))
    return LinkPlan(
        changes=tuple(
            StatusChange(one, EventStatus.SUPERSEDED, superseded_by=new.id) for one in replaced
        ),
        supersedes=tuple(replaced),
        conflicts=tuple(disputed),
        refused=tuple(refused),
        new_event_id=new.id,
    )


def repeats(
    fingerprint: str,
    events: Iterable[EventState],
    *,
    same_event_id: str | None = None,
    offered: Collection[str] = (),
) -> str | None:
    """Return the active event that a statement says again, or None (D15).

    That is one of equal fingerprint, or the offered one that the extractor named as the same.
    """
    current = [one for one in events if one.status is EventStatus.ACTIVE]
    for one in current:
        if one.fingerprint == fingerprint:
            return one.id
    if same_event_id is not None and same_event_id in offered:
        return next((one.id for one in current if one.id == same_event_id), None)
    return None


def plan_set_aside(event: EventState, status: EventStatus) -> StatusChange:
    """Plan to forget or archive an event; what it was before is remembered.

    Raises ValueError for a status that is not a way of setting aside.
    """
    if status in _VISIBLE:
        raise ValueError(f"{status} does not set an event aside")
    before = event.status_before if event.status not in _VISIBLE else event.status
    return StatusChange(event.id, status, event.superseded_by, status_before=before)


def plan_restore(event: EventState) -> StatusChange:
    """Plan the return of a forgotten or archived event to the status it had before.

    What was superseded comes back superseded; what was active comes back active. A restored
    active or superseded event stays as it is.
    """
    if event.status in _VISIBLE:
        return StatusChange(event.id, event.status, event.superseded_by)
    fallback = EventStatus.SUPERSEDED if event.superseded_by else EventStatus.ACTIVE
    return StatusChange(event.id, event.status_before or fallback, event.superseded_by)


def plan_release(
    leaving: Collection[str],
    events: Iterable[EventState],
    *,
    superseders: Mapping[str, Sequence[str]],
) -> tuple[StatusChange, ...]:
    """Plan what becomes of events whose successor leaves (an undone import, an erasure).

    `superseders` names, for an event, all events that claim to supersede it, oldest first.
    An event with another remaining successor is handed to the latest; else it is active again,
    or, while set aside, will be when it is restored.
    """
    gone = set(leaving)
    changes: list[StatusChange] = []
    for event in events:
        if event.id in gone or event.superseded_by not in gone:
            continue
        heirs = [one for one in superseders.get(event.id, ()) if one not in gone]
        changes.append(_released(event, heirs[-1] if heirs else None))
    return tuple(changes)


def applied(event: EventState, change: StatusChange) -> EventState:
    """Return the state after a change."""
    return replace(
        event,
        status=change.status,
        superseded_by=change.superseded_by,
        status_before=change.status_before,
    )


def _released(event: EventState, heir: str | None) -> StatusChange:
    standing = EventStatus.SUPERSEDED if heir else EventStatus.ACTIVE
    if event.status in _VISIBLE:
        return StatusChange(event.id, standing, heir)
    return StatusChange(event.id, event.status, heir, status_before=standing)


def _refusal(
    new: EventState,
    target: str,
    events: Mapping[str, EventState],
    *,
    offered: Collection[str],
) -> LinkRefusal | None:
    if target == new.id:
        return LinkRefusal.ITSELF
    if target not in offered:
        return LinkRefusal.NOT_OFFERED
    if target not in events:
        return LinkRefusal.UNKNOWN
    if events[target].status not in _VISIBLE:
        return LinkRefusal.NOT_VISIBLE
    return None


def _order(new: EventState, target: EventState) -> LinkRefusal | None:
    if new.said_at is not None and target.said_at is not None and target.said_at > new.said_at:
        return LinkRefusal.NEWER
    return None


def _sameness(new: EventState, target: EventState) -> LinkRefusal | None:
    if new.fingerprint is not None and new.fingerprint == target.fingerprint:
        return LinkRefusal.REPEATED
    return None
