"""Settle which of several records holds when: one rule for the fold, the view and as-of (D16, D17).

Every record is a claim over time, seen through its visible sources. Claims are ordered by
source time, never by arrival; the last closing claim that covers an instant holds then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from shared.domain.graph import (
    EVENT_ACTIVE,
    VISIBLE_EVENT_STATUSES,
    Edge,
    Fact,
    FactMode,
    RecordStatus,
    SourceEvent,
    Stance,
    text_key,
    value_key,
)

Order = tuple[datetime, datetime, str]


class Lane(StrEnum):
    """Claims of different lanes never merge into one record and do not close alike.

    solid: simply so. contested: stands beside what it contradicts. planned: intended, closes
    no fact. past: said to be over, never current.
    """

    SOLID = "solid"
    CONTESTED = "contested"
    PLANNED = "planned"
    PAST = "past"


@dataclass(frozen=True, slots=True)
class Claim:
    """A record as its visible sources carry it.

    `ends` is set where no active event supports it any more. `closes`: a later claim of
    this kind ends an earlier one of another value.
    """

    record_id: str
    value: str
    lane: Lane
    closes: bool
    starts: datetime
    ends: datetime | None
    order: Order
    is_live: bool
    source_ids: frozenset[str]
    conflicts_with: frozenset[str]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a record stands. `valid_until` None: open; both None: over, but when is unknown."""

    status: RecordStatus
    is_current: bool
    valid_from: datetime | None
    valid_until: datetime | None


def holds_from(event: SourceEvent) -> datetime:
    """Return when what an event says begins to hold: when it happened, else when it was said.

    A plan holds, as a plan, since it was said.
    """
    if event.is_plan:
        return event.said_at
    return event.happened_start or event.happened_end or event.said_at


def source_order(event: SourceEvent) -> Order:
    """Return the key that orders statements by source time.

    Something said ahead of its time counts from when it was said: whatever is said
    between then and the announced date overrides it.
    """
    return (min(holds_from(event), event.said_at), event.said_at, event.id)


def lane_of(stance: Stance, event: SourceEvent | None) -> Lane:
    """Return the lane of a statement with this stance in this event."""
    if stance is Stance.PAST:
        return Lane.PAST
    if stance is Stance.CONTESTED:
        return Lane.CONTESTED
    return Lane.PLANNED if event is not None and event.is_plan else Lane.SOLID


def is_planned(record: Fact | Edge, events: Mapping[str, SourceEvent]) -> bool:
    """Tell whether what a record says is intended, not so."""
    stating = points(record, events)
    return bool(stating) and lane_of(record.stance, stating[0]) is Lane.PLANNED


def fact_group(fact: Fact) -> tuple[str, str, bool]:
    """Return what makes facts rivals or siblings: node, key, and whether values add up."""
    return (fact.node_id, text_key(fact.key), fact.mode is FactMode.SET)


def edge_group(edge: Edge) -> tuple[str, str]:
    """Return what makes edges rivals or siblings: the node they leave and the relation."""
    return (edge.from_node_id, text_key(edge.relation))


def points(record: Fact | Edge, events: Mapping[str, SourceEvent]) -> list[SourceEvent]:
    """Return the sources that state a record, in source order.

    A source older than the record's beginning only supports a statement that cites a
    later one too (a joint citation holds from its latest source).
    """
    known = [events[i] for i in record.source_event_ids if i in events]
    since = record.valid_from
    stating = [e for e in known if since is None or holds_from(e) >= since]
    return sorted(stating or known, key=source_order)


def claims_of_facts(facts: Iterable[Fact], events: Mapping[str, SourceEvent]) -> list[Claim]:
    """Return the claims of the visible facts of one group."""
    made = (_claim(f, value_key(f.value), events, closes=f.mode is not FactMode.SET) for f in facts)
    return [claim for claim in made if claim is not None]


def claims_of_edges(edges: Iterable[Edge], events: Mapping[str, SourceEvent]) -> list[Claim]:
    """Return the claims of the visible edges of one group."""
    made = (_claim(e, e.to_node_id, events, closes=e.cardinality == "one") for e in edges)
    return [claim for claim in made if claim is not None]


def settle(claims: Sequence[Claim], *, at: datetime | None = None) -> dict[str, Standing]:
    """Return the standing of every claim of one group, now or at an instant.

    Without `at` only claims with an active source can be current. With it the same rule is
    applied to the claims that cover the instant, superseded ones included, and claims that
    begin later are left out. At most one undisputed closing value is current at any time.
    """
    ordered = sorted(claims, key=lambda c: (c.order, c.value, c.record_id))
    current = _current(ordered, at)
    disputed = _disputed([c for c in ordered if c.record_id in current])
    standings: dict[str, Standing] = {}
    for claim in ordered:
        if at is not None and claim.starts > at:
            continue
        is_current = claim.record_id in current
        status = RecordStatus.ACTIVE if is_current else RecordStatus.SUPERSEDED
        if claim.record_id in disputed:
            status = RecordStatus.DISPUTED
        until = None if is_current and at is None else _closed_at(claim, ordered)
        is_dated = claim.lane is not Lane.PAST or claim.ends is not None
        since = claim.starts if is_dated else None
        standings[claim.record_id] = Standing(status, is_current, since, until)
    return standings


