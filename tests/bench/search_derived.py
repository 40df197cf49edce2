"""Derived memories for a synthetic database: ready blocks, their events, nodes over those."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import psycopg

from shared.domain.events import EventDraft, EventTime, EventType
from shared.store.database import Database
from shared.store.derived_documents import event_document
from shared.store.events import hash_fingerprint
from shared.store.search_index import SearchDocument
from shared.store.search_keys import DocumentKind
from tests.bench.search_corpus import START, Namespace, Speech
from tests.bench.search_load import copy_documents_in, copy_rows, pack

BLOCK_TURNS = 12
VERSION = "1"
_EVENTS_A_NODE = 10
_BATCH = 5_000
_TYPES = list(EventType)


@dataclass(frozen=True, slots=True)
class Derived:
    """One event to be, with the block it came from."""

    event_id: str
    block_id: str
    thread_id: str
    turn: int
    draft: EventDraft


def graph_version_of(namespace: Namespace) -> str:
    """Return the id of a synthetic namespace's live graph."""
    return f"gvn_{namespace.number:032x}"


def load_derived(
    owner: psycopg.Connection, database: Database, namespace: Namespace, speech: Speech, events: int
) -> None:
    """Store a namespace's blocks, `events` events and their nodes, findable."""
    _load_blocks(owner, namespace)
    version = graph_version_of(namespace)
    owner.execute(
        "INSERT INTO graph_versions (tenant_id, graph_version_id, namespace, state) "
        "VALUES (%s, %s, %s, 'live')",
        (namespace.tenant_id, version, namespace.name),
    )
    owner.execute(
        "UPDATE namespaces SET graph_version_id = %s WHERE tenant_id = %s",
        (version, namespace.tenant_id),
    )
    derived = _derived(namespace, speech, events)
    number = 0
    while batch := [one for one, _ in zip(derived, range(_BATCH), strict=False)]:
        _load_events(owner, namespace, batch)
        _load_nodes(owner, namespace, batch[::_EVENTS_A_NODE], version)
        number += len(batch)
    owner.commit()
    pack(database, namespace, DocumentKind.EVENT, version=VERSION)
    pack(database, namespace, DocumentKind.NODE, version=version)


def _block_id(namespace: Namespace, thread: int, block: int) -> str:
    return f"blk_{namespace.number:08x}{thread:012x}{block:012x}"


