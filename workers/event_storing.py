"""Store what an extraction found: new events, second sources of known ones, and their links.

Everything is planned by pure rules on the state read under a lock, then written in the caller's
transaction (D14, D15).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared.domain.events import EventDraft, EventStatus
from shared.domain.jobs import Job
from shared.domain.supersession import (
    EventState,
    LinkPlan,
    StatusChange,
    applied,
    plan_links,
    repeats,
)
from shared.domain.temporal.zones import known_zone
from shared.ids import Prefix, new_id
from shared.store.blocks import BlockRow
from shared.store.database import WriteTx
from shared.store.derivations import apply_changes_in, as_in
from shared.store.derived_documents import event_document
from shared.store.event_writes import (
    NewEvent,
    add_links,
    add_sources,
    apply_status_changes,
    insert_events,
)
from shared.store.events import (
    VISIBLE,
    EventLink,
    StoredEvent,
    events_by_id,
    hash_fingerprint,
    same_fingerprint,
    shown,
)
from shared.store.search_index import DocumentKind, index_documents
from workers.event_carrying import Twins, carriable, carry_into, twin_key


@dataclass(slots=True)
class StoredEvents:
    """What was written: new events, known ones that gained a source, and links not made."""

    added: list[NewEvent] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    carried: list[str] = field(default_factory=list)
    links: list[EventLink] = field(default_factory=list)
    changes: dict[str, StatusChange] = field(default_factory=dict)
    refused: list[Mapping[str, Any]] = field(default_factory=list)


def store_events(
    tx: WriteTx,
    job: Job,
    block: BlockRow,
    drafts: Sequence[EventDraft],
    *,
    offered: Collection[str],
    version: int,
    is_apart: bool = False,
) -> StoredEvents:
    """Write the drafts as events of the block; those that say a known fact again add a source.

    `offered` are the events that the call was shown: links reach no other. In a derivation apart
    from the live one, a draft that equals an event which readers see is that event, carried over
    (D19). Call while holding the extraction lock of the version.
    """
    known = events_by_id(tx, offered, and_lock=True)
    fingerprints = [draft.fingerprint for draft in drafts]
    said = same_fingerprint(tx, block.namespace, fingerprints, version=version)
    twins: Twins = {}
    if is_apart:
        known, said = as_in(tx, known, version=version), as_in(tx, said, version=version)
        twins = carriable(tx, block, version=version)
    states = {one.event_id: _state(one) for one in (*known.values(), *said.values())}
    stored = StoredEvents()
    for draft in drafts:
        kept = twins.pop(twin_key(draft.fingerprint, draft.source_message_ids), None)
        if kept is not None:
            _plan(stored, kept, draft, states, offered)
            stored.carried.append(kept)
            continue
        twin = _said_before(draft, said, known, offered)
        if twin is not None:
            add_sources(tx, twin, draft.source_message_ids)
            stored.repeated.append(twin)
            continue
        event_id = new_id(Prefix.EVENT)
        _plan(stored, event_id, draft, states, offered)
        stored.added.append(
            NewEvent(
                event_id=event_id,
                draft=draft,
                namespace=block.namespace,
                thread_id=block.thread_id,
                block_id=block.block_id,
                derivation_version=version,
                job_id=job.job_id,
                formed_turn=block.formed_turn,
                zone=known_zone(draft.time.zone),
            )
        )
    _write(tx, block, stored, version=version, is_apart=is_apart)
    return stored


def _write(
    tx: WriteTx, block: BlockRow, stored: StoredEvents, *, version: int, is_apart: bool
) -> None:
    insert_events(tx, stored.added)
    if is_apart:
        carry_into(tx, block, stored.carried, version=version)
        apply_changes_in(tx, stored.changes.values(), version=version)
    else:
        apply_status_changes(tx, stored.changes.values())
    add_links(tx, stored.links)
    index_documents(
        tx,
        block.namespace,
        DocumentKind.EVENT,
        [
            event_document(
                new.event_id,
                new.draft,
                thread_id=block.thread_id,
                at=new.draft.time.mentioned_at or block.ended_at,
            )
            for new in stored.added
        ],
        are_new=True,
        version=str(version),
    )


def _plan(
    stored: StoredEvents,
    event_id: str,
    draft: EventDraft,
    states: dict[str, EventState],
    offered: Collection[str],
) -> None:
    """Plan the links of one new event, seeing what earlier ones of this reply already changed."""
    new = EventState(
        id=event_id,
        status=EventStatus.ACTIVE,
        said_at=draft.time.mentioned_at,
        fingerprint=hash_fingerprint(draft.fingerprint),
    )
    plan = plan_links(
        new,
        states,
        supersedes=draft.supersedes_event_ids,
        conflicts=draft.conflicts_with_event_ids,
        offered=offered,
    )
    for change in plan.changes:
        states[change.event_id] = applied(states[change.event_id], change)
        stored.changes[change.event_id] = change
    stored.links += _links(plan, draft, states)
    stored.refused += [
        {"code": f"link_{one.reason.value}", "detail": one.event_id, "item": draft.title}
        for one in plan.refused
    ]


def _links(
    plan: LinkPlan, draft: EventDraft, states: Mapping[str, EventState]
) -> Iterator[EventLink]:
    new_id_ = plan.new_event_id
    for other in plan.supersedes:
        yield EventLink(new_id_, "supersedes", other)
    for one, other in plan.conflict_links:
        yield EventLink(one, "conflicts_with", other)
    named = (
        ("before", draft.before_event_ids),
        ("after", draft.after_event_ids),
        ("related", draft.related_event_ids),
        ("same", (draft.same_event_id,) if draft.same_event_id else ()),
    )
    for kind, others in named:
        for other in others:
            if other in states and states[other].status in VISIBLE:
                yield EventLink(new_id_, kind, other)


def _said_before(
    draft: EventDraft,
    said: Mapping[str, StoredEvent],
    known: Mapping[str, StoredEvent],
    offered: Collection[str],
) -> str | None:
    """Return the current event that a draft says again, unless they happened at different times.

    What recurs (lunch with Ann, each Friday) reads the same and is not the same event.
    """
    twin = said.get(draft.fingerprint)
    candidates = {one.event_id: one for one in ((twin,) if twin else ())}
    if draft.same_event_id is not None and draft.same_event_id in known:
        candidates[draft.same_event_id] = known[draft.same_event_id]
    same_time = {key: one for key, one in candidates.items() if not _at_other_times(draft, one)}
    return repeats(
        hash_fingerprint(draft.fingerprint),
        [_state(one) for one in same_time.values()],
        same_event_id=draft.same_event_id,
        offered=offered,
    )


def _at_other_times(draft: EventDraft, event: StoredEvent) -> bool:
    begin = shown(draft.time.happened_start)
    return None not in (begin, event.happened_start) and begin != event.happened_start


def _state(event: StoredEvent) -> EventState:
    return EventState(
        id=event.event_id,
        status=event.status,
        superseded_by=event.superseded_by,
        status_before=event.status_before,
        said_at=event.mentioned_at,
        fingerprint=event.fingerprint,
    )
