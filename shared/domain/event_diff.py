"""What a derivation of events has in common with another: carried, added, changed, gone (D19)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """What of an event is compared. `sources` are the messages of its own block that it cites."""

    event_id: str
    block_id: str
    title: str
    sources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reworded:
    """An event that rests on the same messages but says it otherwise."""

    before: ToldEvent
    after: ToldEvent


@dataclass(frozen=True, slots=True)
class EventDiff:
    """`carried` are in both, with their id; `changed` rest on the same messages."""

    carried: int
    added: tuple[ToldEvent, ...]
    changed: tuple[Reworded, ...]
    gone: tuple[ToldEvent, ...]


def diff_events(before: Iterable[ToldEvent], after: Iterable[ToldEvent]) -> EventDiff:
    """Return what changes when the events `after` take the place of `before`.

    Events of one block with equal sources are paired in order; what is left over is added or gone.
    """
    old = {one.event_id: one for one in before}
    new = {one.event_id: one for one in after}
    left: dict[tuple[str, frozenset[str]], list[ToldEvent]] = defaultdict(list)
    for event_id in sorted(old.keys() - new.keys()):
        one = old[event_id]
        left[one.block_id, one.sources].append(one)
    added: list[ToldEvent] = []
    changed: list[Reworded] = []
    for event_id in sorted(new.keys() - old.keys()):
        one = new[event_id]
        former = left[one.block_id, one.sources]
        if former:
            changed.append(Reworded(former.pop(0), one))
        else:
            added.append(one)
    gone = [one for rest in left.values() for one in rest]
    return EventDiff(
        carried=len(old.keys() & new.keys()),
        added=tuple(added),
        changed=tuple(changed),
        gone=tuple(sorted(gone, key=lambda one: one.event_id)),
    )
