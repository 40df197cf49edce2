"""The effective view of the graph: what a reader may see, now or at an instant (D16, D18, D45).

Nothing here is stored: a record shows while one of its events is active or superseded, and is
current while an active one carries it. So a forgotten event's value leaves at once, the value
before it stands again, and restoring brings the former picture back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from shared.domain.graph import (
    VISIBLE_EVENT_STATUSES,
    Edge,
    Fact,
    FactMode,
    GraphState,
    Label,
    LabelKind,
    Node,
    NodeType,
    RecordStatus,
    SourceEvent,
    text_key,
)
from shared.domain.graph_timeline import (
    Standing,
    claims_of_edges,
    claims_of_facts,
    edge_group,
    fact_group,
    holds_from,
    is_planned,
    settle,
)

Events = Mapping[str, SourceEvent]
Record = TypeVar("Record", Fact, Edge)

LIST_JOINER = "、"


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact as a reader sees it: standing computed, only visible sources named.

    `is_planned`: it is intended, not so. `valid_*` both None: over, but when is unknown.
    """

    id: str
    mode: FactMode
    key: str
    value: str | tuple[str, ...]
    status: RecordStatus
    valid_from: datetime | None
    valid_until: datetime | None
    recorded_at: datetime
    confidence: float
    source_event_ids: tuple[str, ...]
    is_planned: bool


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge as a reader sees it, from either of its ends."""

    id: str
    from_node_id: str
    to_node_id: str
    relation: str
    status: RecordStatus
    valid_from: datetime | None
    valid_until: datetime | None
    recorded_at: datetime
    confidence: float
    source_event_ids: tuple[str, ...]
    is_planned: bool


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as a reader sees it. `name` is '' when no visible event carries any name of it."""

    id: str
    type: NodeType
    name: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    status: RecordStatus
    confidence: float
    state_text: str
    current_facts: tuple[FactView, ...]
    historical_facts: tuple[FactView, ...]
    current_edges: tuple[EdgeView, ...]
    historical_edges: tuple[EdgeView, ...]
    source_event_ids: tuple[str, ...]


def node_view(
    node_id: str,
    state: GraphState,
    events_by_id: Events,
    *,
    at: datetime | None = None,
) -> NodeView | None:
    """Return one node's view, or None when nothing visible speaks of it.

    `at` is validity time: the records that held at that instant are the current ones, and
    what begins later is left out. `state` must hold the node's labels and facts, its edges
    in both directions, and for an edge coming in also its siblings (same source node, same
    relation), which may have closed it. `events_by_id`: see `graph_fold.fold`.
    """
    return next((v for v in node_views(state, events_by_id, at=at, only=node_id)), None)


def node_views(
    state: GraphState,
    events_by_id: Events,
    *,
    at: datetime | None = None,
    only: str | None = None,
) -> tuple[NodeView, ...]:
    """Return the views of all visible nodes of a state, in its order; see `node_view`."""
    facts = _fact_views(state.facts, events_by_id, at)
    edges = _edge_views(state.edges, events_by_id, at)
    labels: dict[str, list[Label]] = defaultdict(list)
    for label in state.labels:
        labels[label.node_id].append(label)
    views = (
        _view(n, labels[n.id], facts[n.id], edges[n.id], events_by_id, at)
        for n in state.nodes
        if only in (None, n.id)
    )
    return tuple(view for view in views if view is not None)


def state_text(facts: Iterable[FactView]) -> str:
    """Return current facts as text, a key a line, list items joined by `、`, sets last.

    What is in dispute or only planned says so at the end of its line.
    """
    singles: list[str] = []
    sets: dict[str, list[FactView]] = {}
    for fact in facts:
        if fact.mode is FactMode.SET:
            sets.setdefault(f"{text_key(fact.key)}{_suffix(fact)}", []).append(fact)
        else:
            singles.append(f"{fact.key}: {_value_text(fact.value)}{_suffix(fact)}")
    for members in sets.values():
        values = dict.fromkeys(_value_text(m.value) for m in members)
        singles.append(f"{members[0].key}: {LIST_JOINER.join(values)}{_suffix(members[0])}")
    return "\n".join(dict.fromkeys(singles))


