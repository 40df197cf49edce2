"""Write a confirmed import: its source block, one event a candidate, links, and one projection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from shared.domain.events import EventDraft, EventStatus
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_decide import Decision
from shared.domain.external_memory_preview import draft_of, import_summary
from shared.domain.jobs import STAGE_OFF, FollowUp, JobKind, JobState
from shared.domain.layers import render_layers
from shared.domain.redaction import redact
from shared.domain.search_terms import search_terms
from shared.domain.supersession import EventState, StatusChange, applied, plan_links
from shared.domain.temporal.zones import known_zone
from shared.domain.turns import IMPORT_THREADS, Message, Role
from shared.ids import Prefix, new_id
from shared.settings import Settings
from shared.store.blocks import (
    NewBlock,
    NewSummary,
    insert_block,
    mark_ready,
    save_summary,
)
from shared.store.database import WriteTx
from shared.store.derived_documents import event_document
from shared.store.event_writes import NewEvent, add_links, apply_status_changes, insert_events
from shared.store.events import EventLink, StoredEvent, hash_fingerprint
from shared.store.import_undo import changed_at
from shared.store.imports import ImportRow
from shared.store.jobs import enqueue
from shared.store.messages import NewMessage, NewTurn, insert_turn
from shared.store.namespaces import (
    advance_thread,
    get_namespace,
    lock_thread,
    next_block_sequence,
    policy_defaults,
)
from shared.store.policies import policy_for
from shared.store.search_index import DocumentKind, SearchDocument, index_documents

WRITTEN_BY = "import/1"
"""Stands for the prompt's version where a summary is made by rule."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A candidate that becomes an event."""

    position: int
    candidate: Candidate
    decision: Decision


@dataclass(slots=True)
class Written:
    """What a commit did. `events` by candidate; `touched` says when targets were changed."""

    block_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None
    job_id: str | None = None
    events: dict[int, str] = field(default_factory=dict)
    links: list[EventLink] = field(default_factory=list)
    changes: dict[str, StatusChange] = field(default_factory=dict)
    touched: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    refused: list[dict[str, str]] = field(default_factory=list)

    def effects(self) -> dict[str, Any]:
        """Return what an undo must know."""
        linked = {link.other_event_id for link in self.links} - {*self.events.values()}
        return {
            "event_ids": list(self.events.values()),
            "message_id": self.message_id,
            "linked": sorted(linked),
            "touched": {
                event_id: [before.isoformat(), after.isoformat()]
                for event_id, (before, after) in self.touched.items()
            },
            "refused_links": self.refused,
        }


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the import's events stand, and the message they cite as readers see it."""

    block_id: str
    thread_id: str
    source: Message
    formed_turn: int
    now: datetime


def write_import(
    tx: WriteTx,
    row: ImportRow,
    additions: Sequence[Addition],
    *,
    targets: Mapping[str, StoredEvent],
    version: int,
    now: datetime,
    settings: Settings,
) -> Written:
    """Write the source block and the events; an import that adds nothing writes neither.

    Events are formed at the namespace's present turn (D4); the source counts as no turn of it.
    """
    written = Written()
    if not additions:
        return written
    place = _write_source(tx, row, version=version, now=now, settings=settings)
    written.block_id, written.thread_id = place.block_id, place.thread_id
    written.message_id = place.source.id
    new_events = _planned(row, additions, place, written, targets=targets, version=version)
    insert_events(tx, new_events)
    before = changed_at(tx, written.changes)
    apply_status_changes(tx, written.changes.values())
    after = changed_at(tx, written.changes)
    written.touched = {one: (before[one], after[one]) for one in written.changes}
    add_links(tx, written.links)
    documents = [
        event_document(
            new.event_id,
            new.draft,
            thread_id=place.thread_id,
            at=new.draft.time.mentioned_at or now,
        )
        for new in new_events
    ]
    index_documents(
        tx, row.namespace, DocumentKind.EVENT, documents, are_new=True, version=str(version)
    )
    mark_ready(tx, place.block_id)
    written.job_id = _project(tx, row.namespace, place.block_id, settings=settings)
    return written


