"""What an event stands between: the events it replaced and was replaced by, and its contradictions.

Each in brief, so that a whole chain is read in one request.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from retrieval.event_cards import MAX_TITLE, source_time, weight_now
from retrieval.outgoing import shown_text
from retrieval.reader import Reader
from shared.domain.events import EventStatus
from shared.domain.weights import weight_curve
from shared.store.database import ReadTx
from shared.store.events import EventLink, StoredEvent, events_by_id, links_of

_SUPERSEDES = "supersedes"
_CONFLICTS = "conflicts_with"
_MOST = 50
_ROUNDS = 12
_CURVE_POINTS = 24
_SHORTEST_CURVE = 24


@dataclass(frozen=True, slots=True)
class RelatedEvent:
    """Another event in brief."""

    event_id: str
    title: str
    status: str
    source_time: str
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class WeightPoint:
    """What an event weighs that many turns after it was last adopted, if it is used no more."""

    turns: int
    weight: float


@dataclass(frozen=True, slots=True)
class EventStanding:
    """An event among others and in time.

    `chain` holds the event itself and at most 49 that it replaced or was replaced by, oldest
    first; it is empty when there are none.
    """

    chain: list[RelatedEvent]
    conflicts: list[RelatedEvent]
    turns_since_adopted: int
    weight_curve: list[WeightPoint]


def event_standing(
    tx: ReadTx, reader: Reader, event: StoredEvent, *, shown: Collection[EventStatus]
) -> EventStanding:
    """Return where an event stands; events of other statuses than `shown` are left out."""
    links = links_of(tx, [event.event_id])
    chained = _connected(tx, event.event_id, links)
    rivals = {
        link.other_event_id
        for link in links
        if link.kind == _CONFLICTS and link.event_id == event.event_id
    }
    found = events_by_id(tx, chained | rivals)
    seen = [one for one in found.values() if one.status in shown or one == event]
    since = max(0, reader.namespace.turn_count - event.last_adopted_turn)
    return EventStanding(
        chain=_cards([one for one in seen if one.event_id in chained]) if len(chained) > 1 else [],
        conflicts=_cards([one for one in seen if one.event_id in rivals]),
        turns_since_adopted=since,
        weight_curve=_curve(reader, event, since),
    )


def _connected(tx: ReadTx, event_id: str, links: Sequence[EventLink]) -> set[str]:
    """Follow supersessions both ways, a round of links at a time."""
    known = {event_id}
    frontier = {event_id}
    for _ in range(_ROUNDS):
        ends = {
            end
            for link in links
            if link.kind == _SUPERSEDES and {link.event_id, link.other_event_id} & frontier
            for end in (link.event_id, link.other_event_id)
        }
        frontier = set(sorted(ends - known)[: _MOST - len(known)])
        if not frontier:
            break
        known |= frontier
        links = links_of(tx, frontier)
    return known


def _curve(reader: Reader, event: StoredEvent, since: int) -> list[WeightPoint]:
    last = max(_SHORTEST_CURVE, 2 * since)
    turns = sorted(
        {*(round(last * step / _CURVE_POINTS) for step in range(_CURVE_POINTS + 1)), since}
    )
    points = weight_curve(
        turns,
        event.mention_count,
        criticality=event.criticality,
        status=event.status,
        pinned=event.pinned,
    )
    now = round(weight_now(reader, event), 4)
    return [WeightPoint(at, now if at == since else round(weight, 4)) for at, weight in points]


def _cards(events: Sequence[StoredEvent]) -> list[RelatedEvent]:
    ordered = sorted(events, key=lambda one: (one.mentioned_at or one.created_at, one.event_id))
    return [
        RelatedEvent(
            event_id=one.event_id,
            title=shown_text(one.title)[:MAX_TITLE],
            status=one.status.value,
            source_time=source_time(one),
            superseded_by=one.superseded_by,
        )
        for one in ordered
    ]
