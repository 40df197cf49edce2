"""The graph as stored: load what a fold or a view needs, of one graph version (D19)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    Row,
    Select,
    Table,
    Text,
    any_,
    bindparam,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

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


def live_version(tx: ReadTx, namespace: str) -> str | None:
    """Return the graph version that readers see, or None before the first projection."""
    version: str | None = tx.connection.execute(
        select(namespaces.c.graph_version_id).where(
            namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace
        )
    ).scalar()
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
    pairs = [(node_type.value, key) for node_type, key in keys]
    by_label = (
        select(labels.c.node_id)
        .join(
            nodes, (nodes.c.tenant_id == labels.c.tenant_id) & (nodes.c.node_id == labels.c.node_id)
        )
        .where(
            labels.c.tenant_id == tx.tenant_id,
            labels.c.kind != LabelKind.TAG.value,
            tuple_(nodes.c.type, labels.c.key).in_(pairs),
            nodes.c.graph_version_id == version_id,
        )
    )
    by_key = select(nodes.c.node_id).where(
        nodes.c.tenant_id == tx.tenant_id,
        nodes.c.graph_version_id == version_id,
        tuple_(nodes.c.type, nodes.c.key).in_(pairs),
    )
    return sorted(set(tx.connection.execute(by_key.union(by_label)).scalars()))


def recent_nodes(tx: ReadTx, version_id: str, *, limit: int) -> list[str]:
    """Return the nodes changed last, newest first."""
    statement = (
        select(nodes.c.node_id)
        .where(nodes.c.tenant_id == tx.tenant_id, nodes.c.graph_version_id == version_id)
        .order_by(nodes.c.updated_at.desc(), nodes.c.node_id.desc())
        .limit(limit)
    )
    return list(tx.connection.execute(statement).scalars())


def load_state(tx: ReadTx, node_ids: Collection[str]) -> GraphState:
    """Return these nodes with their labels and facts, every edge at them, and its other end."""
    if not node_ids:
        return GraphState()
    own_edges = _rows(tx, edges, node_ids, "from_node_id", "to_node_id")
    own_edges += _siblings(tx, own_edges)
    ends = {row.from_node_id for row in own_edges} | {row.to_node_id for row in own_edges}
    everyone = set(node_ids) | ends
    node_rows = _rows(tx, nodes, everyone, "node_id")
    label_rows = _rows(tx, labels, everyone, "node_id")
    fact_rows = _rows(tx, facts, node_ids, "node_id")
    return GraphState(
        nodes=_records(tx, node_rows, node_sources, "node_id", _node),
        labels=_records(tx, label_rows, label_sources, "label_id", _label),
        facts=_records(tx, fact_rows, fact_sources, "fact_id", _fact),
        edges=_records(tx, own_edges, edge_sources, "edge_id", _edge),
    )


def source_events(
    tx: ReadTx, event_ids: Collection[str], *, version: int | None = None
) -> dict[str, SourceEvent]:
    """Return what the graph's rules need to know of these events and of their successors.

    A conflict counts as open while its link stands and the other event is active. `version`
    names a derivation that is not live: events have the standing that they have in it.
    """
    rows: dict[str, Row[Any]] = {}
    successors: dict[str, str | None] = {}
    wanted = set(event_ids)
    while wanted:
        found = _rows(tx, events, wanted, "event_id")
        rows |= {row.event_id: row for row in found}
        own = {row.event_id: row.superseded_by for row in found}
        if version is not None:
            own |= successors_in(tx, own.keys(), version=version)
        successors |= own
        wanted = {one for one in own.values() if one} - rows.keys()
    conflicts = _open_conflicts(tx, rows.keys(), version)
    return {
        event_id: _source_event(row, successors[event_id], conflicts.get(event_id, set()))
        for event_id, row in rows.items()
    }


def _open_conflicts(
    tx: ReadTx, event_ids: Collection[str], version: int | None
) -> dict[str, set[str]]:
    if not event_ids:
        return {}
    values = {"tenant_id": tx.tenant_id, "ids": list(event_ids)}
    conflicts: dict[str, set[str]] = {}
    for event_id, other in tx.connection.execute(_conflicts_in(version), values):
        conflicts.setdefault(event_id, set()).add(other)
    return conflicts


@lru_cache(maxsize=64)
def _conflicts_in(version: int | None) -> Select[Any]:
    """Return the statement for open conflicts of events, in a version or in the live one."""
    return (
        select(event_links.c.event_id, event_links.c.other_event_id)
        .join(
            events,
            (events.c.tenant_id == event_links.c.tenant_id)
            & (events.c.event_id == event_links.c.other_event_id),
        )
        .where(
            event_links.c.tenant_id == bindparam("tenant_id"),
            event_links.c.event_id == any_(bindparam("ids", type_=ARRAY(Text))),
            event_links.c.kind == "conflicts_with",
            events.c.status == "active",
            in_version(live_derivation() if version is None else version),
        )
    )


def events_behind(state: GraphState) -> set[str]:
    """Return the ids of all events that the records of `state` rest on."""
    records: Iterable[Node | Label | Fact | Edge] = (
        *state.nodes,
        *state.labels,
        *state.facts,
        *state.edges,
    )
    return {event_id for record in records for event_id in record.source_event_ids}


def _siblings(tx: ReadTx, known: list[Row[Any]]) -> list[Row[Any]]:
    """Return the other edges with the same source and relation.

    A `one` edge is closed by its successor, which may lead to a node that was not asked for.
    """
    pairs = {(row.from_node_id, row.relation) for row in known}
    if not pairs:
        return []
    statement = select(edges).where(
        edges.c.tenant_id == tx.tenant_id,
        tuple_(edges.c.from_node_id, edges.c.relation).in_(pairs),
        edges.c.edge_id.not_in([row.edge_id for row in known]),
    )
    return list(tx.connection.execute(statement.order_by(edges.c.edge_id)))


def _rows(tx: ReadTx, table: Table, ids: Collection[str], *columns: str) -> list[Row[Any]]:
    values = {"tenant_id": tx.tenant_id, "ids": list(ids)}
    return list(tx.connection.execute(_rows_by(table, columns), values))


@cache
def _rows_by(table: Table, columns: tuple[str, ...]) -> Select[Any]:
    """Return the statement for rows that have one of `ids` in one of the columns."""
    ids = any_(bindparam("ids", type_=ARRAY(Text)))
    return (
        select(table)
        .where(
            table.c.tenant_id == bindparam("tenant_id"),
            or_(*(table.c[column] == ids for column in columns)),
        )
        .order_by(*table.primary_key.columns)
    )


@cache
def _sources_by(table: Table, column: str) -> Select[Any]:
    """Return the statement for the events that records rest on, by the record's id."""
    ids = any_(bindparam("ids", type_=ARRAY(Text)))
    return (
        select(table.c[column], table.c.event_id)
        .where(table.c.tenant_id == bindparam("tenant_id"), table.c[column] == ids)
        .order_by(table.c[column], table.c.event_id)
    )


