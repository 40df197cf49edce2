from __future__ import annotations

from typing import Any

from shared.domain.graph_diff import Change, GraphDiff, Picture, diff_graphs
from tests.unit.domain.graph_support import Graph, edge, event, fact, node, reply


def _picture(*said: dict[str, Any], statuses: dict[str, str] | None = None) -> Picture:
    graph = Graph().know(event("e1", 1), event("e2", 2), event("e3", 3))
    for one in said:
        graph.project(one)
    for event_id, status in (statuses or {}).items():
        graph.set_status(event_id, status)
    picture = Picture({n.id: (n.type.value, n.key) for n in graph.state.nodes})
    picture.take(graph.views())
    return picture


def _counts(diff: GraphDiff) -> dict[str, tuple[int, int, int, int]]:
    return {
        kind: (len(found.added), len(found.changed), len(found.gone), found.same)
        for kind, found in (("nodes", diff.nodes), ("facts", diff.facts), ("edges", diff.edges))
    }


HOME = reply(node("Ann", "e1", kind="person", facts=[fact("home", "Oslo", "e1")]))


def test_equal_graphs_under_other_ids_make_no_difference() -> None:
    again = _picture(HOME)
    other = _picture(reply(node("Zed", "e1")), HOME)
    other.nodes.pop(("project", "zed"))
    assert _counts(diff_graphs(again, other)) == {
        "nodes": (0, 0, 0, 1),
        "facts": (0, 0, 0, 1),
        "edges": (0, 0, 0, 0),
    }


def test_another_value_of_a_single_valued_key_is_a_change() -> None:
    rome = reply(node("Ann", "e1", kind="person", facts=[fact("home", "Rome", "e1")]))
    found = diff_graphs(_picture(HOME), _picture(rome)).facts
    assert (found.added, found.gone) == ((), ())
    (change,) = found.changed
    assert change.subject == "person ann: home"
    assert str(change.before).startswith("Oslo")
    assert str(change.after).startswith("Rome")


def test_items_of_a_set_come_and_go_one_by_one() -> None:
    tea = fact("likes", ["tea"], "e1", mode="set")
    coffee = fact("likes", ["coffee"], "e1", mode="set")
    before = _picture(reply(node("Ann", "e1", kind="person", facts=[tea])))
    after = _picture(reply(node("Ann", "e1", kind="person", facts=[coffee])))
    assert _counts(diff_graphs(before, after))["facts"] == (1, 0, 1, 0)


def test_a_fact_that_ceased_to_be_current_is_a_change() -> None:
    later = reply(node("Ann", "e2", kind="person", facts=[fact("home", "Rome", "e2")]))
    found = diff_graphs(_picture(HOME), _picture(HOME, later)).facts
    assert [one.after for one in found.added] == ["Rome (active, 2026-01-03..)"]
    assert [one.subject for one in found.changed] == ["person ann: home"]
    assert "former" in str(found.changed[0].after)


def test_nodes_and_edges_are_told_by_name_and_relation() -> None:
    related = reply(
        node("Ann", "e1", kind="person"),
        node("Orion", "e1"),
        edges=[edge("Ann", "works on", "Orion", "e1")],
    )
    diff = diff_graphs(_picture(HOME), _picture(HOME, related))
    assert [one.subject for one in diff.nodes.added] == ["project orion"]
    assert [one.subject for one in diff.edges.added] == ["person ann works on project orion"]
    assert diff_graphs(_picture(HOME, related), _picture(HOME)).edges.gone != ()


def test_what_no_reader_sees_makes_no_difference() -> None:
    hidden = _picture(HOME, statuses={"e1": "forgotten"})
    assert _counts(diff_graphs(hidden, Picture({})))["facts"] == (0, 0, 0, 0)


def test_an_empty_graph_gains_all() -> None:
    found = diff_graphs(Picture({}), _picture(HOME)).nodes
    assert found.added == (Change("person ann", None, "Ann, active"),)
