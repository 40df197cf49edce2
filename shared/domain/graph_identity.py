"""Which node a proposed node is: same type and an equal key of its name or an alias (D18).

The canonical name is the first a node was known by; another name becomes an alias. Names,
aliases and tags are labels that gather sources of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from shared.domain.graph import (
    VISIBLE_EVENT_STATUSES,
    GraphState,
    Label,
    LabelKind,
    Node,
    NodeType,
    RecordStatus,
    SourceEvent,
    name_key,
    text_key,
)
from shared.domain.graph_proposed import Proposal, ProposedNode


def proposal_keys(proposal: Proposal) -> set[tuple[NodeType, str]]:
    """Return the identity keys under which the store must look for existing nodes.

    A node may be found by its own key and by its aliases' keys, so the store loads every
    node of that type whose key, or one of whose alias labels' keys, is among them.
    """
    keys: set[tuple[NodeType, str]] = set()
    for node in proposal.nodes:
        keys |= {(node.type, key) for key in (name_key(node.name), *_alias_keys(node))}
    return keys


@dataclass(slots=True)
class NodeBook:
    """Nodes and labels of one fold: what was loaded, and what the proposal adds to it."""

    events: Mapping[str, SourceEvent]
    new_id: Callable[[str], str]
    nodes: dict[str, Node] = field(default_factory=dict)
    labels: dict[tuple[str, LabelKind, str], Label] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        state: GraphState,
        *,
        events: Mapping[str, SourceEvent],
        new_id: Callable[[str], str],
    ) -> NodeBook:
        """Open the book on a loaded state."""
        book = cls(events=events, new_id=new_id)
        book.nodes = {n.id: n for n in state.nodes}
        book.labels = {(x.node_id, x.kind, x.key): x for x in state.labels}
        return book

    def enter(self, proposed: ProposedNode) -> str:
        """Merge a proposed node into the one it is, or add it; return the node's id."""
        node = self._find(proposed)
        if node is None:
            node = Node(
                id=self.new_id("node"),
                type=proposed.type,
                name=proposed.name,
                key=name_key(proposed.name),
                status=proposed.status,
                confidence=proposed.confidence,
                source_event_ids=(),
            )
        is_disputed = RecordStatus.DISPUTED in (node.status, proposed.status)
        self.nodes[node.id] = replace(
            node,
            status=RecordStatus.DISPUTED
            if is_disputed and node.status is not RecordStatus.ARCHIVED
            else node.status,
            confidence=max(node.confidence, proposed.confidence),
            source_event_ids=_union(node.source_event_ids, proposed.source_event_ids),
        )
        self._label(node, LabelKind.ALIAS, proposed.name, proposed.name_source_ids)
        for label in proposed.labels:
            self._label(node, label.kind, label.value, label.source_event_ids)
        return node.id

    def _find(self, proposed: ProposedNode) -> Node | None:
        peers = [n for n in self.nodes.values() if n.type is proposed.type]
        name, others = name_key(proposed.name), _alias_keys(proposed)
        # The name weighs more than aliases; among equals the oldest id, whatever was loaded first.
        ranks = {n.id: self._rank(n, name, others) for n in peers}
        found = [n for n in peers if ranks[n.id] is not None]
        return min(found, key=lambda n: (ranks[n.id], n.id), default=None)

    def _rank(self, node: Node, name: str, others: set[str]) -> int | None:
        known = {
            x.key
            for (node_id, kind, _), x in self.labels.items()
            if node_id == node.id and kind is LabelKind.ALIAS and self._is_exposable(x)
        }
        tests = (node.key == name, name in known, node.key in others, bool(known & others))
        return tests.index(True) if True in tests else None

    def _is_exposable(self, label: Label) -> bool:
        # An alias that rests on forgotten events alone must not join two things.
        events = (self.events.get(i) for i in label.source_event_ids)
        return any(e is not None and e.status in VISIBLE_EVENT_STATUSES for e in events)

    def _label(self, node: Node, kind: LabelKind, value: str, sources: tuple[str, ...]) -> None:
        key = text_key(value) if kind is LabelKind.TAG else name_key(value)
        if kind is LabelKind.ALIAS and key == node.key:
            kind, value = LabelKind.NAME, node.name
        slot = (node.id, kind, key)
        label = self.labels.get(slot)
        if label is None:
            label = Label(self.new_id("label"), node.id, kind, value, key, ())
        merged = _union(label.source_event_ids, sources)
        self.labels[slot] = replace(label, source_event_ids=merged)


def _alias_keys(node: ProposedNode) -> set[str]:
    return {name_key(x.value) for x in node.labels if x.kind is LabelKind.ALIAS}


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
