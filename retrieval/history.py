"""What was believed of a node, since when, and on which quotes: oldest belief first (D45)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from retrieval.event_cards import QuoteCard, quote_cards, temporal_card
from retrieval.graph_cards import EdgeCard, FactCard, edge_card, fact_card
from retrieval.graph_views import load_views
from retrieval.outgoing import shown_text
from retrieval.places import read_place, written_place
from retrieval.reader import Reader
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.errors import NotFound
from shared.store.database import ReadTx
from shared.store.events import StoredEvent, events_by_id
from shared.store.graph_reads import nodes_of_version


@dataclass(frozen=True, slots=True)
class Ground:
    """One event that a belief rests on, with its quotes and when it was said."""

    event_id: str
    title: str
    status: str
    mentioned_at: str | None
    quotes: list[QuoteCard]
    message_ids: list[str]


@dataclass(frozen=True, slots=True)
class Belief:
    """One fact or one edge over the time it held, and what it rests on."""

    fact: FactCard | None
    edge: EdgeCard | None
    valid_from: str | None
    valid_until: str | None
    recorded_at: str
    is_current: bool
    grounds: list[Ground]


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """A node's beliefs in order of when they began to hold."""

    node_id: str
    name: str
    type: str
    items: list[Belief]
    next_cursor: str | None


def node_history(
    tx: ReadTx, reader: Reader, node_id: str, *, after: str | None, limit: int
) -> NodeHistory:
    """Return at most `limit` of what was visibly believed of a node, after the place `after`.

    `next_cursor` is the place of the last one where more follow. NotFound without such a node.
    """
    version = reader.namespace.graph_version_id
    if version is None or not nodes_of_version(tx, version, [node_id]):
        raise NotFound("no such node")
    loaded = load_views(tx, [node_id])
    if not loaded.asked:
        raise NotFound("no such node")
    view = loaded.asked[0]
    records: list[FactView | EdgeView] = [
        *view.current_facts,
        *view.historical_facts,
        *view.current_edges,
        *view.historical_edges,
    ]
    seen = None if after is None else read_place(after)
    ordered = sorted((one for one in records if seen is None or _place(one) > seen), key=_place)
    shown = ordered[:limit]
    events = events_by_id(tx, {name for one in shown for name in one.source_event_ids})
    return NodeHistory(
        node_id=view.id,
        name=view.name,
        type=view.type.value,
        items=[_belief(one, view, loaded.names, events) for one in shown],
        next_cursor=written_place(_place(shown[-1])) if len(ordered) > limit else None,
    )


def _place(record: FactView | EdgeView) -> tuple[datetime, str]:
    """Return where a belief stands: when it began to hold, else when it was written."""
    return (record.valid_from or record.recorded_at, record.id)


def _belief(
    record: FactView | EdgeView,
    view: NodeView,
    names: Mapping[str, str],
    events: Mapping[str, StoredEvent],
) -> Belief:
    fact = fact_card(record, view, events) if isinstance(record, FactView) else None
    edge = edge_card(record, view, names, events) if isinstance(record, EdgeView) else None
    told = fact or edge
    if told is None:
        raise TypeError("a belief is a fact or an edge")
    return Belief(
        fact=fact,
        edge=edge,
        valid_from=told.valid_from,
        valid_until=told.valid_until,
        recorded_at=told.recorded_at,
        is_current=told.is_current,
        grounds=[_ground(events[name]) for name in record.source_event_ids if name in events],
    )


def _ground(event: StoredEvent) -> Ground:
    return Ground(
        event_id=event.event_id,
        title=shown_text(event.title),
        status=event.status.value,
        mentioned_at=temporal_card(event).mentioned_at,
        quotes=quote_cards(event),
        message_ids=list(event.source_message_ids),
    )