def _blocks(namespace: Namespace) -> Iterator[tuple[int, int, int]]:
    """Return (thread, place in the thread, place in the namespace) of each full block."""
    turns = namespace.messages // 2
    sequence = 0
    for thread in range((turns + 199) // 200):
        for block in range(min(200, turns - 200 * thread) // BLOCK_TURNS):
            sequence += 1
            yield thread, block, sequence


def _load_blocks(owner: psycopg.Connection, namespace: Namespace) -> None:
    tenant, name = namespace.tenant_id, namespace.name
    blocks = list(_blocks(namespace))
    copy_rows(
        owner,
        "blocks",
        "tenant_id block_id namespace thread_id sequence start_turn end_turn formed_turn "
        "started_at ended_at",
        (
            (
                tenant,
                _block_id(namespace, thread, block),
                name,
                f"t{thread}",
                sequence,
                BLOCK_TURNS * block + 1,
                BLOCK_TURNS * (block + 1),
                200 * thread + BLOCK_TURNS * (block + 1),
                START,
                START,
            )
            for thread, block, sequence in blocks
        ),
    )
    copy_rows(
        owner,
        "block_states",
        "tenant_id block_id namespace thread_id status anchor_position ready_at",
        (
            (
                tenant,
                _block_id(namespace, thread, block),
                name,
                f"t{thread}",
                "ready",
                block + 1,
                START,
            )
            for thread, block, _ in blocks
        ),
    )
    copy_rows(
        owner,
        "block_summaries",
        "tenant_id block_id derivation_version title tags summary keypoints should_extract job_id "
        "prompt_version model",
        (
            (
                tenant,
                _block_id(namespace, thread, block),
                1,
                "A title",
                ["tag"],
                "A summary.",
                ["A point."],
                True,
                "job_0",
                "1",
                "synthetic",
            )
            for thread, block, _ in blocks
        ),
    )
    copy_rows(
        owner,
        "block_layers",
        "tenant_id block_id level content tokens",
        (
            (tenant, _block_id(namespace, thread, block), level, "What was said.", 4)
            for thread, block, _ in blocks
            for level in (3, 4, 5)
        ),
    )
    owner.execute(
        "UPDATE threads SET sealed_turn_count = turn_count / %s * %s, "
        "block_count = turn_count / %s, ready_count = turn_count / %s WHERE tenant_id = %s",
        (BLOCK_TURNS, BLOCK_TURNS, BLOCK_TURNS, BLOCK_TURNS, tenant),
    )
    owner.execute(
        "UPDATE namespaces SET block_count = %s WHERE tenant_id = %s", (len(blocks), tenant)
    )


def _derived(namespace: Namespace, speech: Speech, count: int) -> Iterator[Derived]:
    chance = random.Random(namespace.number + 1_000_000)  # noqa: S311 - repeatable
    blocks = list(_blocks(namespace))
    for number in range(count if blocks else 0):
        thread, block, _ = blocks[number * len(blocks) // count]
        turn = BLOCK_TURNS * block + 1 + chance.randrange(BLOCK_TURNS)
        words = speech.words(chance, 20, chinese=namespace.is_chinese)
        joint = "，" if namespace.is_chinese else " "
        said = START + timedelta(minutes=7 * (200 * thread + turn))
        message = 2 * (200 * thread + turn - 1)
        yield Derived(
            event_id=f"evt_{namespace.number:08x}{number:024x}",
            block_id=_block_id(namespace, thread, block),
            thread_id=f"t{thread}",
            turn=200 * thread + turn,
            draft=EventDraft(
                title=joint.join(words[:5]),
                summary=joint.join(words[5:17]),
                source_message_ids=(f"msg_{namespace.number:08x}{message:024x}",),
                time=EventTime(mentioned_at=said, zone="UTC"),
                tags=(words[17],),
                participants=(words[18],),
                event_type=chance.choice(_TYPES),
            ),
        )


def _load_events(owner: psycopg.Connection, namespace: Namespace, batch: Sequence[Derived]) -> None:
    tenant = namespace.tenant_id
    copy_rows(
        owner,
        "events",
        "tenant_id event_id namespace thread_id block_id derivation_version job_id title summary "
        "tags participants event_type scope criticality mentioned_at zone precision basis "
        "time_status fingerprint formed_turn last_adopted_turn",
        (_event_row(namespace, one) for one in batch),
    )
    copy_rows(
        owner,
        "event_sources",
        "tenant_id event_id message_id position",
        ((tenant, one.event_id, one.draft.source_message_ids[0], 0) for one in batch),
    )
    documents = [
        event_document(one.event_id, one.draft, thread_id=one.thread_id, at=_said(one))
        for one in batch
    ]
    copy_documents_in(owner, namespace, DocumentKind.EVENT, documents, version=VERSION)


def _event_row(namespace: Namespace, one: Derived) -> tuple[Any, ...]:
    draft = one.draft
    return (
        namespace.tenant_id, one.event_id, namespace.name, one.thread_id, one.block_id, 1, "job_0",
        draft.title, draft.summary, list(draft.tags), list(draft.participants),
        draft.event_type.value, draft.scope.value, draft.criticality.value, _said(one), "UTC",
        "unknown", "unknown", "unknown", hash_fingerprint(draft.fingerprint), one.turn, one.turn,
    )  # fmt: skip


def _load_nodes(
    owner: psycopg.Connection, namespace: Namespace, behind: Sequence[Derived], version: str
) -> None:
    """Store a node for each of these events, named by its participant, with one fact."""
    tenant = namespace.tenant_id
    ids = [one.event_id.removeprefix("evt_") for one in behind]
    named = list(zip(ids, behind, strict=True))
    copy_rows(
        owner,
        "nodes",
        "tenant_id node_id graph_version_id namespace type name key status confidence",
        (
            (
                tenant,
                f"nod_{i}",
                version,
                namespace.name,
                "person",
                e.draft.participants[0],
                f"{e.draft.participants[0]} {i}",
                "active",
                1.0,
            )
            for i, e in named
        ),
    )
    copy_rows(
        owner,
        "labels",
        "tenant_id label_id node_id kind value key",
        (
            (tenant, f"lbl_{i}", f"nod_{i}", "name", e.draft.participants[0], "name")
            for i, e in named
        ),
    )
    copy_rows(
        owner,
        "facts",
        "tenant_id fact_id node_id mode key value status stance recorded_at confidence",
        (
            (
                tenant,
                f"fct_{i}",
                f"nod_{i}",
                "state",
                e.draft.tags[0],
                f'"{e.draft.title}"',
                "active",
                "asserted",
                _said(e),
                1.0,
            )
            for i, e in named
        ),
    )
    for record in ("node", "label", "fact"):
        prefix = {"node": "nod", "label": "lbl", "fact": "fct"}[record]
        copy_rows(
            owner,
            f"{record}_sources",
            f"tenant_id {record}_id event_id",
            ((tenant, f"{prefix}_{i}", e.event_id) for i, e in named),
        )
    documents = [_node_document(f"nod_{i}", e) for i, e in named]
    copy_documents_in(owner, namespace, DocumentKind.NODE, documents, version=version)


def _node_document(node_id: str, one: Derived) -> SearchDocument:
    draft = one.draft
    like_a_node = EventDraft(
        title=draft.title,
        summary=draft.tags[0],
        source_message_ids=draft.source_message_ids,
        time=draft.time,
        participants=draft.participants,
    )
    return event_document(node_id, like_a_node, thread_id="", at=_said(one))


def _said(one: Derived) -> datetime:
    return one.draft.time.mentioned_at or START
