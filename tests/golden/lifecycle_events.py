"""The events, use receipts and imports of a replayed trace, kept in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shared.domain.events import Criticality, EventDraft, EventStatus
from shared.domain.supersession import (
    EventState,
    StatusChange,
    applied,
    plan_links,
    plan_release,
    plan_restore,
    plan_set_aside,
)
from shared.domain.weights import event_weight
from shared.errors import Conflict, NotFound

VISIBLE = (EventStatus.ACTIVE, EventStatus.SUPERSEDED)


@dataclass
class Stored:
    """An event with its standing, links and weight."""

    draft: EventDraft
    state: EventState
    block_id: str
    formed_turn: int
    last_adopted_turn: int
    supersedes: tuple[str, ...] = ()
    conflicts: list[str] = field(default_factory=list)
    mentions: int = 1
    is_pinned: bool = False

    def weight(self, turn: int) -> float:
        return event_weight(
            turn - self.last_adopted_turn,
            self.mentions,
            criticality=self.draft.criticality,
            status=self.state.status,
            pinned=self.is_pinned,
        )


class EventShelf:
    """All events of one namespace."""

    def __init__(self, new_id: Callable[[str], str]) -> None:
        self._new_id = new_id
        self.by_id: dict[str, Stored] = {}
        self.receipts: dict[str, tuple[tuple[str, ...], Any]] = {}
        self.uses = 0

    def add(
        self, draft: EventDraft, block_id: str, *, formed_turn: int, offered: Collection[str]
    ) -> str:
        event_id = self._new_id("evt")
        said_at = draft.time.mentioned_at
        new = EventState(
            event_id, EventStatus.ACTIVE, said_at=said_at, fingerprint=draft.fingerprint
        )
        plan = plan_links(
            new,
            {one: stored.state for one, stored in self.by_id.items()},
            supersedes=draft.supersedes_event_ids,
            conflicts=draft.conflicts_with_event_ids,
            offered=offered,
        )
        self.by_id[event_id] = Stored(
            draft, new, block_id, formed_turn, formed_turn, supersedes=plan.supersedes
        )
        self.apply(plan.changes)
        for one, other in plan.conflict_links:
            self.by_id[one].conflicts.append(other)
        return event_id

    def apply(self, changes: Sequence[StatusChange]) -> None:
        for change in changes:
            stored = self.by_id[change.event_id]
            stored.state = applied(stored.state, change)

    def forget(self, event_id: str) -> None:
        self.apply([plan_set_aside(self.get(event_id).state, EventStatus.FORGOTTEN)])

    def restore(self, event_id: str) -> None:
        self.apply([plan_restore(self.get(event_id).state)])

    def pin(self, event_id: str) -> None:
        self.get(event_id).is_pinned = True

    def get(self, event_id: str) -> Stored:
        if event_id not in self.by_id:
            raise NotFound(f"Unknown event: {event_id}")
        return self.by_id[event_id]

    def visible(self) -> list[str]:
        return [one for one, stored in self.by_id.items() if stored.state.status in VISIBLE]

    def latest_first(self) -> list[str]:
        return self.visible()[::-1]

    def use(self, event_ids: Sequence[str], *, turn: int, receipt: str | None, audit: Any) -> None:
        """Reinforce each distinct visible event once; a known receipt only ever answers again."""
        distinct = tuple(dict.fromkeys(event_ids))
        if receipt is not None and receipt in self.receipts:
            if self.receipts[receipt] != (distinct, audit):
                raise Conflict("recorded with other memories", code="receipt_conflict")
            return
        for event_id in distinct:
            stored = self.by_id.get(event_id)
            if stored is not None and stored.state.status in VISIBLE:
                stored.mentions, stored.last_adopted_turn = stored.mentions + 1, turn
        self.uses += receipt is not None
        if receipt is not None:
            self.receipts[receipt] = (distinct, audit)

    def undo(self, block_id: str) -> tuple[list[str], list[str]]:
        """Take back what one source block brought; return the removed and the restored ids."""
        gone = [one for one, stored in self.by_id.items() if stored.block_id == block_id]
        left = {one: stored for one, stored in self.by_id.items() if one not in gone}
        claims = {
            target: [one for one, stored in self.by_id.items() if target in stored.supersedes]
            for target in left
        }
        changes = plan_release(gone, [one.state for one in left.values()], superseders=claims)
        self.apply(changes)
        touched = [change.event_id for change in changes]
        for one, stored in left.items():
            if set(stored.conflicts) & set(gone):
                stored.conflicts = [other for other in stored.conflicts if other not in gone]
                touched.append(one)
        self.by_id = left
        return gone, touched


def seeded(given: Mapping[str, Any], *, sources: Sequence[str], draft: EventDraft) -> EventDraft:
    """Return a draft that a trace adds directly: it rests on the named or on all its messages."""
    temporal = given.get("temporal", {})
    return replace(
        draft,
        source_message_ids=tuple(given["sourceMessageIds"] or sources),
        criticality=Criticality(given.get("criticality", "routine")),
        supersedes_event_ids=tuple(temporal.get("supersedesEventIds", ())),
    )
