from __future__ import annotations

from dataclasses import replace

from shared.domain.graph import Fact, GraphChanges, NodeType, RecordStatus
from shared.domain.graph_fold import identity_key, proposal_keys
from shared.domain.graph_proposal import validate_proposal
from tests.unit.domain.graph_support import Graph, day, edge, event, fact, node, reply


def spans(facts: tuple[Fact, ...]) -> list[tuple[object, str, object, object]]:
    return [(f.value, f.status.value, f.valid_from, f.valid_until) for f in facts]


def said(graph: Graph, event_id: str, value: object, *, key: str = "hall", **parts: object) -> None:
    graph.project(
        reply(node("Choir", event_id, facts=[fact(key, value, event_id, **parts)])), event_id
    )


def test_a_newer_value_supersedes_and_closes_the_older_one() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e1", "D")
    said(graph, "e2", "B")
    assert spans(graph.state.facts) == [
        ("D", "superseded", day(1), day(5)),
        ("B", "active", day(5), None),
    ]


def test_an_older_statement_that_arrives_late_is_stored_closed_by_the_newer() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e2", "B")
    said(graph, "e1", "D")
    assert spans(graph.state.facts) == [
        ("B", "active", day(5), None),
        ("D", "superseded", day(1), day(5)),
    ]


def test_the_same_fact_again_is_a_second_source_of_the_same_fact() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e1", "Hall D")
    said(graph, "e2", "hall  d")
    (only,) = graph.state.facts
    assert (only.source_event_ids, only.status, only.valid_from) == (
        ("e1", "e2"),
        RecordStatus.ACTIVE,
        day(1),
    )


def test_a_statement_between_two_sources_of_a_fact_splits_it() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5), event("e3", 9))
    said(graph, "e1", "D")
    said(graph, "e3", "D")
    said(graph, "e2", "B")
    assert sorted(spans(graph.state.facts), key=lambda s: str(s[2])) == [
        ("D", "superseded", day(1), day(5)),
        ("B", "superseded", day(5), day(9)),
        ("D", "active", day(9), None),
    ]


def test_folding_the_same_reply_again_changes_nothing() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    hall = reply(
        node("Choir", "e1", facts=[fact("hall", "D", "e1"), fact("songs", ["x", "y"], "e1")]),
        node("Town", "e1", kind="place"),
        edges=[edge("Choir", "meets in", "Town", "e1", cardinality="one")],
    )
    graph.project(hall, "e1")
    said(graph, "e2", "B")
    assert graph.project(hall, "e1").changes == GraphChanges()


def test_sources_loaded_in_another_order_are_no_change() -> None:
    graph = Graph().know(event("e9", 1), event("e2", 5))
    said(graph, "e9", "D")
    said(graph, "e2", "D")
    (hall,) = graph.state.facts
    turned = replace(hall, source_event_ids=hall.source_event_ids[::-1])
    graph.state = replace(graph.state, facts=(turned,))
    again = reply(node("Choir", "e2", facts=[fact("hall", "D", "e2")]))
    assert graph.project(again, "e2").changes == GraphChanges()


def test_case_conf_03_different_subjects_never_invalidate_each_other() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 1))
    for name, engine, source in (("red boat", "diesel", "e1"), ("blue boat", "electric", "e2")):
        boat = node(name, source, kind="tool", facts=[fact("engine", engine, source)])
        graph.project(reply(boat), source)
    assert [(f.value, f.status) for f in graph.state.facts] == [
        ("diesel", RecordStatus.ACTIVE),
        ("electric", RecordStatus.ACTIVE),
    ]


def test_a_set_adds_items_and_closes_none() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e1", ["cats", "bees"], key="keeps", mode="set")
    said(graph, "e2", ["Bees", "goats"], key="keeps", mode="set")
    assert [(f.value, f.status.value, f.source_event_ids) for f in graph.state.facts] == [
        ("cats", "active", ("e1",)),
        ("bees", "active", ("e1", "e2")),
        ("goats", "active", ("e2",)),
    ]


def test_a_relation_fact_supersedes_by_its_key() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e1", "Ann", key="leader", mode="relation")
    said(graph, "e2", "Bo", key="leader", mode="relation")
    assert [(f.value, f.status.value) for f in graph.state.facts] == [
        ("Ann", "superseded"),
        ("Bo", "active"),
    ]


def uses(graph: Graph, tool: str, source: str, **parts: object) -> None:
    graph.project(
        reply(
            node("Orion", source),
            node(tool, source, kind="tool"),
            edges=[edge("Orion", "uses", tool, source, **parts)],
        ),
        source,
    )


def test_edges_are_many_unless_the_proposal_says_one() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    uses(graph, "npm", "e1")
    uses(graph, "git", "e2")
    assert {e.status for e in graph.state.edges} == {RecordStatus.ACTIVE}


def test_only_a_one_edge_closes_its_predecessor() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5), event("e3", 9))
    uses(graph, "npm", "e1")
    uses(graph, "pnpm", "e2", cardinality="one")
    uses(graph, "git", "e3")
    assert [(e.status.value, e.valid_until) for e in graph.state.edges] == [
        ("superseded", day(5)),
        ("active", None),
        ("active", None),
    ]


def test_an_edge_between_two_names_of_one_node_is_refused() -> None:
    graph = Graph().know(event("e1", 1))
    labels = {"aliases": [{"value": "ORN", "sourceEventIds": ["e1"]}]}
    graph.project(
        reply(
            node("Orion", "e1", aliases=["ORN"], provenance=labels),
            node("orn", "e1"),
            edges=[edge("Orion", "is", "orn", "e1")],
        )
    )
    assert len(graph.state.nodes) == 1
    assert [r.code for r in graph.rejections] == ["self_loop"]


