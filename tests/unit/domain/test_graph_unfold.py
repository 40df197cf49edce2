"""Taking events out of the graph gives the graph that there would be without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shared.domain.graph import GraphState, Node
from shared.domain.graph_fold import apply_changes
from shared.domain.graph_unfold import Before, Unfolded, unfold
from tests.unit.domain.graph_support import Graph, day, edge, event, fact, node, reply


def kept(before: GraphState, graph: Graph) -> Before:
    """Return what the store keeps of a fold: the records before it and the ids it added."""
    known: dict[str, Any] = {
        one.id: one for one in (*before.nodes, *before.labels, *before.facts, *before.edges)
    }
    now = graph.state
    after = [one.id for one in (*now.nodes, *now.labels, *now.facts, *now.edges)]
    return Before(known, frozenset(one for one in after if one not in known))


def without(state: GraphState, result: Unfolded) -> GraphState:
    """Return the state once a store has written the result."""
    left = apply_changes(state, result.changes)
    gone = {*result.gone_nodes, *result.gone_labels, *result.gone_facts, *result.gone_edges}
    return GraphState(
        *(
            tuple(one for one in part if one.id not in gone)
            for part in (left.nodes, left.labels, left.facts, left.edges)
        )
    )


def plain(state: GraphState) -> set[str]:
    """Return the records as text; a store keeps sources as a set and records without an order."""
    return {
        repr({**dict(_fields(one)), "source_event_ids": sorted(one.source_event_ids)})
        for part in (state.nodes, state.labels, state.facts, state.edges)
        for one in part
    }


def _fields(record: Any) -> list[tuple[str, object]]:
    return [(name, getattr(record, name)) for name in record.__slots__]


def choir(event_id: str, *facts: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return node("Choir", event_id, facts=list(facts), **parts)


def another_value(graph: Graph) -> None:
    graph.project(reply(choir("i", fact("hall", "B", "i"))), "i")


def the_same_value_more_surely(graph: Graph) -> None:
    graph.project(reply(choir("i", fact("hall", "  d ", "i", confidence=0.99))), "i")


def a_value_in_between(graph: Graph) -> None:
    graph.know(event("i", 3))
    graph.project(reply(choir("i", fact("hall", "B", "i"))), "i")


def a_value_older_than_all(graph: Graph) -> None:
    graph.know(event("i", 0))
    graph.project(reply(choir("i", fact("hall", "D", "i"), fact("leader", "Ann", "i"))), "i")


def another_end_of_a_single_edge(graph: Graph) -> None:
    said = [edge("Choir", "rehearses in", "Annex", "i", cardinality="one")]
    graph.project(reply(choir("i"), node("Annex", "i", kind="place"), edges=said), "i")


def the_same_edge_said_to_be_single(graph: Graph) -> None:
    said = [edge("Choir", "rehearses in", "Hall", "i", cardinality="one")]
    graph.project(reply(choir("i"), node("Hall", "i", kind="place"), edges=said), "i")


@pytest.mark.parametrize(
    "imported",
    [
        another_value,
        the_same_value_more_surely,
        a_value_in_between,
        a_value_older_than_all,
        another_end_of_a_single_edge,
        the_same_edge_said_to_be_single,
    ],
)
def test_every_record_is_as_it_was_before(imported: Callable[[Graph], None]) -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5), event("i", 9))
    hall = node("Hall", "e1", kind="place")
    meets = [edge("Choir", "rehearses in", "Hall", "e1")]
    graph.project(reply(choir("e1", fact("hall", "D", "e1")), hall, edges=meets), "e1")
    graph.project(reply(choir("e2", fact("hall", "D", "e2"))), "e2")
    before = graph.state
    imported(graph)
    assert plain(graph.state) != plain(before)
    result = unfold(
        graph.state,
        leaving=frozenset({"i"}),
        events={key: one for key, one in graph.events.items() if key != "i"},
        before=kept(before, graph),
    )
    assert plain(without(graph.state, result)) == plain(before)


def test_what_was_said_since_stays_and_closes_what_it_closes() -> None:
    graph = Graph().know(event("e1", 1), event("i", 5), event("e3", 9))
    graph.project(reply(choir("e1", fact("hall", "D", "e1"))), "e1")
    before = graph.state
    graph.project(reply(choir("i", fact("hall", "B", "i"), fact("leader", "Ann", "i"))), "i")
    memory = kept(before, graph)
    graph.project(reply(choir("e3", fact("hall", "C", "e3"), fact("leader", "ann", "e3"))), "e3")
    events = {key: one for key, one in graph.events.items() if key != "i"}
    result = unfold(graph.state, leaving=frozenset({"i"}), events=events, before=memory)
    left = without(graph.state, result)
    told = {(one.key, str(one.value), one.valid_from, one.valid_until) for one in left.facts}
    assert told == {
        ("hall", "D", day(1), day(9)),
        ("hall", "C", day(9), None),
        ("leader", "Ann", day(9), None),
    }


def test_a_node_that_rests_on_nothing_else_goes_with_its_records() -> None:
    graph = Graph().know(event("i", 5))
    leads = [edge("Choir", "led by", "Ann", "i")]
    ann = node("Ann", "i", kind="person")
    graph.project(reply(choir("i", fact("hall", "B", "i")), ann, edges=leads), "i")
    result = unfold(
        graph.state, leaving=frozenset({"i"}), events={}, before=kept(GraphState(), graph)
    )
    assert without(graph.state, result) == GraphState()
    assert len(result.gone_nodes) == 2
    assert all(isinstance(one, Node) for one in graph.state.nodes)
