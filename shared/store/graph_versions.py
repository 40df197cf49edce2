"""Graph versions: the live one, shadows built beside it, retired ones to switch back to (D19)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, delete, func, insert, or_, select, update

from shared.errors import NotFound
from shared.ids import Prefix, new_id
from shared.store.database import ReadTx, WriteTx
from shared.store.search_index import DocumentKind, drop_documents
from shared.store.tables import (
    carried_events,
    edge_sources,
    edges,
    fact_sources,
    facts,
    graph_versions,
    label_sources,
    labels,
    namespaces,
    node_sources,
    nodes,
    version_blocks,
)


@dataclass(frozen=True, slots=True)
class GraphVersion:
    """A version of a namespace's graph, with the derivation of events that it rests on.

    `state` is live, shadow, retired or dropped; `request` is what it was begun for.
    """

    graph_version_id: str
    namespace: str
    state: str
    derivation_version: int
    request: Mapping[str, Any]
    created_at: datetime
    switched_at: datetime | None


def find_version(
    tx: ReadTx, namespace: str, graph_version_id: str, *, for_update: bool = False
) -> GraphVersion:
    """Return a version; NotFound when the namespace has none of that id."""
    statement = select(graph_versions).where(
        graph_versions.c.tenant_id == tx.tenant_id,
        graph_versions.c.graph_version_id == graph_version_id,
        graph_versions.c.namespace == namespace,
    )
    row = tx.connection.execute(
        statement.with_for_update() if for_update else statement
    ).one_or_none()
    if row is None:
        raise NotFound("no such graph version")
    return _version(row)


def list_versions(
    tx: ReadTx, namespace: str, *, before: str | None = None, limit: int = 50
) -> list[GraphVersion]:
    """Return a namespace's versions, newest first, older than the id `before`; dropped ones too."""
    statement = select(graph_versions).where(
        graph_versions.c.tenant_id == tx.tenant_id, graph_versions.c.namespace == namespace
    )
    if before is not None:
        statement = statement.where(graph_versions.c.graph_version_id < before)
    newest_first = statement.order_by(graph_versions.c.graph_version_id.desc()).limit(limit)
    return [_version(row) for row in tx.connection.execute(newest_first)]


def find_shadow(tx: ReadTx, namespace: str) -> GraphVersion | None:
    """Return the version that is built or waits beside the live one, if there is one."""
    row = tx.connection.execute(
        select(graph_versions).where(
            graph_versions.c.tenant_id == tx.tenant_id,
            graph_versions.c.namespace == namespace,
            graph_versions.c.state == "shadow",
        )
    ).first()
    return None if row is None else _version(row)


def begin_shadow(
    tx: WriteTx, namespace: str, *, new_derivation: bool, request: Mapping[str, Any]
) -> GraphVersion:
    """Begin a version beside the live one, over its events or over a derivation of its own."""
    live, newest = tx.connection.execute(
        select(
            namespaces.c.derivation_version,
            func.greatest(
                namespaces.c.derivation_version,
                select(func.coalesce(func.max(graph_versions.c.derivation_version), 1))
                .where(
                    graph_versions.c.tenant_id == tx.tenant_id,
                    graph_versions.c.namespace == namespace,
                )
                .scalar_subquery(),
            ),
        ).where(namespaces.c.tenant_id == tx.tenant_id, namespaces.c.namespace == namespace)
    ).one()
    row = tx.connection.execute(
        insert(graph_versions)
        .values(
            tenant_id=tx.tenant_id,
            graph_version_id=new_id(Prefix.GRAPH_VERSION),
            namespace=namespace,
            state="shadow",
            derivation_version=newest + 1 if new_derivation else live,
            request=dict(request),
        )
        .returning(graph_versions)
    ).one()
    return _version(row)


def version_state(tx: ReadTx, graph_version_id: str) -> str | None:
    """Return a version's state, or None when there is none of that id."""
    state: str | None = tx.connection.execute(
        select(graph_versions.c.state).where(
            graph_versions.c.tenant_id == tx.tenant_id,
            graph_versions.c.graph_version_id == graph_version_id,
        )
    ).scalar()
    return state


