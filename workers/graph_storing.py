"""Fold projections into the live graph and keep its nodes' search documents in step.

One projection of a namespace stores at a time; each folds on the state that the one before it
left, so that the order in which jobs finish never shows (D16).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shared.domain.graph import FoldResult, Rejection, SourceEvent
from shared.domain.graph_fold import fold, proposal_keys
from shared.domain.graph_proposed import Proposal
from shared.domain.graph_view import node_views
from shared.ids import Prefix, new_id
from shared.store.database import WriteTx
from shared.store.graph import (
    ensure_live_version,
    events_behind,
    load_state,
    nodes_matching,
    source_events,
)
from shared.store.graph_writes import apply_changes, touched_nodes
from shared.store.search_index import DocumentKind, index_documents, remove_documents
from workers.search_documents import node_document

_PREFIXES: Final[Mapping[str, Prefix]] = {
    "node": Prefix.NODE,
    "label": Prefix.LABEL,
    "fact": Prefix.FACT,
    "edge": Prefix.EDGE,
}


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """A graph version to fold into; `derivation_version` None: its events are the live ones."""

    graph_version_id: str
    derivation_version: int | None


@dataclass(slots=True)
class StoredGraph:
    """What was written: touched nodes, items refused while folding, nodes by event."""

    node_ids: set[str] = field(default_factory=set)
    facts: int = 0
    edges: int = 0
    rejections: list[Rejection] = field(default_factory=list)
    participants: dict[str, list[str]] = field(default_factory=dict)


def store_proposals(
    tx: WriteTx,
    namespace: str,
    proposals: Sequence[Proposal],
    *,
    job_event_ids: frozenset[str],
    now: datetime,
    into: GraphTarget | None = None,
) -> StoredGraph:
    """Fold each proposal in turn, on the live version or on the one named.

    Call while holding the projection lock.
    """
    version = into.graph_version_id if into else ensure_live_version(tx, namespace)
    derivation = into.derivation_version if into else None
    stored = StoredGraph()
    for proposal in proposals:
        if not proposal.nodes:
            continue
        state = load_state(tx, nodes_matching(tx, version, proposal_keys(proposal)))
        events = source_events(tx, events_behind(state) | job_event_ids, version=derivation)
        result = fold(
            state,
            proposal,
            events=events,
            job_event_ids=job_event_ids,
            now=now,
            new_id=lambda kind: new_id(_PREFIXES[kind]),
        )
        apply_changes(tx, namespace, version, result.changes)
        _note(stored, result)
    _index(tx, namespace, stored.node_ids, now, into=GraphTarget(version, derivation))
    return stored


def _note(stored: StoredGraph, result: FoldResult) -> None:
    changes = result.changes
    stored.node_ids |= touched_nodes(changes)
    stored.facts += len(changes.facts_added) + len(changes.facts_changed)
    stored.edges += len(changes.edges_added) + len(changes.edges_changed)
    stored.rejections += result.rejections
    for event_id, node_ids in result.node_ids_by_event.items():
        known = stored.participants.setdefault(event_id, [])
        known += [node_id for node_id in node_ids if node_id not in known]


def _index(
    tx: WriteTx, namespace: str, node_ids: Collection[str], now: datetime, *, into: GraphTarget
) -> None:
    """Write the documents of the touched nodes anew, as readers see them now."""
    if not node_ids:
        return
    state = load_state(tx, sorted(node_ids))
    events = source_events(tx, events_behind(state), version=into.derivation_version)
    views = {view.id: view for view in node_views(state, events)}
    names = {view.id: " ".join((view.name, *view.aliases)) for view in views.values() if view.name}
    shown = [views[one] for one in sorted(node_ids) if one in views]
    documents = [
        node_document(view, names, at=_latest(view.source_event_ids, events, now)) for view in shown
    ]
    hidden = sorted(set(node_ids) - {view.id for view in shown})
    version = into.graph_version_id
    remove_documents(tx, namespace, DocumentKind.NODE, hidden, version=version)
    index_documents(tx, namespace, DocumentKind.NODE, documents, version=version)


def _latest(
    event_ids: Sequence[str], events: Mapping[str, SourceEvent], default: datetime
) -> datetime:
    said = [events[one].said_at for one in event_ids if one in events]
    return max(said, default=default)
