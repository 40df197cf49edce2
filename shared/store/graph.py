"""The graph as stored: load what a fold or a view needs, of one graph version (D19)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    Integer,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from shared.domain.graph import (
    EVENT_ACTIVE,
    EVENT_SUPERSEDED,
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
    Stance,
)
from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.derivations import successors_in
from shared.store.direct import Direct
from shared.store.tables import (
    edge_sources,
    edges,
    event_links,
    events,
    fact_sources,
    facts,
    graph_versions,
    label_sources,
    labels,
    namespaces,
    node_sources,
    nodes,
)
from shared.store.versions import in_version, live_derivation

_IDS = any_(bindparam("ids", type_=ARRAY(Text)))
_TENANT = bindparam("tenant_id", type_=Text)


def _with_sources(table: Table, sources: Table, key: str) -> Select[Any]:
    """Return the selection of records of a table, each with the events it rests on, by id."""
    behind = (
        select(func.array_agg(aggregate_order_by(sources.c.event_id, sources.c.event_id)))
        .where(sources.c.tenant_id == table.c.tenant_id, sources.c[key] == table.c[key])
        .correlate(table)
        .scalar_subquery()
        .label("source_event_ids")
    )
    return select(table, behind).where(table.c.tenant_id == _TENANT).order_by(table.c[key])


def _conflicts_in(version: Any) -> Any:
    """Return an event's open conflicts: the other events, active in a version."""
    other = events.alias("other")
    return (
        select(func.array_agg(event_links.c.other_event_id))
        .join(
            other,
            (other.c.tenant_id == event_links.c.tenant_id)
            & (other.c.event_id == event_links.c.other_event_id),
        )
        .where(
            event_links.c.tenant_id == events.c.tenant_id,
            event_links.c.event_id == events.c.event_id,
            event_links.c.kind == "conflicts_with",
            other.c.status == "active",
            in_version(live_derivation(other) if version is None else version, other),
        )
        .correlate(events)
        .scalar_subquery()
        .label("conflicts")
    )


_STANDING = (
    events.c.event_id,
    events.c.status,
    events.c.mentioned_at,
    events.c.created_at,
    events.c.happened_from,
    events.c.happened_until,
    events.c.time_status,
    events.c.superseded_by,
)


def _and_successors() -> Select[Any]:
    """Return the selection of events and, on and on, of those that superseded them."""
    start = select(events.c.event_id, events.c.superseded_by).where(
        events.c.tenant_id == _TENANT, events.c.event_id == _IDS
    )
    chain = start.cte("chain", recursive=True)
    chain = chain.union(
        select(events.c.event_id, events.c.superseded_by).where(
            events.c.tenant_id == _TENANT, events.c.event_id == chain.c.superseded_by
        )
    )
    return select(*_STANDING, _conflicts_in(None)).where(
        events.c.tenant_id == _TENANT, events.c.event_id.in_(select(chain.c.event_id))
    )