def set_state(tx: WriteTx, graph_version_id: str, state: str) -> None:
    """Move a version to another state, and note when it was switched to or away from."""
    values: dict[str, Any] = {"state": state}
    if state != "dropped":
        values["switched_at"] = func.now()
    tx.connection.execute(
        update(graph_versions)
        .where(
            graph_versions.c.tenant_id == tx.tenant_id,
            graph_versions.c.graph_version_id == graph_version_id,
        )
        .values(**values)
    )


def remove_contents(tx: WriteTx, version: GraphVersion) -> None:
    """Remove a version's graph and its search documents; its row and its events stay.

    Events stay because receipts name them; a derivation that no other version rests on is no
    longer found by any search.
    """
    own = and_(
        nodes.c.tenant_id == tx.tenant_id,
        nodes.c.graph_version_id == version.graph_version_id,
    )
    node_ids = select(nodes.c.node_id).where(own)
    for table, key, sources, places in (
        (edges, "edge_id", edge_sources, ("from_node_id", "to_node_id")),
        (facts, "fact_id", fact_sources, ("node_id",)),
        (labels, "label_id", label_sources, ("node_id",)),
    ):
        mine = and_(
            table.c.tenant_id == tx.tenant_id, or_(*(table.c[p].in_(node_ids) for p in places))
        )
        records = select(table.c[key]).where(mine)
        tx.connection.execute(
            delete(sources).where(sources.c.tenant_id == tx.tenant_id, sources.c[key].in_(records))
        )
        tx.connection.execute(delete(table).where(mine))
    tx.connection.execute(
        delete(node_sources).where(
            node_sources.c.tenant_id == tx.tenant_id, node_sources.c.node_id.in_(node_ids)
        )
    )
    tx.connection.execute(delete(nodes).where(own))
    tx.connection.execute(
        delete(version_blocks).where(
            version_blocks.c.tenant_id == tx.tenant_id,
            version_blocks.c.graph_version_id == version.graph_version_id,
        )
    )
    drop_documents(tx, version.namespace, DocumentKind.NODE, version=version.graph_version_id)
    if not _is_shared(tx, version):
        _forget_derivation(tx, version)


def _is_shared(tx: ReadTx, version: GraphVersion) -> bool:
    statement = select(graph_versions.c.graph_version_id).where(
        graph_versions.c.tenant_id == tx.tenant_id,
        graph_versions.c.namespace == version.namespace,
        graph_versions.c.derivation_version == version.derivation_version,
        graph_versions.c.graph_version_id != version.graph_version_id,
        graph_versions.c.state != "dropped",
    )
    return tx.connection.execute(statement.limit(1)).first() is not None


def _forget_derivation(tx: WriteTx, version: GraphVersion) -> None:
    drop_documents(
        tx, version.namespace, DocumentKind.EVENT, version=str(version.derivation_version)
    )
    tx.connection.execute(
        delete(carried_events).where(
            carried_events.c.tenant_id == tx.tenant_id,
            carried_events.c.namespace == version.namespace,
            carried_events.c.derivation_version == version.derivation_version,
        )
    )


def count_contents(tx: ReadTx, version_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return how many nodes, facts and edges each version holds."""
    counts: dict[str, dict[str, int]] = {
        one: {"nodes": 0, "facts": 0, "edges": 0} for one in version_ids
    }
    here = and_(nodes.c.tenant_id == tx.tenant_id, nodes.c.graph_version_id.in_(list(version_ids)))
    of_version = select(nodes.c.graph_version_id, func.count()).group_by(nodes.c.graph_version_id)
    at_fact = and_(facts.c.tenant_id == nodes.c.tenant_id, facts.c.node_id == nodes.c.node_id)
    at_edge = and_(edges.c.tenant_id == nodes.c.tenant_id, edges.c.from_node_id == nodes.c.node_id)
    statements = {
        "nodes": of_version.where(here),
        "facts": of_version.select_from(nodes.join(facts, at_fact)).where(here),
        "edges": of_version.select_from(nodes.join(edges, at_edge)).where(here),
    }
    for name, statement in statements.items():
        for version_id, number in tx.connection.execute(statement):
            counts[version_id][name] = number
    return counts


def _version(row: Row[Any]) -> GraphVersion:
    return GraphVersion(
        graph_version_id=row.graph_version_id,
        namespace=row.namespace,
        state=row.state,
        derivation_version=row.derivation_version,
        request=row.request,
        created_at=row.created_at,
        switched_at=row.switched_at,
    )
