"""Cards of graph nodes: compact in a search, whole when expanded, with validity and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.event_cards import source_time
from retrieval.graph_match import NodeMatch
from retrieval.outgoing import shown_text
from retrieval.times import shown_in_zone
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.spacing import collapse, trim
from shared.store.events import StoredEvent

MAX_STATE = 500
MAX_SUMMARY = 800
MAX_ALIAS = 160
MAX_TAG = 120


@dataclass(frozen=True, slots=True)
class FactCard:
    """One fact; `valid_from` and `valid_until` are when it held, `recorded_at` when learnt."""

    fact_id: str
    key: str
    mode: str
    value: str | list[str]
    status: str
    is_current: bool
    is_planned: bool
    valid_from: str | None
    valid_until: str | None
    recorded_at: str
    confidence: float
    source_event_ids: list[str]


@dataclass(frozen=True, slots=True)
class EdgeCard:
    """One relation between two nodes, named from its source to its target."""

    edge_id: str
    from_node_id: str
    from_name: str
    relation: str
    to_node_id: str
    to_name: str
    status: str
    is_current: bool
    is_planned: bool
    valid_from: str | None
    valid_until: str | None
    recorded_at: str
    confidence: float
    source_event_ids: list[str]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One event behind a card, in brief."""

    event_id: str
    title: str
    summary: str
    status: str
    time: str


@dataclass(frozen=True, slots=True)
class NodeCard:
    """One node in brief, as it is now or stood at the instant asked for.

    `rank_score` orders one reply and is never a confidence; `signals` is what each part gave to
    it.
    """

    node_id: str
    evidence_ref: str
    name: str
    type: str
    aliases: list[str]
    tags: list[str]
    status: str
    current_state: str
    rank_score: float
    matched_fields: list[str]
    match_type: str
    match_reason: str
    signals: dict[str, float]
    matched_facts: list[FactCard]
    matched_edges: list[EdgeCard]
    timeline: list[TimelineEntry]


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """One node whole: every fact and edge, current and past, with the events behind them."""

    node_id: str
    evidence_ref: str
    name: str
    type: str
    aliases: list[str]
    tags: list[str]
    status: str
    confidence: float
    current_state: str
    current_facts: list[FactCard]
    historical_facts: list[FactCard]
    current_edges: list[EdgeCard]
    historical_edges: list[EdgeCard]
    timeline: list[TimelineEntry]


def node_ref(node_id: str, *, expanded: bool = False) -> str:
    """Return the evidence ref of a node (D33)."""
    return f"graph-node:{node_id}:expanded" if expanded else f"graph-node:{node_id}"


def node_card(
    view: NodeView,
    match: NodeMatch,
    *,
    score: float,
    signals: Mapping[str, float],
    names: Mapping[str, str],
    events: Mapping[str, StoredEvent],
) -> NodeCard:
    """Return a node in brief, with what of it matched."""
    return NodeCard(
        node_id=view.id,
        evidence_ref=node_ref(view.id),
        name=view.name,
        type=view.type.value,
        aliases=[alias[:MAX_ALIAS] for alias in view.aliases],
        tags=[tag[:MAX_TAG] for tag in view.tags],
        status=view.status.value,
        current_state=shown_text(view.state_text)[:MAX_STATE],
        rank_score=round(score, 6),
        matched_fields=list(match.fields),
        match_type=match.match_type,
        match_reason=match.reason,
        signals=dict(signals),
        matched_facts=[fact_card(fact, view, events) for fact in match.facts],
        matched_edges=[edge_card(edge, view, names, events) for edge in match.edges],
        timeline=timeline(match.event_ids, events),
    )