_LIVE_VERSION = Direct(
    "SELECT graph_version_id FROM namespaces "
    "WHERE tenant_id = :tenant_id AND namespace = :namespace"
)
_MATCHING = Direct(
    """
    WITH wanted AS (
        SELECT * FROM unnest(CAST(:types AS text[]), CAST(:keys AS text[])) AS w(type, key)
    )
    SELECT n.node_id FROM wanted AS w JOIN nodes AS n ON n.type = w.type AND n.key = w.key
    WHERE n.tenant_id = :tenant_id AND n.graph_version_id = :version
    UNION
    SELECT n.node_id FROM wanted AS w
    JOIN labels AS l ON l.key = w.key AND l.kind <> 'tag' AND l.tenant_id = :tenant_id
    JOIN nodes AS n ON n.tenant_id = l.tenant_id AND n.node_id = l.node_id AND n.type = w.type
    WHERE n.graph_version_id = :version
    ORDER BY node_id
    """
)
_RECENT_NODES = Direct(
    select(nodes.c.node_id)
    .where(nodes.c.tenant_id == _TENANT, nodes.c.graph_version_id == bindparam("version"))
    .order_by(nodes.c.updated_at.desc(), nodes.c.node_id.desc())
    .limit(bindparam("most", type_=Integer))
)
_NODES = Direct(_with_sources(nodes, node_sources, "node_id").where(nodes.c.node_id == _IDS))
_LABELS = Direct(_with_sources(labels, label_sources, "label_id").where(labels.c.node_id == _IDS))
_FACTS = Direct(_with_sources(facts, fact_sources, "fact_id").where(facts.c.node_id == _IDS))
_AT = edges.alias("at")
_EDGES_AT = Direct(
    _with_sources(edges, edge_sources, "edge_id").where(
        tuple_(edges.c.from_node_id, edges.c.relation).in_(
            select(_AT.c.from_node_id, _AT.c.relation).where(
                _AT.c.tenant_id == _TENANT,
                or_(_AT.c.from_node_id == _IDS, _AT.c.to_node_id == _IDS),
            )
        )
    )
)
_SOURCE_EVENTS = Direct(_and_successors())
_SOURCE_EVENTS_IN = Direct(
    select(*_STANDING, _conflicts_in(bindparam("version", type_=Integer))).where(
        events.c.tenant_id == _TENANT, events.c.event_id == _IDS
    )
)


def live_version(tx: ReadTx, namespace: str) -> str | None:
    """Return the graph version that readers see, or None before the first projection."""
    version: str | None = _LIVE_VERSION.scalar(tx, namespace=namespace)
    return version


def ensure_live_version(tx: WriteTx, namespace: str) -> str:
    """Return the live graph version, beginning the first one; locks the namespace's row then.

    Call under `await_projection`.
    """
    found = live_version(tx, namespace)
    if found is not None:
        return found
    version_id = begin_version(tx, namespace)
    show_version(tx, namespace, version_id)
    return version_id


def begin_version(tx: WriteTx, namespace: str) -> str:
    """Begin the first graph version of a namespace, which `show_version` lets readers see."""
    version_id = new_id(Prefix.GRAPH_VERSION)
    tx.connection.execute(
        insert(graph_versions).values(
            tenant_id=tx.tenant_id, graph_version_id=version_id, namespace=namespace, state="live"
        )
    )
    return version_id


def show_version(tx: WriteTx, namespace: str, version_id: str) -> None:
    """Let readers see a version. Locks the namespace's row, so it is called late."""
    tx.connection.execute(
        update(namespaces)
        .where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
        .values(graph_version_id=version_id)
    )


def nodes_matching(
    tx: ReadTx, version_id: str, keys: Collection[tuple[NodeType, str]]
) -> list[str]:
    """Return the nodes of one version whose key, or one of whose labels' keys, is among `keys`."""
    if not keys:
        return []
    types, words = zip(*((node_type.value, key) for node_type, key in keys), strict=True)
    return _MATCHING.scalars(tx, version=version_id, types=list(types), keys=list(words))


def recent_nodes(tx: ReadTx, version_id: str, *, limit: int) -> list[str]:
    """Return the nodes changed last, newest first."""
    return _RECENT_NODES.scalars(tx, version=version_id, most=limit)


def load_state(tx: ReadTx, node_ids: Collection[str]) -> GraphState:
    """Return these nodes with their labels and facts, every edge at them, and its other end.

    With an edge come the others with the same source and relation: a `one` edge is closed by its
    successor, which may lead to a node that was not asked for.
    """
    if not node_ids:
        return GraphState()
    ids = list(node_ids)
    edge_rows = _EDGES_AT.rows(tx, ids=ids)
    everyone = {*ids, *(row.from_node_id for row in edge_rows), *(r.to_node_id for r in edge_rows)}
    return GraphState(
        nodes=tuple(_node(row) for row in _NODES.rows(tx, ids=list(everyone))),
        labels=tuple(_label(row) for row in _LABELS.rows(tx, ids=list(everyone))),
        facts=tuple(_fact(row) for row in _FACTS.rows(tx, ids=ids)),
        edges=tuple(_edge(row) for row in edge_rows),
    )


