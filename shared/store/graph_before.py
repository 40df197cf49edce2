"""Keep what the graph was before an import's events were folded in, so that undoing restores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from shared.domain.graph import (
    Edge,
    Fact,
    FactMode,
    GraphChanges,
    GraphState,
    Label,
    LabelKind,
    Node,
    NodeType,
    RecordStatus,
    Stance,
)
from shared.domain.graph_unfold import Before
from shared.store.database import ReadTx, WriteTx
from shared.store.tables import import_graph_changes, nodes

Record = Node | Label | Fact | Edge


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """What was kept: the records, and when each node had been changed last."""

    before: Before
    node_moments: Mapping[str, datetime]


def keep_before(tx: WriteTx, import_id: str, state: GraphState, changes: GraphChanges) -> None:
    """Keep the records that a fold is about to change, and the ids of those it adds.

    Call before the changes are written. Of several folds the first one's state is kept.
    """
    loaded: tuple[Record, ...] = (*state.nodes, *state.labels, *state.facts, *state.edges)
    known = {one.id: one for one in loaded}
    changed: tuple[Record, ...] = (
        *changes.nodes_changed,
        *changes.labels_changed,
        *changes.facts_changed,
        *changes.edges_changed,
    )
    added: tuple[Record, ...] = (
        *changes.nodes_added,
        *changes.labels_added,
        *changes.facts_added,
        *changes.edges_added,
    )
    moments = _moments(tx, [one.id for one in changes.nodes_changed])
    rows: list[tuple[str, dict[str, Any] | None]] = [
        (one.id, _to_json(known[one.id], moments.get(one.id))) for one in changed
    ]
    rows += [(one.id, None) for one in added]
    if rows:
        tx.connection.execute(
            insert(import_graph_changes).on_conflict_do_nothing(),
            [
                {
                    "tenant_id": tx.tenant_id,
                    "import_id": import_id,
                    "record_id": record_id,
                    "before": before,
                }
                for record_id, before in rows
            ],
        )


def kept_graph(tx: ReadTx, import_id: str) -> KeptGraph:
    """Return what was kept for an import."""
    rows = tx.connection.execute(
        select(import_graph_changes.c.record_id, import_graph_changes.c.before).where(
            import_graph_changes.c.tenant_id == tx.tenant_id,
            import_graph_changes.c.import_id == import_id,
        )
    ).all()
    kept = {row.record_id: row.before for row in rows if row.before is not None}
    return KeptGraph(
        before=Before(
            records={record_id: _from_json(value) for record_id, value in kept.items()},
            added=frozenset(row.record_id for row in rows if row.before is None),
        ),
        node_moments={
            record_id: datetime.fromisoformat(value["updated_at"])
            for record_id, value in kept.items()
            if value["record"] == "Node"
        },
    )


def _moments(tx: ReadTx, node_ids: list[str]) -> dict[str, datetime]:
    rows = tx.connection.execute(
        select(nodes.c.node_id, nodes.c.updated_at).where(
            nodes.c.tenant_id == tx.tenant_id, nodes.c.node_id.in_(node_ids)
        )
    )
    return {row.node_id: row.updated_at for row in rows}


def _to_json(record: Record, updated_at: datetime | None) -> dict[str, Any]:
    value = {"record": type(record).__name__, **asdict(record)}
    return value if updated_at is None else {**value, "updated_at": updated_at}


def _from_json(value: Mapping[str, Any]) -> Record:
    fields = {key: one for key, one in value.items() if key not in ("record", "updated_at")}
    fields["source_event_ids"] = tuple(fields["source_event_ids"])
    return _READERS[value["record"]](fields)


def _node(fields: dict[str, Any]) -> Node:
    return Node(
        **fields | {"type": NodeType(fields["type"]), "status": RecordStatus(fields["status"])}
    )


def _label(fields: dict[str, Any]) -> Label:
    return Label(**fields | {"kind": LabelKind(fields["kind"])})


def _fact(fields: dict[str, Any]) -> Fact:
    value = fields["value"]
    return Fact(
        **fields
        | _validity(fields)
        | {
            "mode": FactMode(fields["mode"]),
            "value": tuple(value) if isinstance(value, list) else value,
        }
    )


def _edge(fields: dict[str, Any]) -> Edge:
    return Edge(**fields | _validity(fields))


def _validity(fields: Mapping[str, Any]) -> dict[str, Any]:
    moments = {
        name: None if fields[name] is None else datetime.fromisoformat(fields[name])
        for name in ("valid_from", "valid_until", "recorded_at")
    }
    return moments | {
        "status": RecordStatus(fields["status"]),
        "stance": Stance(fields["stance"]),
    }


_READERS: Mapping[str, Callable[[dict[str, Any]], Record]] = {
    "Node": _node,
    "Label": _label,
    "Fact": _fact,
    "Edge": _edge,
}