def _view(
    node: Node,
    labels: list[Label],
    facts: list[tuple[bool, FactView]],
    edges: list[tuple[bool, EdgeView]],
    events: Events,
    at: datetime | None,
) -> NodeView | None:
    visible = _visible(node.source_event_ids, events)
    is_begun = at is None or any(holds_from(events[i]) <= at for i in visible)
    if node.status is RecordStatus.ARCHIVED or not (facts or edges or (visible and is_begun)):
        return None
    current = tuple(f for is_current, f in facts if is_current)
    joined = tuple(e for is_current, e in edges if is_current)
    shown = {kind: _exposable(labels, kind, events) for kind in LabelKind}
    name = _name(node, labels, visible, shown)
    return NodeView(
        id=node.id,
        type=node.type,
        name=name,
        aliases=tuple(x for x in shown[LabelKind.ALIAS] if x != name),
        tags=shown[LabelKind.TAG],
        status=_node_status(node, [f.status for f in current] + [e.status for e in joined]),
        confidence=node.confidence,
        state_text=state_text(current),
        current_facts=current,
        historical_facts=tuple(f for is_current, f in facts if not is_current),
        current_edges=joined,
        historical_edges=tuple(e for is_current, e in edges if not is_current),
        source_event_ids=visible,
    )


def _node_status(node: Node, current: list[RecordStatus]) -> RecordStatus:
    if RecordStatus.DISPUTED in current:
        return RecordStatus.DISPUTED
    # A node called disputed as a whole stays so only while no settled record speaks for it.
    return RecordStatus.ACTIVE if current else node.status


def _name(
    node: Node,
    labels: list[Label],
    visible: tuple[str, ...],
    shown: Mapping[LabelKind, tuple[str, ...]],
) -> str:
    """Return the name with exposable provenance, else an alias that has it, else ''."""
    has_provenance = any(x.kind is LabelKind.NAME for x in labels)
    if not has_provenance:
        return node.name if set(visible) == set(node.source_event_ids) else ""
    return next(iter((*shown[LabelKind.NAME], *shown[LabelKind.ALIAS])), "")


def _exposable(labels: list[Label], kind: LabelKind, events: Events) -> tuple[str, ...]:
    return tuple(x.value for x in labels if x.kind is kind and _visible(x.source_event_ids, events))


def _visible(source_ids: Iterable[str], events: Events) -> tuple[str, ...]:
    return tuple(
        i for i in source_ids if i in events and events[i].status in VISIBLE_EVENT_STATUSES
    )


def _fact_views(
    facts: Iterable[Fact], events: Events, at: datetime | None
) -> dict[str, list[tuple[bool, FactView]]]:
    """Return the visible facts by node, in stored order, each with whether it is current."""
    stored = tuple(facts)
    standings: dict[str, Standing] = {}
    for group in _groups((fact_group(f), f) for f in stored):
        standings |= settle(claims_of_facts(group, events), at=at)
    views: dict[str, list[tuple[bool, FactView]]] = defaultdict(list)
    for fact in stored:
        if (standing := standings.get(fact.id)) is not None:
            shown = FactView(
                id=fact.id,
                mode=fact.mode,
                key=fact.key,
                value=fact.value,
                status=standing.status,
                valid_from=standing.valid_from,
                valid_until=standing.valid_until,
                recorded_at=fact.recorded_at,
                confidence=fact.confidence,
                source_event_ids=_visible(fact.source_event_ids, events),
                is_planned=is_planned(fact, events),
            )
            views[fact.node_id].append((standing.is_current, shown))
    return views


def _edge_views(
    edges: Iterable[Edge], events: Events, at: datetime | None
) -> dict[str, list[tuple[bool, EdgeView]]]:
    """Return the visible edges by each of their ends, each with whether it is current."""
    stored = tuple(edges)
    standings: dict[str, Standing] = {}
    for group in _groups((edge_group(e), e) for e in stored):
        standings |= settle(claims_of_edges(group, events), at=at)
    views: dict[str, list[tuple[bool, EdgeView]]] = defaultdict(list)
    for edge in stored:
        if (standing := standings.get(edge.id)) is not None:
            shown = EdgeView(
                id=edge.id,
                from_node_id=edge.from_node_id,
                to_node_id=edge.to_node_id,
                relation=edge.relation,
                status=standing.status,
                valid_from=standing.valid_from,
                valid_until=standing.valid_until,
                recorded_at=edge.recorded_at,
                confidence=edge.confidence,
                source_event_ids=_visible(edge.source_event_ids, events),
                is_planned=is_planned(edge, events),
            )
            for end in (edge.from_node_id, edge.to_node_id):
                views[end].append((standing.is_current, shown))
    return views


def _groups(keyed: Iterable[tuple[Hashable, Record]]) -> Iterable[list[Record]]:
    groups: dict[Hashable, list[Record]] = {}
    for key, record in keyed:
        groups.setdefault(key, []).append(record)
    return groups.values()


def _value_text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else LIST_JOINER.join(value)


def _suffix(fact: FactView) -> str:
    if fact.status is RecordStatus.DISPUTED:
        return " [disputed]"
    return " [planned]" if fact.is_planned else ""