def source_events(
    tx: ReadTx, event_ids: Collection[str], *, version: int | None = None
) -> dict[str, SourceEvent]:
    """Return what the graph's rules need to know of these events and of their successors.

    A conflict counts as open while its link stands and the other event is active. `version`
    names a derivation that is not live: events have the standing that they have in it.
    """
    if not event_ids:
        return {}
    if version is None:
        rows = _SOURCE_EVENTS.rows(tx, ids=list(event_ids))
        return {row.event_id: _source_event(row, row.superseded_by) for row in rows}
    return _source_events_in(tx, event_ids, version)


def _source_events_in(
    tx: ReadTx, event_ids: Collection[str], version: int
) -> dict[str, SourceEvent]:
    found: dict[str, SourceEvent] = {}
    wanted = set(event_ids)
    while wanted:
        rows = _SOURCE_EVENTS_IN.rows(tx, ids=list(wanted), version=version)
        successors = {row.event_id: row.superseded_by for row in rows}
        successors |= successors_in(tx, successors.keys(), version=version)
        found |= {row.event_id: _source_event(row, successors[row.event_id]) for row in rows}
        wanted = {one for one in successors.values() if one} - found.keys()
    return found


def events_behind(state: GraphState) -> set[str]:
    """Return the ids of all events that the records of `state` rest on."""
    records: Iterable[Node | Label | Fact | Edge] = (
        *state.nodes,
        *state.labels,
        *state.facts,
        *state.edges,
    )
    return {event_id for record in records for event_id in record.source_event_ids}


def _node(row: Any) -> Node:
    return Node(
        id=row.node_id,
        type=NodeType(row.type),
        name=row.name,
        key=row.key,
        status=RecordStatus(row.status),
        confidence=row.confidence,
        source_event_ids=tuple(row.source_event_ids or ()),
    )


def _label(row: Any) -> Label:
    return Label(
        id=row.label_id,
        node_id=row.node_id,
        kind=LabelKind(row.kind),
        value=row.value,
        key=row.key,
        source_event_ids=tuple(row.source_event_ids or ()),
    )


def _fact(row: Any) -> Fact:
    return Fact(
        id=row.fact_id,
        node_id=row.node_id,
        mode=FactMode(row.mode),
        key=row.key,
        value=tuple(row.value) if isinstance(row.value, list) else row.value,
        **_validity(row),
        source_event_ids=tuple(row.source_event_ids or ()),
    )


def _edge(row: Any) -> Edge:
    return Edge(
        id=row.edge_id,
        from_node_id=row.from_node_id,
        to_node_id=row.to_node_id,
        relation=row.relation,
        cardinality=row.cardinality,
        **_validity(row),
        source_event_ids=tuple(row.source_event_ids or ()),
    )


def _validity(row: Any) -> dict[str, Any]:
    return {
        "status": RecordStatus(row.status),
        "stance": Stance(row.stance),
        "valid_from": row.valid_from,
        "valid_until": row.valid_until,
        "recorded_at": row.recorded_at,
        "confidence": row.confidence,
    }


def _source_event(row: Any, superseded_by: str | None) -> SourceEvent:
    said_at: datetime = row.mentioned_at or row.created_at
    return SourceEvent(
        id=row.event_id,
        status=_status_in(row, superseded_by),
        said_at=said_at,
        happened_start=row.happened_from,
        happened_end=row.happened_until,
        is_plan=row.time_status == "planned",
        superseded_by=superseded_by,
        conflicts_with=frozenset(row.conflicts or ()),
    )


def _status_in(row: Any, superseded_by: str | None) -> str:
    if superseded_by == row.superseded_by or row.status not in VISIBLE_EVENT_STATUSES:
        return str(row.status)
    return EVENT_SUPERSEDED if superseded_by else EVENT_ACTIVE
