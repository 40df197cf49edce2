"""Fold projections into the live graph and keep its nodes' search documents in step.

One projection of a namespace stores at a time; each folds on the state that the one before it
left, so that the order in which jobs finish never shows (D16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shared.domain.graph import FoldResult, GraphChanges, GraphState, Rejection, SourceEvent
from shared.domain.graph_fold import apply_changes as changed_state
from shared.domain.graph_fold import fold, proposal_keys
from shared.domain.graph_proposed import Proposal
from shared.ids import Prefix, new_id
from shared.store.database import WriteTx
from shared.store.graph import (
    begin_version,
    events_behind,
    live_version,
    load_state,
    nodes_matching,
    show_version,
    source_events,
)
from shared.store.graph_documents import LoadedNodes, index_nodes
from shared.store.graph_writes import apply_changes, touched_nodes

Keep = Callable[[GraphState, GraphChanges], None]
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
    known: Mapping[str, SourceEvent] | None = None,
    into: GraphTarget | None = None,
    keep: Keep | None = None,
) -> StoredGraph:
    """Fold each proposal in turn, on the live version or on the one named.

    `known` are events just read, for their standing. `keep` is given the state and the changes
    before they are written. Call while holding the projection lock.
    """
    shown = into.graph_version_id if into else live_version(tx, namespace)
    version = shown or begin_version(tx, namespace)
    derivation = into.derivation_version if into else None
    stored = StoredGraph()
    events = dict(known or {})
    whole: LoadedNodes | None = None
    for number, proposal in enumerate(one for one in proposals if one.nodes):
        matching = nodes_matching(tx, version, proposal_keys(proposal))
        state = load_state(tx, matching)
        unread = (events_behind(state) | job_event_ids) - events.keys()
        events |= source_events(tx, unread, version=derivation)
        result = fold(
            state,
            proposal,
            events=events,
            job_event_ids=job_event_ids,
            now=now,
            new_id=lambda kind: new_id(_PREFIXES[kind]),
        )
        if keep is not None:
            keep(state, result.changes)
        apply_changes(tx, namespace, version, result.changes)
        _note(stored, result)
        # A later proposal may change what this one loaded: then all is read once more.
        added = {node.id for node in result.changes.nodes_added}
        after = changed_state(state, result.changes)
        whole = None if number else LoadedNodes(after, events, {*matching, *added}, added)
    index_nodes(
        tx,
        namespace,
        stored.node_ids,
        now,
        graph_version_id=version,
        derivation=derivation,
        loaded=whole,
    )
    if shown is None:
        show_version(tx, namespace, version)
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
