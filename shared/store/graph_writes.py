"""Write what a fold decided: records added or changed, each with the events it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Table

from shared.domain.graph import Edge, Fact, GraphChanges, Label, Node
from shared.store.database import WriteTx
from shared.store.direct import Direct, as_json, insertion
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

_VALIDITY = ("status", "stance", "valid_from", "valid_until", "recorded_at", "confidence")
_COLUMNS: Mapping[Table, tuple[str, ...]] = {
    nodes: (
        "node_id",
        "graph_version_id",
        "namespace",
        "type",
        "name",
        "key",
        "status",
        "confidence",
    ),
    labels: ("label_id", "node_id", "kind", "value", "key"),
    facts: ("fact_id", "node_id", "mode", "key", "value", *_VALIDITY),
    edges: ("edge_id", "from_node_id", "to_node_id", "relation", "cardinality", *_VALIDITY),
}
_KEYS: Mapping[Table, str] = {
    nodes: "node_id",
    labels: "label_id",
    facts: "fact_id",
    edges: "edge_id",
}
_PLACE = ("node_id", "label_id", "fact_id", "edge_id", "graph_version_id", "namespace")
_SOURCES: Mapping[Table, Table] = {
    nodes: node_sources,
    labels: label_sources,
    facts: fact_sources,
    edges: edge_sources,
}


def _additions() -> str:
    """Return one statement for all records and their sources: keys are checked at its end."""
    parts = [insertion(table, columns, table.name) for table, columns in _COLUMNS.items()]
    parts += [
        insertion(sources, (_KEYS[table], "event_id"), sources.name, skips_known=True)
        for table, sources in _SOURCES.items()
    ]
    named = ", ".join(f"part_{number} AS ({part})" for number, part in enumerate(parts))
    return f"WITH {named} SELECT 1"


_ADD = Direct(_additions())
_CHANGE: Mapping[Table, Direct] = {
    table: Direct(
        f"UPDATE {table.name} AS t SET "  # noqa: S608 - names of the code; every value is a parameter
        + ", ".join(f"{name} = r.{name}" for name in columns if name not in _PLACE)
        + (", updated_at = now()" if table is nodes else "")
        + f" FROM jsonb_populate_recordset(CAST(NULL AS {table.name}), CAST(:rows AS jsonb)) AS r "
        f"WHERE t.tenant_id = :tenant_id AND t.{_KEYS[table]} = r.{_KEYS[table]}"
    )
    for table, columns in _COLUMNS.items()
}


def apply_changes(tx: WriteTx, namespace: str, version_id: str, changes: GraphChanges) -> None:
    """Store a fold's changes in one graph version. Call under `lock_projection`."""
    place = {"namespace": namespace, "graph_version_id": version_id}
    added: dict[Table, Sequence[Record]] = {
        nodes: changes.nodes_added,
        labels: changes.labels_added,
        facts: changes.facts_added,
        edges: changes.edges_added,
    }
    changed: dict[Table, Sequence[Record]] = {
        nodes: changes.nodes_changed,
        labels: changes.labels_changed,
        facts: changes.facts_changed,
        edges: changes.edges_changed,
    }
    rows: dict[str, list[dict[str, Any]]] = {}
    for table, sources in _SOURCES.items():
        own = place if table is nodes else {}
        rows[table.name] = [{**own, **_values(_KEYS[table], one)} for one in added[table]]
        rows[sources.name] = [
            {_KEYS[table]: record.id, "event_id": event_id}
            for record in (*added[table], *changed[table])
            for event_id in record.source_event_ids
        ]
    if any(rows.values()):
        _ADD.rows(tx, **{name: as_json(values) for name, values in rows.items()})
    for table, records in changed.items():
        if records:
            _CHANGE[table].run(
                tx, rows=as_json([_values(_KEYS[table], record) for record in records])
            )


def touched_nodes(changes: GraphChanges) -> set[str]:
    """Return the nodes whose view, and so whose search document, the changes alter."""
    touched = {node.id for node in (*changes.nodes_added, *changes.nodes_changed)}
    touched |= {label.node_id for label in (*changes.labels_added, *changes.labels_changed)}
    touched |= {fact.node_id for fact in (*changes.facts_added, *changes.facts_changed)}
    for edge in (*changes.edges_added, *changes.edges_changed):
        touched |= {edge.from_node_id, edge.to_node_id}
    return touched


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
