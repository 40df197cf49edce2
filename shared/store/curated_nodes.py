"""Keep the graph findable as it is seen when people change the standing of events.

What is current is a view and follows by itself; a node's words in the index do not.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import select

from shared.store.database import ReadTx, WriteTx
from shared.store.erasure_graph import nodes_behind
from shared.store.graph_documents import index_nodes
from shared.store.tables import graph_versions, namespaces, nodes


def reindex_nodes(
    tx: WriteTx, namespace: str, event_ids: Collection[str], *, now: datetime
) -> set[str]:
    """Write the documents of nodes that rest on these events anew, in every graph version.

    Returns those of the live version: none means that the events were never projected. Call while
    holding the projection's lock.
    """
    in_live: set[str] = set()
    behind = nodes_behind(tx, event_ids)
    for version_id, derivation, is_live, node_ids in _by_version(tx, behind):
        index_nodes(
            tx, namespace, node_ids, now, graph_version_id=version_id, derivation=derivation
        )
        if is_live:
            in_live |= node_ids
    return in_live


def _by_version(
    tx: ReadTx, node_ids: Collection[str]
) -> list[tuple[str, int | None, bool, set[str]]]:
    """Return each graph version, its derivation unless live, whether it is live, and its nodes."""
    if not node_ids:
        return []
    statement = (
        select(
            nodes.c.node_id,
            nodes.c.graph_version_id,
            graph_versions.c.derivation_version,
            namespaces.c.derivation_version.label("live_derivation"),
            namespaces.c.graph_version_id.label("live_version"),
        )
        .join(
            graph_versions,
            (graph_versions.c.tenant_id == nodes.c.tenant_id)
            & (graph_versions.c.graph_version_id == nodes.c.graph_version_id),
        )
        .join(
            namespaces,
            (namespaces.c.tenant_id == nodes.c.tenant_id)
            & (namespaces.c.namespace == nodes.c.namespace),
        )
        .where(nodes.c.tenant_id == tx.tenant_id, nodes.c.node_id.in_(node_ids))
        .order_by(nodes.c.graph_version_id, nodes.c.node_id)
    )
    found: dict[str, tuple[str, int | None, bool, set[str]]] = {}
    for row in tx.connection.execute(statement):
        own = row.derivation_version
        derivation = None if own == row.live_derivation else own
        is_live = row.graph_version_id == row.live_version
        place = (row.graph_version_id, derivation, is_live, set[str]())
        found.setdefault(row.graph_version_id, place)[3].add(row.node_id)
    return list(found.values())
