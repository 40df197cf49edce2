"""Decide whether a node answers a query, and which of its records do (section 17).

A hit needs more than a relation's name: a fact, the other end of an edge, or the node's own
name, aliases, tags or type. What a query asks of a fact by its key must be that fact's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.search_terms import TermFinder, search_terms

MAX_EVIDENCE = 6
"""The most events that one node's hit rests on."""


@dataclass(frozen=True, slots=True)
class NodeMatch:
    """What of a node matched: field names in a fixed order, the records, and their evidence."""

    fields: tuple[str, ...]
    match_type: str
    facts: tuple[FactView, ...]
    edges: tuple[EdgeView, ...]
    event_ids: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Say in a sentence what matched."""
        told = {
            "current": "what holds now",
            "historical": "what held before",
            "both": "what holds now and what held before",
        }[self.match_type]
        return f"Matches {', '.join(self.fields)}: {told}."


def match_node(
    view: NodeView, terms: TermFinder, names: Mapping[str, Sequence[str]]
) -> NodeMatch | None:
    """Return what of a node's view holds the query's terms, None where nothing meaningful does.

    `names` gives the names and aliases of the nodes at the other ends, by id.
    """
    facts = _best_facts(view, terms)
    edges = [
        edge
        for edge in (*view.current_edges, *view.historical_edges)
        if _holds(terms, names.get(_other_end(view, edge), ()))
    ]
    own = _own_fields(view, terms)
    if not (facts or edges or own):
        return None
    fields = (*own, *_record_fields(view, facts, edges, terms))
    is_current = any(f in view.current_facts for f in facts) or any(
        e in view.current_edges for e in edges
    )
    is_past = any(f in view.historical_facts for f in facts) or any(
        e in view.historical_edges for e in edges
    )
    return NodeMatch(
        fields=fields,
        match_type=_match_type(is_current=is_current, is_past=is_past),
        facts=tuple(facts),
        edges=tuple(edges),
        event_ids=_evidence(view, facts, edges),
    )


def _best_facts(view: NodeView, terms: TermFinder) -> list[FactView]:
    """Return the facts that share the most terms with the query.

    A query that holds a whole key asks for that fact: its remaining words must be in the value.
    """
    facts = (*view.current_facts, *view.historical_facts)
    rest = terms.wanted - _held(terms, (view.name, *view.aliases))
    keyed = [fact for fact in facts if _asks_for(terms, fact.key)]
    if keyed:
        asked = {fact.id: rest - terms.held(fact.key) for fact in keyed}
        return [
            fact
            for fact in keyed
            if not asked[fact.id] or _held(terms, _values(fact)) & asked[fact.id]
        ] or keyed
    shared = {fact.id: len(_held(terms, _fact_text(fact)) & rest) for fact in facts}
    most = max(shared.values(), default=0)
    return [fact for fact in facts if most and shared[fact.id] == most]


def _asks_for(terms: TermFinder, key: str) -> bool:
    """Tell whether a query holds all of a key."""
    held = terms.held(key)
    return bool(held) and held.issuperset(search_terms(key))


def _own_fields(view: NodeView, terms: TermFinder) -> tuple[str, ...]:
    texts = {
        "name": (view.name,),
        "aliases": view.aliases,
        "tags": view.tags,
        "type": (view.type.value,),
    }
    return tuple(name for name, given in texts.items() if _holds(terms, given))


def _record_fields(
    view: NodeView,
    facts: Sequence[FactView],
    edges: Sequence[EdgeView],
    terms: TermFinder,
) -> tuple[str, ...]:
    found = {
        "currentFacts": any(fact in view.current_facts for fact in facts),
        "historicalFacts": any(fact in view.historical_facts for fact in facts),
        "currentEdgeEndpoints": any(edge in view.current_edges for edge in edges),
        "historicalEdgeEndpoints": any(edge in view.historical_edges for edge in edges),
        "relations": any(_holds(terms, (edge.relation,)) for edge in edges),
    }
    return tuple(name for name, is_found in found.items() if is_found)


def _match_type(*, is_current: bool, is_past: bool) -> str:
    if is_current and is_past:
        return "both"
    return "historical" if is_past else "current"


def _evidence(
    view: NodeView, facts: Sequence[FactView], edges: Sequence[EdgeView]
) -> tuple[str, ...]:
    """Return at most six events: of what matched, then of what holds now, then of the node."""
    current: Iterable[FactView | EdgeView] = (*view.current_facts, *view.current_edges)
    ordered = [
        event_id for record in (*facts, *edges, *current) for event_id in record.source_event_ids
    ]
    return tuple(dict.fromkeys((*ordered, *view.source_event_ids)))[:MAX_EVIDENCE]


def _other_end(view: NodeView, edge: EdgeView) -> str:
    return edge.to_node_id if edge.from_node_id == view.id else edge.from_node_id


def _fact_text(fact: FactView) -> tuple[str, ...]:
    return (fact.key, *_values(fact))


def _values(fact: FactView) -> tuple[str, ...]:
    return (fact.value,) if isinstance(fact.value, str) else fact.value


def _holds(terms: TermFinder, texts: Iterable[str]) -> bool:
    return any(terms.held(text) for text in texts)


def _held(terms: TermFinder, texts: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(terms.held, texts))