def _write_source(
    tx: WriteTx, row: ImportRow, *, version: int, now: datetime, settings: Settings
) -> _Place:
    block_id = new_id(Prefix.BLOCK)
    thread_id = f"{IMPORT_THREADS}{block_id}"
    said = Message(
        id=new_id(Prefix.MESSAGE),
        role=Role.USER,
        content=row.content,
        occurred_at=now,
        thread_id=thread_id,
        metadata={"import_id": row.import_id},
    )
    seen = replace(said, content=redact(said.content))
    document = SearchDocument(seen.id, thread_id, now, Counter(search_terms(seen.content)))
    index_documents(tx, row.namespace, DocumentKind.MESSAGE, [document], are_new=True)
    lock_thread(tx, row.namespace, thread_id)
    sequence = next_block_sequence(tx, row.namespace)
    formed_turn = get_namespace(tx, row.namespace, defaults=policy_defaults(settings)).turn_count
    turn_id = new_id(Prefix.TURN)
    insert_turn(
        tx,
        NewTurn(
            turn_id=turn_id,
            namespace=row.namespace,
            thread_id=thread_id,
            sequence=1,
            # Stands outside the clock of weights, which counts from 1: nobody took this turn.
            namespace_turn=-sequence,
            receipt_id=None,
            occurred_at=now,
            zone="UTC",
            time_basis="received",
            messages=(NewMessage(said, seen.content if seen.content != said.content else None),),
            metadata={"import_id": row.import_id},
        ),
    )
    advance_thread(tx, row.namespace, thread_id, turns=1, sealed=1, blocks=1)
    layers = render_layers([seen])
    insert_block(
        tx,
        NewBlock(
            block_id=block_id,
            namespace=row.namespace,
            thread_id=thread_id,
            sequence=sequence,
            start_turn=1,
            end_turn=1,
            formed_turn=formed_turn,
            started_at=now,
            ended_at=now,
            layers=layers.by_level(),
        ),
    )
    _summarise(tx, row.import_id, block_id, seen.content, version=version)
    return _Place(block_id, thread_id, seen, formed_turn, now)


def _summarise(tx: WriteTx, import_id: str, block_id: str, text: str, *, version: int) -> None:
    summary = import_summary(text)
    save_summary(
        tx,
        NewSummary(
            block_id=block_id,
            derivation_version=version,
            title=summary.title,
            tags=summary.tags,
            summary=summary.summary,
            keypoints=summary.keypoints,
            # It has events: a re-derivation carries them over instead of reading the file anew.
            should_extract=True,
            job_id=import_id,
            prompt_version=WRITTEN_BY,
            model="rules",
        ),
    )


def _planned(
    row: ImportRow,
    additions: Sequence[Addition],
    place: _Place,
    written: Written,
    *,
    targets: Mapping[str, StoredEvent],
    version: int,
) -> list[NewEvent]:
    """Plan each event with its links, seeing what earlier candidates have changed already."""
    states = {event_id: _state(event) for event_id, event in targets.items()}
    new_events = []
    for addition in additions:
        draft = draft_of(addition.candidate, place.source)
        event_id = new_id(Prefix.EVENT)
        written.events[addition.position] = event_id
        _link(event_id, draft, addition, states, written)
        new_events.append(
            NewEvent(
                event_id=event_id,
                draft=draft,
                namespace=row.namespace,
                thread_id=place.thread_id,
                block_id=place.block_id,
                derivation_version=version,
                job_id=row.import_id,
                formed_turn=place.formed_turn,
                zone=known_zone(draft.time.zone),
            )
        )
    return new_events


def _link(
    event_id: str,
    draft: EventDraft,
    addition: Addition,
    states: dict[str, EventState],
    written: Written,
) -> None:
    plan = plan_links(
        EventState(
            id=event_id,
            status=EventStatus.ACTIVE,
            said_at=draft.time.mentioned_at,
            fingerprint=hash_fingerprint(draft.fingerprint),
        ),
        states,
        supersedes=addition.decision.supersedes,
        conflicts=addition.decision.conflicts_with,
        offered=states,
    )
    for change in plan.changes:
        states[change.event_id] = applied(states[change.event_id], change)
        written.changes[change.event_id] = change
    written.links += [EventLink(event_id, "supersedes", other) for other in plan.supersedes]
    written.links += [EventLink(one, "conflicts_with", other) for one, other in plan.conflict_links]
    written.refused += [
        {"event_id": one.event_id, "code": f"link_{one.reason.value}"} for one in plan.refused
    ]


def _state(event: StoredEvent) -> EventState:
    return EventState(
        id=event.event_id,
        status=event.status,
        superseded_by=event.superseded_by,
        status_before=event.status_before,
        said_at=event.mentioned_at,
        fingerprint=event.fingerprint,
    )


def _project(tx: WriteTx, namespace: str, block_id: str, *, settings: Settings) -> str:
    """Enqueue the one projection of an import, or record that its stage is off."""
    policy = policy_for(tx, namespace, defaults=policy_defaults(settings))
    is_on = policy.stages.project
    return enqueue(
        tx,
        namespace,
        FollowUp(JobKind.PROJECT, block_id),
        max_attempts=settings.max_attempts,
        state=JobState.AVAILABLE if is_on else JobState.SKIPPED,
        reason=None if is_on else STAGE_OFF,
    )
