"""Fold a validated proposal into the graph: step 6 of the walk, without any I/O.

Folding the same proposals in any order gives the same facts and edges, current and
historical: records are rebuilt per key from all their statements, ordered by source time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from shared.domain.graph import (
    Edge,
    Fact,
    FactMode,
    FoldResult,
    GraphChanges,
    GraphState,
    Label,
    Node,
    NodeType,
    RecordStatus,
    Rejection,
    SourceEvent,
    Stance,
    name_key,
)
from shared.domain.graph_identity import NodeBook, proposal_keys
from shared.domain.graph_proposed import Proposal, ProposedEdge, ProposedFact
from shared.domain.graph_runs import gather
from shared.domain.graph_timeline import (
    Claim,
    claims_of_edges,
    claims_of_facts,
    edge_group,
    fact_group,
    holds_from,
    points,
    settle,
)

__all__ = ["apply_changes", "fold", "identity_key", "proposal_keys", "resettle"]

Record = TypeVar("Record", Fact, Edge)
Item = TypeVar("Item", Node, Label, Fact, Edge)
Events = Mapping[str, SourceEvent]
NewId = Callable[[str], str]


def fold(
    state: GraphState,
    proposal: Proposal,
    *,
    events: Events,
    job_event_ids: frozenset[str],
    now: datetime,
    new_id: NewId,
) -> FoldResult:
    """Return what a proposal changes in a loaded state.

    `state` holds every node that `proposal_keys` names, with all labels and facts, and all
    edges that leave those nodes. `events` holds the job's events, every source of the loaded
    records and, where known, the events that superseded them. `new_id` takes 'node',
    'label', 'fact' or 'edge'. Folding the same proposal twice changes nothing.
    """
    book = NodeBook.of(state, events=events, new_id=new_id)
    ids = {node.ref: book.enter(node) for node in proposal.nodes}
    facts = [
        fact
        for node in proposal.nodes
        for proposed in node.facts
        for fact in _stated_facts(proposed, ids[node.ref], events, now)
    ]
    edges, rejections = _stated_edges(proposal.edges, ids, events, now)
    folded_facts = _fold_facts(state.facts, facts, events, new_id)
    folded_edges = _fold_edges(state.edges, edges, events, new_id)
    nodes_added, nodes_changed = _diff(state.nodes, book.nodes.values())
    labels_added, labels_changed = _diff(state.labels, book.labels.values())
    facts_added, facts_changed = _diff(state.facts, folded_facts)
    edges_added, edges_changed = _diff(state.edges, folded_edges)
    return FoldResult(
        changes=GraphChanges(
            nodes_added=nodes_added,
            nodes_changed=nodes_changed,
            labels_added=labels_added,
            labels_changed=labels_changed,
            facts_added=facts_added,
            facts_changed=facts_changed,
            edges_added=edges_added,
            edges_changed=edges_changed,
        ),
        rejections=rejections,
        node_ids_by_ref=ids,
        node_ids_by_event=_participants(book.nodes.values(), job_event_ids),
    )


def identity_key(type: NodeType, name: str) -> str:  # noqa: A002 - the word of the domain
    """Return the key under which a name identifies a node among those of its type.

    The type is half of the identity, not of the key: keys of two types never compare.
    """
    del type
    return name_key(name)


def apply_changes(state: GraphState, changes: GraphChanges) -> GraphState:
    """Return the state after the changes, as a store holds it once they are written."""
    return GraphState(
        nodes=_merged(state.nodes, changes.nodes_changed, changes.nodes_added),
        labels=_merged(state.labels, changes.labels_changed, changes.labels_added),
        facts=_merged(state.facts, changes.facts_changed, changes.facts_added),
        edges=_merged(state.edges, changes.edges_changed, changes.edges_added),
    )


def resettle(state: GraphState, *, events: Events) -> GraphChanges:
    """Return what changes in loaded records after events of theirs are gone for good.

    Each record keeps its id, begins with the first statement that is left, and stands as the
    statements that are left have it. `events` as in `fold`.
    """
    facts: list[Fact] = []
    for key in dict.fromkeys(fact_group(fact) for fact in state.facts):
        group = [_rebegun(one, events) for one in state.facts if fact_group(one) == key]
        facts += _settled(group, claims_of_facts(group, events))
    edges: list[Edge] = []
    for pair in dict.fromkeys(edge_group(edge) for edge in state.edges):
        joined = [_rebegun(one, events) for one in state.edges if edge_group(one) == pair]
        edges += _settled(joined, claims_of_edges(joined, events))
    return GraphChanges(
        facts_changed=_diff(state.facts, facts)[1], edges_changed=_diff(state.edges, edges)[1]
    )


def _rebegun(record: Record, events: Events) -> Record:
    stating = points(record, events)
    if record.valid_from is None or not stating:
        return record
    return replace(record, valid_from=min(holds_from(event) for event in stating))


def _stated_facts(
    proposed: ProposedFact, node_id: str, events: Events, now: datetime
) -> list[Fact]:
    """Make the new statements of one proposed fact; each item of a set is one of its own."""
    is_list = isinstance(proposed.value, tuple)
    values = proposed.value if is_list and proposed.mode is FactMode.SET else (proposed.value,)
    return [
        Fact(
            id="",
            node_id=node_id,
            mode=proposed.mode,
            key=proposed.key,
            value=value,
            status=RecordStatus.ACTIVE,
            valid_from=_since(proposed.source_event_ids, events),
            valid_until=None,
            recorded_at=now,
            confidence=proposed.confidence,
            source_event_ids=proposed.source_event_ids,
            stance=proposed.stance,
        )
        for value in values
    ]


def _stated_edges(
    proposed: Sequence[ProposedEdge], ids: Mapping[str, str], events: Events, now: datetime
) -> tuple[list[Edge], tuple[Rejection, ...]]:
    stated: list[Edge] = []
    rejections: list[Rejection] = []
    for index, edge in enumerate(proposed):
        ends = ids[edge.from_ref], ids[edge.to_ref]
        if ends[0] == ends[1]:
            detail = "both ends are the same node under two names"
            rejections.append(Rejection("self_loop", detail, f"/edges/{index}"))
            continue
        stated.append(
            Edge(
                id="",
                from_node_id=ends[0],
                to_node_id=ends[1],
                relation=edge.relation,
                cardinality=edge.cardinality,
                status=RecordStatus.ACTIVE,
                valid_from=_since(edge.source_event_ids, events),
                valid_until=None,
                recorded_at=now,
                confidence=edge.confidence,
                source_event_ids=edge.source_event_ids,
                stance=edge.stance,
            )
        )
    return stated, tuple(rejections)


def _since(source_ids: Sequence[str], events: Events) -> datetime:
    # A statement that cites several events is complete only with the latest of them.
    return max(holds_from(events[i]) for i in source_ids)


def _fold_facts(
    stored: Sequence[Fact], stated: Sequence[Fact], events: Events, new_id: NewId
) -> list[Fact]:
    out: list[Fact] = []
    for key in dict.fromkeys(fact_group(f) for f in stated):
        old = [f for f in stored if fact_group(f) == key]
        new = [f for f in stated if fact_group(f) == key]
        gathered = gather(old, new, events=events, new_id=lambda: new_id("fact"))
        out += _settled(gathered, claims_of_facts(gathered, events))
    return out


def _fold_edges(
    stored: Sequence[Edge], stated: Sequence[Edge], events: Events, new_id: NewId
) -> list[Edge]:
    out: list[Edge] = []
    for key in dict.fromkeys(edge_group(e) for e in stated):
        old = [e for e in stored if edge_group(e) == key]
        new = [e for e in stated if edge_group(e) == key]
        # Once said to be the only one, a target is so in all its records: else the outcome
        # would hang on which of its statements arrived first.
        single = {e.to_node_id for e in (*old, *new) if e.cardinality == "one"}
        old = [_as_single(e) if e.to_node_id in single else e for e in old]
        new = [_as_single(e) if e.to_node_id in single else e for e in new]
        gathered = gather(old, new, events=events, new_id=lambda: new_id("edge"))
        out += _settled(gathered, claims_of_edges(gathered, events))
    return out


def _as_single(edge: Edge) -> Edge:
    return replace(edge, cardinality="one")


def _settled(records: Sequence[Record], claims: Sequence[Claim]) -> list[Record]:
    """Bring the stored status and end of each visible record in step with its standing."""
    standings = settle(claims)
    out: list[Record] = []
    for record in records:
        standing = standings.get(record.id)
        if standing is None:
            out.append(record)
            continue
        is_undated = record.stance is Stance.PAST and standing.valid_from is None
        out.append(
            replace(
                record,
                status=standing.status,
                valid_from=None if is_undated else record.valid_from,
                valid_until=standing.valid_until,
            )
        )
    return out


def _participants(
    nodes: Iterable[Node], job_event_ids: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    found = list(nodes)
    return {
        event_id: tuple(n.id for n in found if event_id in n.source_event_ids)
        for event_id in sorted(job_event_ids)
    }


def _diff(
    before: Sequence[Item], after: Iterable[Item]
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    known = {item.id: item for item in before}
    items = list(after)
    added = tuple(item for item in items if item.id not in known)
    changed = tuple(item for item in items if item.id in known and known[item.id] != item)
    return added, changed


def _merged(
    before: Sequence[Item], changed: Sequence[Item], added: Sequence[Item]
) -> tuple[Item, ...]:
    new: dict[str, Item] = {item.id: item for item in changed}
    kept: list[Item] = [new.get(item.id, item) for item in before]
    return tuple(kept) + tuple(added)