def _covers(claim: Claim, at: datetime | None) -> bool:
    if at is None:
        return claim.is_live and claim.lane is not Lane.PAST
    if claim.lane is Lane.PAST and claim.ends is None:
        return False
    return claim.starts <= at and (claim.ends is None or at < claim.ends)


def _is_known(claim: Claim, at: datetime | None) -> bool:
    if at is None:
        return claim.is_live
    return claim.order[0] <= at and (claim.ends is None or at < claim.ends)


def _current(ordered: Sequence[Claim], at: datetime | None) -> set[str]:
    """Return the ids that hold, among claims in source order."""
    covering = [c for c in ordered if _covers(c, at)]
    known = [c for c in ordered if _is_known(c, at)]
    closing = [c for c in covering if c.lane is Lane.SOLID and c.closes]
    past = [c for c in covering if c.lane is Lane.PAST and c.closes]
    top = closing[-1] if closing else None
    held: set[str] = set()
    for claim in covering:
        match claim.lane:
            case Lane.SOLID:
                holds = top is None or _stands_beside(claim, top, closing)
            case Lane.CONTESTED:
                holds = top is None or claim.order >= top.order
            case Lane.PLANNED:
                holds = not any(_ends_plan(c, claim) for c in known)
            case Lane.PAST:
                holds = not claim.closes or (top is None and claim is past[-1])
        if holds:
            held.add(claim.record_id)
    return held


def _stands_beside(claim: Claim, top: Claim, closing: Sequence[Claim]) -> bool:
    """Tell whether a solid claim holds next to the last closing one: itself, a later one
    that closes nothing, one of the very same statement, one in open conflict with its value.
    """
    if claim.order >= top.order or (not claim.closes and claim.value == top.value):
        return True
    return any(_conflict(claim, c) for c in closing if c.value == top.value)


def _ends_plan(later: Claim, plan: Claim) -> bool:
    is_later = later.order > plan.order and later.lane in (Lane.SOLID, Lane.PLANNED)
    return is_later and (later.closes or later.value == plan.value)


def _disputed(current: Sequence[Claim]) -> set[str]:
    found = {c.record_id for c in current if c.lane is Lane.CONTESTED}
    rivals = [c for c in current if c.lane in (Lane.SOLID, Lane.CONTESTED)]
    for one in (c for c in rivals if c.closes or c.conflicts_with):
        for other in rivals:
            if one.value != other.value and (_conflict(one, other) or _rival(one, other)):
                found |= {one.record_id, other.record_id}
    return found


def _rival(one: Claim, other: Claim) -> bool:
    # Both are current although each would close the other: neither statement is later.
    return one.closes and other.closes


def _conflict(one: Claim, other: Claim) -> bool:
    return bool(one.conflicts_with & other.source_ids or other.conflicts_with & one.source_ids)


def _closed_at(claim: Claim, ordered: Sequence[Claim]) -> datetime | None:
    """Return when a claim that is not current ended: its own end or its first closer's start."""
    if claim.lane is Lane.PAST:
        return claim.ends
    ends = [claim.ends] if claim.ends is not None else []
    for other in ordered:
        if other.order <= claim.order:
            continue
        if claim.lane is Lane.PLANNED and _ends_plan(other, claim):
            ends.append(other.order[0])
        elif claim.lane is not Lane.PLANNED and other.lane is Lane.SOLID and other.closes:
            ends.append(other.starts)
    return max(claim.starts, min(ends)) if ends else None


def _claim(
    record: Fact | Edge, value: str, events: Mapping[str, SourceEvent], *, closes: bool
) -> Claim | None:
    if record.status is RecordStatus.ARCHIVED:
        return None
    shown = [events[i] for i in record.source_event_ids if _is_visible(events.get(i))]
    stating = [e for e in points(record, events) if _is_visible(e)]
    stating = stating or sorted(shown, key=source_order)
    if not stating:
        return None
    live = [e for e in shown if e.status == EVENT_ACTIVE]
    lane = lane_of(record.stance, stating[0])
    starts = min(holds_from(e) for e in stating)
    return Claim(
        record_id=record.id,
        value=value,
        lane=lane,
        closes=closes,
        starts=starts,
        ends=_end(lane, starts, stating, live, events),
        order=source_order(next((e for e in reversed(stating) if e in live), stating[-1])),
        is_live=bool(live),
        source_ids=frozenset(e.id for e in live),
        conflicts_with=frozenset(i for e in live for i in e.conflicts_with),
    )


def _is_visible(event: SourceEvent | None) -> bool:
    return event is not None and event.status in VISIBLE_EVENT_STATUSES


def _end(
    lane: Lane,
    starts: datetime,
    stating: Sequence[SourceEvent],
    live: Sequence[SourceEvent],
    events: Mapping[str, SourceEvent],
) -> datetime | None:
    if lane is Lane.PAST:
        known = [e.happened_end or e.said_at for e in stating if e.happened_start is not None]
        return max(starts, *known) if known else None
    if live:
        return None
    return max(starts, max(_superseded_at(e, events) for e in stating))


def _superseded_at(event: SourceEvent, events: Mapping[str, SourceEvent]) -> datetime:
    """Return since when an event no longer holds; when it was said, if that is not known."""
    successor = events.get(event.superseded_by) if event.superseded_by is not None else None
    if successor is None:
        return event.said_at
    return source_order(successor)[0] if event.is_plan else holds_from(successor)
