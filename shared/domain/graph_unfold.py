"""Take events out of the graph again: what rested on them alone goes, the rest stands as before.

The counterpart of `graph_fold`, for an import that is undone. Records are rebuilt per key from
the statements that are left, and take back what the fold had changed of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from shared.domain.graph import (
    Edge,
    Fact,
    GraphChanges,
    GraphState,
    Label,
    Node,
    SourceEvent,
)
from shared.domain.graph_runs import gather
from shared.domain.graph_timeline import (
    Claim,
    claims_of_edges,
    claims_of_facts,
    edge_group,
    fact_group,
    settle,
)

Item = TypeVar("Item", Node, Label, Fact, Edge)
Record = TypeVar("Record", Fact, Edge)
Events = Mapping[str, SourceEvent]


@dataclass(frozen=True, slots=True)
class Before:
    """What a fold did: records as they were before it, and the ids of those it added."""

    records: Mapping[str, Node | Label | Fact | Edge]
    added: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unfolded:
    """Records to write anew, and ids of those that go, by kind."""

    changes: GraphChanges
    gone_nodes: tuple[str, ...] = ()
    gone_labels: tuple[str, ...] = ()
    gone_facts: tuple[str, ...] = ()
    gone_edges: tuple[str, ...] = ()


def unfold(
    state: GraphState, *, leaving: frozenset[str], events: Events, before: Before
) -> Unfolded:
    """Return what taking the events `leaving` out changes in a loaded state.

    `state` holds every node that rests on one of them, with its labels and facts and all edges
    at it. `events` holds the other sources as they stand once the leaving ones are gone.
    """
    facts, gone_facts = _unfold_records(
        state.facts, leaving, events, before, group=fact_group, claims=claims_of_facts
    )
    edges, gone_edges = _unfold_records(
        state.edges, leaving, events, before, group=edge_group, claims=claims_of_edges
    )
    labels, gone_labels = _unfold_items(state.labels, leaving, before)
    needed = {label.node_id for label in labels} | {fact.node_id for fact in facts}
    needed |= {end for edge in edges for end in (edge.from_node_id, edge.to_node_id)}
    nodes, gone_nodes = _unfold_items(state.nodes, leaving, before, kept=frozenset(needed))
    return Unfolded(
        changes=GraphChanges(
            nodes_changed=_changed(state.nodes, nodes),
            labels_changed=_changed(state.labels, labels),
            facts_changed=_changed(state.facts, facts),
            edges_changed=_changed(state.edges, edges),
        ),
        gone_nodes=gone_nodes,
        gone_labels=gone_labels,
        gone_facts=gone_facts,
        gone_edges=gone_edges,
    )


def _unfold_items(
    items: Sequence[Item],
    leaving: frozenset[str],
    before: Before,
    *,
    kept: frozenset[str] = frozenset(),
) -> tuple[list[Item], tuple[str, ...]]:
    """Take the events out of each item; one that rested on them alone goes, unless `kept`."""
    left: list[Item] = []
    gone: list[str] = []
    for item in items:
        stripped = _stripped(item, leaving)
        if not stripped.source_event_ids and item.source_event_ids and item.id not in kept:
            gone.append(item.id)
        else:
            left.append(_as_before(stripped, before) if stripped != item else item)
    return left, tuple(gone)


def _unfold_records(
    records: Sequence[Record],
    leaving: frozenset[str],
    events: Events,
    before: Before,
    *,
    group: Callable[[Record], object],
    claims: Callable[[Sequence[Record], Events], list[Claim]],
) -> tuple[list[Record], tuple[str, ...]]:
    """Rebuild each group that the events had a part in from the statements that are left."""
    touched = {group(one) for one in records if leaving.intersection(one.source_event_ids)}
    left = [one for one in records if group(one) not in touched]
    gone: set[str] = set()
    for key in touched:
        members = [one for one in records if group(one) == key]
        rebuilt = _rebuilt(members, leaving, events, before)
        gone |= {one.id for one in members} - {one.id for one in rebuilt}
        left += _settled(rebuilt, claims(rebuilt, events))
    return left, tuple(sorted(gone))


def _rebuilt(
    members: Sequence[Record], leaving: frozenset[str], events: Events, before: Before
) -> list[Record]:
    """Gather what is left of one group; a stretch that the fold had split grows together again."""
    stripped = [_stripped(one, leaving) for one in members]
    left = [_as_before(one, before) for one in stripped if one.source_event_ids]
    stored = [one for one in left if one.id not in before.added]
    split_off = [one for one in left if one.id in before.added]
    # A part that a later statement keeps apart stays what it is, under its id.
    ids: Iterator[str] = iter([one.id for one in split_off])
    gathered = gather(stored, split_off, events=events, new_id=lambda: next(ids))
    return [_as_before(one, before) for one in gathered]


def _settled(records: Sequence[Record], claims: Sequence[Claim]) -> list[Record]:
    standings = settle(claims)
    return [
        replace(one, status=standings[one.id].status, valid_until=standings[one.id].valid_until)
        if one.id in standings
        else one
        for one in records
    ]


def _stripped(item: Item, leaving: frozenset[str]) -> Item:
    left = tuple(one for one in item.source_event_ids if one not in leaving)
    return item if left == item.source_event_ids else replace(item, source_event_ids=left)


def _as_before(item: Item, before: Before) -> Item:
    """Return the item as it was before the fold, if it rests on the same events again.

    Spelling, confidence and cardinality are what a fold may change for good.
    """
    known = before.records.get(item.id)
    if known is None or set(known.source_event_ids) != set(item.source_event_ids):
        return item
    return known if isinstance(known, type(item)) else item


def _changed(was: Sequence[Item], now: Sequence[Item]) -> tuple[Item, ...]:
    known = {one.id: one for one in was}
    return tuple(one for one in now if known[one.id] != one)
