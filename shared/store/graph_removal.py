"""Take an undone import's events out of every graph version, with their nodes' documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Table, delete, select, union, update

from shared.domain.graph_unfold import Unfolded, unfold
from shared.store.database import ReadTx, WriteTx
from shared.store.graph import events_behind, load_state, source_events
from shared.store.graph_before import KeptGraph, kept_graph
from shared.store.graph_documents import index_nodes
from shared.store.graph_writes import apply_changes, touched_nodes
from shared.store.search_index import DocumentKind, remove_documents
from shared.store.tables import (
    edge_sources,
    edges,
    fact_sources,
    facts,
    graph_versions,
    label_sources,
    labels,
    node_sources,
    nodes,
)
from shared.store.versions import live_derivation_version

_KINDS: Sequence[tuple[Table, Table, str]] = (
    (edges, edge_sources, "edge_id"),
    (facts, fact_sources, "fact_id"),
    (labels, label_sources, "label_id"),
    (nodes, node_sources, "node_id"),
)


def remove_from_graph(
    tx: WriteTx, namespace: str, import_id: str, event_ids: Collection[str], *, now: datetime
) -> None:
    """Unfold the events from each version of the namespace's graph.

    Call while holding the projection lock, after the events' links and what they superseded
    were set right, and before the events are hidden.
    """
    kept = kept_graph(tx, import_id)
    live = live_derivation_version(tx, namespace)
    for version_id, derivation, node_ids in _touched_versions(tx, namespace, event_ids):
        other = None if derivation == live else derivation
        _remove(
            tx, namespace, version_id, node_ids, frozenset(event_ids), kept, other=other, now=now
        )


def _remove(
    tx: WriteTx,
    namespace: str,
    version_id: str,
    node_ids: Collection[str],
    leaving: frozenset[str],
    kept: KeptGraph,
    *,
    other: int | None,
    now: datetime,
) -> None:
    state = load_state(tx, node_ids)
    events = source_events(tx, events_behind(state) - leaving, version=other)
    result = unfold(state, leaving=leaving, events=events, before=kept.before)
    ends = {
        end
        for edge in state.edges
        if edge.id in result.gone_edges
        for end in (edge.from_node_id, edge.to_node_id)
    }
    _delete(tx, result, leaving)
    apply_changes(tx, namespace, version_id, result.changes)
    _restore_moments(tx, result, kept)
    remove_documents(tx, namespace, DocumentKind.NODE, list(result.gone_nodes), version=version_id)
    touched = {*node_ids, *ends, *touched_nodes(result.changes)} - set(result.gone_nodes)
    index_nodes(tx, namespace, touched, now, graph_version_id=version_id, derivation=other)


def _touched_versions(
    tx: ReadTx, namespace: str, event_ids: Collection[str]
) -> list[tuple[str, int, list[str]]]:
    """Return (version, its derivation, nodes) of what rests on the events."""
    of_tenant = nodes.c.tenant_id == tx.tenant_id
    named = union(
        *(
            select(table.c[column].label("node_id"))
            .join(
                sources,
                (sources.c.tenant_id == table.c.tenant_id) & (sources.c[key] == table.c[key]),
            )
            .where(sources.c.tenant_id == tx.tenant_id, sources.c.event_id.in_(event_ids))
            for table, sources, key in _KINDS
            for column in _ends(table)
        )
    ).subquery()
    statement = (
        select(nodes.c.graph_version_id, graph_versions.c.derivation_version, nodes.c.node_id)
        .join(named, named.c.node_id == nodes.c.node_id)
        .join(
            graph_versions,
            (graph_versions.c.tenant_id == nodes.c.tenant_id)
            & (graph_versions.c.graph_version_id == nodes.c.graph_version_id),
        )
        .where(of_tenant, nodes.c.namespace == namespace)
        .order_by(nodes.c.graph_version_id, nodes.c.node_id)
    )
    found: dict[tuple[str, int], list[str]] = {}
    for version_id, derivation, node_id in tx.connection.execute(statement):
        found.setdefault((version_id, derivation), []).append(node_id)
    return [(version_id, derivation, ids) for (version_id, derivation), ids in found.items()]


def _ends(table: Table) -> tuple[str, ...]:
    return ("from_node_id", "to_node_id") if table is edges else ("node_id",)


def _delete(tx: WriteTx, result: Unfolded, leaving: frozenset[str]) -> None:
    """Delete sources first, since they name records; nodes last, since everything names them."""
    gone = (result.gone_edges, result.gone_facts, result.gone_labels, result.gone_nodes)
    for (_, sources, key), ids in zip(_KINDS, gone, strict=True):
        tx.connection.execute(
            delete(sources).where(
                sources.c.tenant_id == tx.tenant_id,
                sources.c.event_id.in_(leaving) | sources.c[key].in_(ids),
            )
        )
    for (table, _, key), ids in zip(_KINDS, gone, strict=True):
        tx.connection.execute(
            delete(table).where(table.c.tenant_id == tx.tenant_id, table.c[key].in_(ids))
        )


def _restore_moments(tx: WriteTx, result: Unfolded, kept: KeptGraph) -> None:
    """Let nodes that are as before the import have been changed when they were then."""
    for node in result.changes.nodes_changed:
        if kept.before.records.get(node.id) == node:
            tx.connection.execute(
                update(nodes)
                .where(nodes.c.tenant_id == tx.tenant_id, nodes.c.node_id == node.id)
                .values(updated_at=kept.node_moments[node.id])
            )