def _records(
    tx: ReadTx, rows: list[Row[Any]], sources: Table, column: str, build: Any
) -> tuple[Any, ...]:
    ids = [getattr(row, column) for row in rows]
    if not ids:
        return ()
    grouped: dict[str, list[str]] = {}
    values = {"tenant_id": tx.tenant_id, "ids": ids}
    for record_id, event_id in tx.connection.execute(_sources_by(sources, column), values):
        grouped.setdefault(record_id, []).append(event_id)
    return tuple(build(row, tuple(grouped.get(getattr(row, column), ()))) for row in rows)


def _node(row: Row[Any], event_ids: tuple[str, ...]) -> Node:
    return Node(
        id=row.node_id,
        type=NodeType(row.type),
        name=row.name,
        key=row.key,
        status=RecordStatus(row.status),
        confidence=row.confidence,
        source_event_ids=event_ids,
    )


def _label(row: Row[Any], event_ids: tuple[str, ...]) -> Label:
    return Label(
        id=row.label_id,
        node_id=row.node_id,
        kind=LabelKind(row.kind),
        value=row.value,
        key=row.key,
        source_event_ids=event_ids,
    )


def _fact(row: Row[Any], event_ids: tuple[str, ...]) -> Fact:
    return Fact(
        id=row.fact_id,
        node_id=row.node_id,
        mode=FactMode(row.mode),
        key=row.key,
        value=tuple(row.value) if isinstance(row.value, list) else row.value,
        **_validity(row),
        source_event_ids=event_ids,
    )


def _edge(row: Row[Any], event_ids: tuple[str, ...]) -> Edge:
    return Edge(
        id=row.edge_id,
        from_node_id=row.from_node_id,
        to_node_id=row.to_node_id,
        relation=row.relation,
        cardinality=row.cardinality,
        **_validity(row),
        source_event_ids=event_ids,
    )


def _validity(row: Row[Any]) -> dict[str, Any]:
    return {
        "status": RecordStatus(row.status),
        "stance": Stance(row.stance),
        "valid_from": row.valid_from,
        "valid_until": row.valid_until,
        "recorded_at": row.recorded_at,
        "confidence": row.confidence,
    }


def _source_event(
    row: Row[Any], superseded_by: str | None, conflicts: Collection[str]
) -> SourceEvent:
    said_at: datetime = row.mentioned_at or row.created_at
    return SourceEvent(
        id=row.event_id,
        status=_status_in(row, superseded_by),
        said_at=said_at,
        happened_start=row.happened_from,
        happened_end=row.happened_until,
        is_plan=row.time_status == "planned",
        superseded_by=superseded_by,
        conflicts_with=frozenset(conflicts),
    )


def _status_in(row: Row[Any], superseded_by: str | None) -> str:
    if superseded_by == row.superseded_by or row.status not in VISIBLE_EVENT_STATUSES:
        return str(row.status)
    return EVENT_SUPERSEDED if superseded_by else EVENT_ACTIVE
