"""Write what a fold decided: records added or changed, each with the events it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, func, insert, update
from sqlalchemy.dialects.postgresql import insert as upsert

from shared.domain.graph import Edge, Fact, GraphChanges, Label, Node
from shared.store.database import WriteTx
from shared.store.tables import (
    edge_sources,
    edges,
    fact_sources,
    facts,
    label_sources,
    labels,
    node_sources,
    nodes,
)

Record = Node | Label | Fact | Edge


def apply_changes(tx: WriteTx, namespace: str, version_id: str, changes: GraphChanges) -> None:
    """Store a fold's changes in one graph version. Call under `lock_projection`.

    Nodes come first, since everything else names them; sources last, since they name records.
    """
    place = {"namespace": namespace, "graph_version_id": version_id}
    _write(tx, nodes, "node_id", changes.nodes_added, changes.nodes_changed, place)
    _write(tx, labels, "label_id", changes.labels_added, changes.labels_changed, {})
    _write(tx, facts, "fact_id", changes.facts_added, changes.facts_changed, {})
    _write(tx, edges, "edge_id", changes.edges_added, changes.edges_changed, {})
    _add_sources(tx, node_sources, "node_id", (*changes.nodes_added, *changes.nodes_changed))
    _add_sources(tx, label_sources, "label_id", (*changes.labels_added, *changes.labels_changed))
    _add_sources(tx, fact_sources, "fact_id", (*changes.facts_added, *changes.facts_changed))
    _add_sources(tx, edge_sources, "edge_id", (*changes.edges_added, *changes.edges_changed))


def touched_nodes(changes: GraphChanges) -> set[str]:
    """Return the nodes whose view, and so whose search document, the changes alter."""
    touched = {node.id for node in (*changes.nodes_added, *changes.nodes_changed)}
    touched |= {label.node_id for label in (*changes.labels_added, *changes.labels_changed)}
    touched |= {fact.node_id for fact in (*changes.facts_added, *changes.facts_changed)}
    for edge in (*changes.edges_added, *changes.edges_changed):
        touched |= {edge.from_node_id, edge.to_node_id}
    return touched


def _write(
    tx: WriteTx,
    table: Table,
    key: str,
    added: Sequence[Record],
    changed: Sequence[Record],
    place: dict[str, str],
) -> None:
    if added:
        rows = [{"tenant_id": tx.tenant_id, **place, **_values(key, record)} for record in added]
        tx.connection.execute(insert(table), rows)
    for record in changed:
        values = _values(key, record)
        if table is nodes:
            values["updated_at"] = func.now()
        tx.connection.execute(
            update(table)
            .where(table.c.tenant_id == tx.tenant_id, table.c[key] == record.id)
            .values(values)
        )


def _values(key: str, record: Record) -> dict[str, Any]:
    match record:
        case Node():
            own: dict[str, Any] = {
                "type": record.type.value,
                "name": record.name,
                "key": record.key,
                "status": record.status.value,
                "confidence": record.confidence,
            }
        case Label():
            own = {
                "node_id": record.node_id,
                "kind": record.kind.value,
                "value": record.value,
                "key": record.key,
            }
        case Fact():
            own = {
                "node_id": record.node_id,
                "mode": record.mode.value,
                "key": record.key,
                "value": record.value if isinstance(record.value, str) else list(record.value),
                **_validity(record),
            }
        case Edge():
            own = {
                "from_node_id": record.from_node_id,
                "to_node_id": record.to_node_id,
                "relation": record.relation,
                "cardinality": record.cardinality,
                **_validity(record),
            }
    return {key: record.id, **own}


def _validity(record: Fact | Edge) -> dict[str, Any]:
    return {
        "status": record.status.value,
        "stance": record.stance.value,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "recorded_at": record.recorded_at,
        "confidence": record.confidence,
    }


def _add_sources(tx: WriteTx, table: Table, key: str, records: Sequence[Record]) -> None:
    rows = [
        {"tenant_id": tx.tenant_id, key: record.id, "event_id": event_id}
        for record in records
        for event_id in record.source_event_ids
    ]
    if rows:
        tx.connection.execute(upsert(table).on_conflict_do_nothing(), rows)