def test_a_fact_begins_when_it_happened_else_when_it_was_said() -> None:
    graph = Graph().know(
        event("e1", 9, happened_start=day(2)), event("e2", 3), event("e3", 9, happened_end=day(1))
    )
    for source in ("e1", "e2", "e3"):
        said(graph, source, source)
    assert {f.value: f.valid_from for f in graph.state.facts} == {
        "e1": day(2),
        "e2": day(3),
        "e3": day(1),
    }


def test_a_later_word_overrides_what_was_announced_earlier() -> None:
    graph = Graph().know(event("e1", 1, happened_start=day(40)), event("e2", 5))
    said(graph, "e1", "D")
    said(graph, "e2", "B")
    assert [(f.value, f.status.value) for f in graph.state.facts] == [
        ("D", "superseded"),
        ("B", "active"),
    ]


def test_a_plan_replaces_no_fact_and_ends_when_anything_later_is_said() -> None:
    graph = Graph().know(
        event("e1", 1),
        event("e2", 5, is_plan=True, happened_start=day(40)),
        event("e3", 9),
    )
    said(graph, "e1", "Hamburg", key="city")
    said(graph, "e2", "Berlin", key="city")
    assert [(f.value, f.status.value) for f in graph.state.facts] == [
        ("Hamburg", "active"),
        ("Berlin", "active"),
    ]
    assert graph.view("Choir").state_text == "city: Hamburg\ncity: Berlin [planned]"
    said(graph, "e3", "Hamburg", key="city")
    assert graph.view("Choir").state_text == "city: Hamburg"


def test_a_statement_that_cites_two_events_holds_from_the_later_one() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5))
    said(graph, "e1", "npm")
    graph.project(reply(node("Choir", "e2", facts=[fact("hall", "pnpm", "e1", "e2")])))
    assert spans(graph.state.facts) == [
        ("npm", "superseded", day(1), day(5)),
        ("pnpm", "active", day(5), None),
    ]


def test_two_values_of_one_statement_stand_both_and_are_disputed() -> None:
    graph = Graph().know(event("e1", 1))
    graph.project(
        reply(node("Choir", "e1", facts=[fact("hall", "D", "e1"), fact("hall", "B", "e1")]))
    )
    assert {f.status for f in graph.state.facts} == {RecordStatus.DISPUTED}


def test_a_contested_value_stands_beside_the_settled_one_until_a_newer_settles_it() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5), event("e3", 9))
    said(graph, "e1", "D")
    said(graph, "e2", "B", status="disputed")
    assert {f.status for f in graph.state.facts} == {RecordStatus.DISPUTED}
    said(graph, "e3", "C")
    assert [f.status.value for f in graph.state.facts] == ["superseded", "superseded", "active"]


def test_a_value_said_to_be_over_never_becomes_current() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5, happened_start=day(-9)))
    said(graph, "e1", "Museum", key="employer", status="superseded")
    said(graph, "e2", "Bank", key="employer", status="superseded")
    view = graph.view("Choir")
    assert view.current_facts == ()
    assert [(f.value, f.valid_from, f.valid_until) for f in view.historical_facts] == [
        ("Museum", None, None),
        ("Bank", day(-9), day(5)),
    ]


def test_identity_is_type_and_folded_name_or_alias() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 2), event("e3", 3))
    labels = {"aliases": [{"value": "ORN", "sourceEventIds": ["e1"]}]}
    graph.project(reply(node("Orion Web", "e1", aliases=["ORN"], provenance=labels)), "e1")
    graph.project(reply(node("ｏｒｎ", "e2"), node("orion-web", "e2", kind="tool")), "e2")
    assert [(n.name, n.type.value, n.source_event_ids) for n in graph.state.nodes] == [
        ("Orion Web", "project", ("e1", "e2")),
        ("orion-web", "tool", ("e2",)),
    ]
    assert [(x.kind.value, x.value, x.source_event_ids) for x in graph.state.labels] == [
        ("name", "Orion Web", ("e1",)),
        ("alias", "ORN", ("e1", "e2")),
        ("name", "orion-web", ("e2",)),
    ]


def test_an_alias_whose_events_are_forgotten_joins_nothing() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 2), event("e3", 3))
    labels = {"aliases": [{"value": "ORN", "sourceEventIds": ["e2"]}]}
    graph.project(reply(node("Orion", "e1", aliases=["ORN"], provenance=labels)), "e1", "e2")
    graph.set_status("e2", "forgotten")
    graph.project(reply(node("ORN", "e3")), "e3")
    assert len(graph.state.nodes) == 2


def test_identity_keys_fold_width_case_and_joiners_but_are_never_empty() -> None:
    assert identity_key(NodeType.TOOL, "Ｖisual_Studio-Code") == "visualstudiocode"
    assert identity_key(NodeType.TOOL, "--") == "--"


def test_proposal_keys_name_all_that_may_match() -> None:
    events = {"e1": event("e1", 1)}
    labels = {"aliases": [{"value": "O.R.N", "sourceEventIds": ["e1"]}]}
    proposal, _ = validate_proposal(
        reply(node("Orion Web", "e1", aliases=["O.R.N"], provenance=labels)),
        events=events,
        job_event_ids=frozenset(events),
    )
    assert proposal_keys(proposal) == {
        (NodeType.PROJECT, "orionweb"),
        (NodeType.PROJECT, "o.r.n"),
    }


def test_every_event_of_the_job_learns_which_nodes_cite_it() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 2))
    result = graph.project(reply(node("Orion", "e1", facts=[fact("x", "1", "e2")])))
    (orion,) = graph.state.nodes
    assert result.node_ids_by_event == {"e1": (orion.id,), "e2": (orion.id,)}
    assert result.node_ids_by_ref == {"Orion": orion.id}
