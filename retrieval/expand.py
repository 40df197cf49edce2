"""Read one event or one graph node whole, with what it rests on; makes a batch of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.batches import new_batch_id, record_batch
from retrieval.curation_trail import EventRecord, event_record
from retrieval.event_cards import EventDetail, event_detail, event_ref
from retrieval.event_chain import event_standing
from retrieval.graph_cards import NodeDetail, node_detail, node_ref
from retrieval.graph_match import MAX_EVIDENCE
from retrieval.graph_views import load_views
from retrieval.message_cards import MessageCard, message_card
from retrieval.reader import Reader
from retrieval.schemas import NodeExpansion
from retrieval.times import read_instant
from shared.domain.events import EventStatus
from shared.errors import NotFound
from shared.store.batches import BatchItem
from shared.store.database import ReadTx, WriteTx
from shared.store.events import VISIBLE, StoredEvent, events_by_id, links_of
from shared.store.graph_reads import nodes_of_version
from shared.store.messages import messages_by_id


@dataclass(frozen=True, slots=True)
class EventExpansionReply:
    """One event whole."""

    batch_id: str
    event: EventDetail
    evidence_ref: str


@dataclass(frozen=True, slots=True)
class NodeExpansionReply:
    """One node whole; `at` is the instant it stands for, null for now."""

    batch_id: str
    node: NodeDetail
    evidence_ref: str
    at: str | None


def expand_event(tx: WriteTx, reader: Reader, event_id: str) -> EventExpansionReply:
    """Return an event whole. NotFound when none of that id is visible in this namespace."""
    detail = _detail(tx, reader, _event(tx, reader, event_id, sees_set_aside=False))
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_expand_event",
        request={"event_id": event_id},
        items=[BatchItem(event_ref(event_id), (event_id,))],
    )
    return EventExpansionReply(batch_id, detail, detail.evidence_ref)


def read_event(
    tx: ReadTx, reader: Reader, event_id: str, *, sees_set_aside: bool = False
) -> EventRecord:
    """Return an event with what people decided about it, without a batch.

    NotFound as `expand_event`; `sees_set_aside` shows forgotten and archived ones too, which
    curators alone may read.
    """
    event = _event(tx, reader, event_id, sees_set_aside=sees_set_aside)
    detail = _detail(tx, reader, event)
    shown = tuple(EventStatus) if sees_set_aside else VISIBLE
    standing = event_standing(tx, reader, event, shown=shown)
    return event_record(tx, detail, curation_revision=event.curation_revision, standing=standing)


def expand_node(
    tx: WriteTx, reader: Reader, node_id: str, *, asked: NodeExpansion
) -> NodeExpansionReply:
    """Return a node with all facts and edges, now or at an instant.

    NotFound when the live graph shows no node of that id.
    """
    at = None
    if asked.at is not None:
        at = read_instant(asked.at, timezone=asked.timezone, pointer="/at")
    version = reader.namespace.graph_version_id
    if version is None or not nodes_of_version(tx, version, [node_id]):
        raise NotFound("no such node")
    loaded = load_views(tx, [node_id], at=at)
    if not loaded.asked:
        raise NotFound("no such node")
    view = loaded.asked[0]
    events = events_by_id(tx, view.source_event_ids)
    detail = node_detail(view, names=loaded.names, events=events)
    batch_id = new_batch_id()
    record_batch(
        tx,
        reader,
        batch_id=batch_id,
        tool="memory_expand_graph_node",
        request={"node_id": node_id, "at": asked.at},
        items=[BatchItem(node_ref(node_id, expanded=True), view.source_event_ids[:MAX_EVIDENCE])],
    )
    shown_at = None if at is None else at.isoformat()
    return NodeExpansionReply(batch_id, detail, detail.evidence_ref, shown_at)


def _detail(tx: ReadTx, reader: Reader, event: StoredEvent) -> EventDetail:
    sources = _sources(tx, event.source_message_ids)
    links = links_of(tx, [event.event_id])
    return event_detail(reader, event, links=links, sources=sources)


def _event(tx: ReadTx, reader: Reader, event_id: str, *, sees_set_aside: bool) -> StoredEvent:
    event = events_by_id(tx, [event_id]).get(event_id)
    if event is None or event.namespace != reader.name:
        raise NotFound("no such event")
    if event.status not in VISIBLE and not sees_set_aside:
        raise NotFound("no such event")
    return event


def _sources(tx: ReadTx, message_ids: Sequence[str]) -> list[MessageCard]:
    found = messages_by_id(tx, message_ids)
    return [message_card(found[name]) for name in message_ids if name in found]
