"""Take out of the graph what rests on nothing any more, in every version of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.types import ARRAY, Text

from shared.domain.graph import name_key
from shared.domain.graph_fold import resettle
from shared.store.database import ReadTx, WriteTx
from shared.store.graph import events_behind, load_state, source_events
from shared.store.graph_documents import index_nodes
from shared.store.graph_writes import apply_changes
from shared.store.search_index import DocumentKind, remove_documents

_BEHIND = text(
    """
    SELECT node_id FROM node_sources WHERE tenant_id = :tenant_id AND event_id = ANY(:ids)
    UNION
    SELECT l.node_id FROM label_sources AS s JOIN labels AS l USING (tenant_id, label_id)
    WHERE s.tenant_id = :tenant_id AND s.event_id = ANY(:ids)
    UNION
    SELECT f.node_id FROM fact_sources AS s JOIN facts AS f USING (tenant_id, fact_id)
    WHERE s.tenant_id = :tenant_id AND s.event_id = ANY(:ids)
    UNION
    SELECT unnest(ARRAY[e.from_node_id, e.to_node_id])
    FROM edge_sources AS s JOIN edges AS e USING (tenant_id, edge_id)
    WHERE s.tenant_id = :tenant_id AND s.event_id = ANY(:ids)
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))

_AT = {"label": "r.node_id = ANY(:ids)", "fact": "r.node_id = ANY(:ids)"}
_AT["edge"] = "(r.from_node_id = ANY(:ids) OR r.to_node_id = ANY(:ids))"