def node_detail(
    view: NodeView, *, names: Mapping[str, str], events: Mapping[str, StoredEvent]
) -> NodeDetail:
    """Return a node whole."""
    return NodeDetail(
        node_id=view.id,
        evidence_ref=node_ref(view.id, expanded=True),
        name=view.name,
        type=view.type.value,
        aliases=list(view.aliases),
        tags=list(view.tags),
        status=view.status.value,
        confidence=view.confidence,
        current_state=shown_text(view.state_text),
        current_facts=[fact_card(fact, view, events) for fact in view.current_facts],
        historical_facts=[fact_card(fact, view, events) for fact in view.historical_facts],
        current_edges=[edge_card(edge, view, names, events) for edge in view.current_edges],
        historical_edges=[edge_card(edge, view, names, events) for edge in view.historical_edges],
        timeline=timeline(view.source_event_ids, events),
    )


def fact_card(fact: FactView, view: NodeView, events: Mapping[str, StoredEvent]) -> FactCard:
    """Return one fact of a node's view, its times in the zone of the event that says it (D3)."""
    zone = zone_of(fact.source_event_ids, events)
    return FactCard(
        fact_id=fact.id,
        key=fact.key,
        mode=fact.mode.value,
        value=shown_value(fact),
        status=fact.status.value,
        is_current=fact in view.current_facts,
        is_planned=fact.is_planned,
        valid_from=shown_bound(fact.valid_from, zone),
        valid_until=shown_bound(fact.valid_until, zone),
        recorded_at=shown_in_zone(fact.recorded_at, "UTC"),
        confidence=fact.confidence,
        source_event_ids=list(fact.source_event_ids),
    )


def shown_value(fact: FactView) -> str | list[str]:
    """Return a fact's value as readers see it, redacted together with its key."""
    if isinstance(fact.value, str):
        return shown_beside_key(fact.key, fact.value)
    return [shown_beside_key(fact.key, item) for item in fact.value]


def shown_beside_key(key: str, value: str) -> str:
    """Redact a value with its key before it: what a secret is may only show from its name."""
    lead = f"{key}: "
    shown = shown_text(lead + value)
    return shown.removeprefix(lead) if shown.startswith(lead) else shown


def edge_card(
    edge: EdgeView, view: NodeView, names: Mapping[str, str], events: Mapping[str, StoredEvent]
) -> EdgeCard:
    """Return one edge of a node's view, its times in the zone of the event that says it (D3)."""
    zone = zone_of(edge.source_event_ids, events)
    return EdgeCard(
        edge_id=edge.id,
        from_node_id=edge.from_node_id,
        from_name=names.get(edge.from_node_id, ""),
        relation=edge.relation,
        to_node_id=edge.to_node_id,
        to_name=names.get(edge.to_node_id, ""),
        status=edge.status.value,
        is_current=edge in view.current_edges,
        is_planned=edge.is_planned,
        valid_from=shown_bound(edge.valid_from, zone),
        valid_until=shown_bound(edge.valid_until, zone),
        recorded_at=shown_in_zone(edge.recorded_at, "UTC"),
        confidence=edge.confidence,
        source_event_ids=list(edge.source_event_ids),
    )


def timeline(event_ids: Sequence[str], events: Mapping[str, StoredEvent]) -> list[TimelineEntry]:
    """Return the events behind a card, in the order given."""
    return [
        TimelineEntry(
            event_id=event.event_id,
            title=shown_text(event.title),
            summary=trim(collapse(shown_text(event.summary)))[:MAX_SUMMARY],
            status=event.status.value,
            time=source_time(event),
        )
        for event_id in event_ids
        if (event := events.get(event_id)) is not None
    ]


def zone_of(event_ids: Sequence[str], events: Mapping[str, StoredEvent]) -> str:
    """Return the zone of the first event a record rests on; its validity comes from there."""
    return next((events[name].zone for name in event_ids if name in events), "UTC")


def shown_bound(instant: datetime | None, zone: str) -> str | None:
    """Return one end of a validity in a zone, None for an open one."""
    return None if instant is None else shown_in_zone(instant, zone)