# A name is no longer one when nothing that is left says it; an alias takes its place.
_NAMES = text(
    """
    SELECT n.node_id, n.type, n.key, n.graph_version_id, n.name, l.kind, l.value, l.label_id,
        EXISTS (SELECT FROM node_sources AS s WHERE s.tenant_id = n.tenant_id
                AND s.node_id = n.node_id) AS is_told
    FROM nodes AS n LEFT JOIN labels AS l ON l.tenant_id = n.tenant_id AND l.node_id = n.node_id
        AND l.kind IN ('name', 'alias')
    WHERE n.tenant_id = :tenant_id AND n.node_id = ANY(:ids)
    ORDER BY n.node_id, l.kind DESC, l.label_id
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))

_OTHER_ENDS = text(
    """
    SELECT unnest(ARRAY[from_node_id, to_node_id]) FROM edges
    WHERE tenant_id = :tenant_id AND (from_node_id = ANY(:ids) OR to_node_id = ANY(:ids))
    """
).bindparams(bindparam("ids", type_=ARRAY(Text)))


def nodes_behind(tx: ReadTx, event_ids: Collection[str]) -> set[str]:
    """Return the nodes, of whatever version, of which anything rests on one of the events."""
    values = {"tenant_id": tx.tenant_id, "ids": list(event_ids)}
    return set(tx.connection.execute(_BEHIND, values).scalars())


def refold_without(
    tx: WriteTx, namespace: str, node_ids: Collection[str], *, now: datetime
) -> dict[str, int]:
    """Bring nodes in step after sources of theirs went; return how many records went too.

    What no event says any more goes; what others say as well stays, with its standing settled
    anew. Call while holding the projection's lock.
    """
    if not node_ids:
        return {}
    counts = {
        f"{record}s": _drop_orphans(tx, record, node_ids) for record in ("label", "fact", "edge")
    }
    gone, touched = _rename(tx, node_ids)
    if gone:
        touched |= _drop_nodes(tx, namespace, gone, counts)
    left = (set(node_ids) | touched) - gone
    for version_id, (derivation, ids) in _by_version(tx, left).items():
        state = load_state(tx, sorted(ids))
        events = source_events(tx, events_behind(state), version=derivation)
        apply_changes(tx, namespace, version_id, resettle(state, events=events))
        index_nodes(tx, namespace, ids, now, graph_version_id=version_id, derivation=derivation)
    return {name: number for name, number in counts.items() if number}


def _drop_orphans(tx: WriteTx, record: str, node_ids: Collection[str]) -> int:
    return tx.connection.execute(
        text(
            f"""
            DELETE FROM {record}s AS r WHERE r.tenant_id = :tenant_id AND {_AT[record]}
              AND NOT EXISTS (SELECT FROM {record}_sources AS s
                  WHERE s.tenant_id = r.tenant_id AND s.{record}_id = r.{record}_id)
            """  # noqa: S608 - joins constants of the code; every value is a parameter
        ).bindparams(bindparam("ids", type_=ARRAY(Text))),
        {"tenant_id": tx.tenant_id, "ids": list(node_ids)},
    ).rowcount


def _rename(tx: WriteTx, node_ids: Collection[str]) -> tuple[set[str], set[str]]:
    """Give nodes whose name nobody says any more another one; return those without, and changed."""
    labels: dict[str, list[Mapping[Any, Any]]] = {}
    nodes: dict[str, Mapping[Any, Any]] = {}
    values = {"tenant_id": tx.tenant_id, "ids": list(node_ids)}
    for row in tx.connection.execute(_NAMES, values).mappings():
        nodes[row["node_id"]] = row
        labels.setdefault(row["node_id"], [])
        if row["value"] is not None:
            labels[row["node_id"]].append(row)
    gone: set[str] = set()
    changed: set[str] = set()
    for node_id, node in nodes.items():
        left = labels[node_id]
        if not left or not node["is_told"]:
            gone.add(node_id)
        elif node["name"] not in {one["value"] for one in left if one["kind"] == "name"}:
            taken = next((one for one in left if _take_name(tx, node, one)), None)
            (gone if taken is None else changed).add(node_id)
    return gone, changed


def _take_name(tx: WriteTx, node: Mapping[Any, Any], label: Mapping[Any, Any]) -> bool:
    """Let a node go by a label from now on; False where another node has that name."""
    values = {
        "tenant_id": tx.tenant_id,
        "node_id": node["node_id"],
        "version": node["graph_version_id"],
        "type": node["type"],
        "name": label["value"],
        "key": name_key(label["value"]),
        "label_id": label["label_id"],
    }
    renamed = tx.connection.execute(
        text(
            """
            UPDATE nodes SET name = :name, key = :key, updated_at = now()
            WHERE tenant_id = :tenant_id AND node_id = :node_id AND NOT EXISTS (
                SELECT FROM nodes AS o WHERE o.tenant_id = :tenant_id
                  AND o.graph_version_id = :version AND o.type = :type AND o.key = :key
                  AND o.node_id <> :node_id)
            """
        ),
        values,
    ).rowcount
    if not renamed:
        return False
    tx.connection.execute(
        text(
            """
            UPDATE labels SET kind = 'name' WHERE tenant_id = :tenant_id AND label_id = :label_id
              AND kind <> 'name'
            """
        ),
        values,
    )
    return True


def _drop_nodes(
    tx: WriteTx, namespace: str, node_ids: Collection[str], counts: dict[str, int]
) -> set[str]:
    """Delete nodes with all that hangs on them; return the other ends of their edges."""
    values = {"tenant_id": tx.tenant_id, "ids": list(node_ids)}
    ends = set(tx.connection.execute(_OTHER_ENDS, values).scalars())
    for record in ("edge", "fact", "label"):
        tx.connection.execute(
            text(
                f"""
                DELETE FROM {record}_sources AS s USING {record}s AS r
                WHERE r.tenant_id = :tenant_id AND {_AT[record]} AND s.tenant_id = :tenant_id
                  AND s.{record}_id = r.{record}_id
                """  # noqa: S608 - joins constants of the code; every value is a parameter
            ).bindparams(bindparam("ids", type_=ARRAY(Text))),
            values,
        )
        counts[f"{record}s"] += _drop_orphans(tx, record, node_ids)
    for table in ("node_sources", "nodes"):
        number = tx.connection.execute(
            text(
                f"DELETE FROM {table} WHERE tenant_id = :tenant_id AND node_id = ANY(:ids)"  # noqa: S608 - a constant
            ).bindparams(bindparam("ids", type_=ARRAY(Text))),
            values,
        ).rowcount
        counts[table] = counts.get(table, 0) + number
    remove_documents(tx, namespace, DocumentKind.NODE, sorted(node_ids))
    return ends - set(node_ids)


def _by_version(tx: ReadTx, node_ids: Collection[str]) -> dict[str, tuple[int | None, set[str]]]:
    """Group nodes by version, with its derivation where that is not the live one."""
    rows = tx.connection.execute(
        text(
            """
            SELECT n.node_id, n.graph_version_id,
                nullif(v.derivation_version, s.derivation_version) AS derivation
            FROM nodes AS n
            JOIN graph_versions AS v USING (tenant_id, graph_version_id)
            JOIN namespaces AS s ON s.tenant_id = v.tenant_id AND s.namespace = v.namespace
            WHERE n.tenant_id = :tenant_id AND n.node_id = ANY(:ids)
            """
        ).bindparams(bindparam("ids", type_=ARRAY(Text))),
        {"tenant_id": tx.tenant_id, "ids": list(node_ids)},
    )
    grouped: dict[str, tuple[int | None, set[str]]] = {}
    for row in rows:
        grouped.setdefault(row.graph_version_id, (row.derivation, set()))[1].add(row.node_id)
    return grouped
