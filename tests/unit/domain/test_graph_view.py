from __future__ import annotations

from shared.domain.graph import RecordStatus
from shared.domain.graph_elements import element_cards
from tests.unit.domain.graph_support import Graph, day, edge, event, fact, node, reply


def works(graph: Graph, place: str, source: str) -> None:
    graph.project(
        reply(node("Kim", source, kind="person", facts=[fact("employer", place, source)])), source
    )


def current(graph: Graph, name: str = "Kim", **at: object) -> list[tuple[object, str]]:
    return [(f.value, f.status.value) for f in graph.view(name, **at).current_facts]


def past(graph: Graph, name: str = "Kim", **at: object) -> list[tuple[object, str]]:
    return [(f.value, f.status.value) for f in graph.view(name, **at).historical_facts]


def jobs() -> Graph:
    graph = Graph().know(event("e1", 0, status="superseded", superseded_by="e2"), event("e2", 100))
    works(graph, "Harbour Museum", "e1")
    works(graph, "City Archive", "e2")
    return graph


def test_case_conf_02_only_the_newer_value_is_current_and_the_older_is_labelled() -> None:
    graph = jobs()
    assert current(graph) == [("City Archive", "active")]
    assert past(graph) == [("Harbour Museum", "superseded")]


def test_case_conf_05_a_correction_supersedes_whatever_its_date() -> None:
    # The corrected statement claims a later date than its correction: the link decides.
    graph = Graph().know(event("e1", 1, happened_start=day(3)), event("e2", 2))
    for value, source in (("三楼", "e1"), ("五楼", "e2")):
        room = node("会议室", source, kind="place", facts=[fact("楼层", value, source)])
        graph.project(reply(room), source)
    graph.set_status("e1", "superseded", superseded_by="e2")
    assert current(graph, "会议室") == [("五楼", "active")]
    assert past(graph, "会议室") == [("三楼", "superseded")]
    assert current(graph, "会议室", at=day(30)) == [("五楼", "active")]


def test_case_conf_07_forgetting_lets_the_earlier_value_stand_and_restoring_returns() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 100))
    works(graph, "Harbour Museum", "e1")
    works(graph, "City Archive", "e2")
    before = graph.view("Kim")
    graph.set_status("e2", "forgotten")
    assert current(graph) == [("Harbour Museum", "active")]
    assert past(graph) == []
    assert graph.view("Kim").current_facts[0].valid_until is None
    graph.set_status("e2", "active")
    assert graph.view("Kim") == before


def test_a_forgotten_correction_does_not_revive_what_an_event_superseded() -> None:
    graph = jobs()
    graph.set_status("e2", "forgotten")
    assert current(graph) == []
    assert past(graph) == [("Harbour Museum", "superseded")]


def test_case_conf_08_a_cancelled_plan_is_not_what_happened() -> None:
    graph = Graph().know(event("e1", 0, is_plan=True, happened_start=day(10)), event("e2", 4))
    for value, source in (("planned", "e1"), ("cancelled", "e2")):
        shed = node("shed", source, kind="place", facts=[fact("repainting", value, source)])
        graph.project(reply(shed), source)
        if source == "e1":
            assert graph.view("shed").state_text == "repainting: planned [planned]"
    assert graph.view("shed").state_text == "repainting: cancelled"
    assert current(graph, "shed", at=day(30)) == [("cancelled", "active")]
    assert current(graph, "shed", at=day(2)) == [("planned", "active")]


def test_at_is_validity_time_and_what_begins_later_is_left_out() -> None:
    graph = jobs()
    assert current(graph, at=day(50)) == [("Harbour Museum", "active")]
    assert past(graph, at=day(50)) == []
    assert current(graph, at=day(100)) == [("City Archive", "active")]
    assert past(graph, at=day(100)) == [("Harbour Museum", "superseded")]


def test_a_node_is_not_shown_before_anything_of_it_was() -> None:
    graph = jobs()
    (kim,) = graph.state.nodes
    assert kim.name in graph.names()
    assert element_cards(graph.state, graph.events, at=day(-1)) == ()


def test_events_in_open_conflict_keep_both_values_disputed_until_it_is_settled() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 9))
    works(graph, "Museum", "e1")
    works(graph, "Archive", "e2")
    graph.know(
        event("e1", 0, conflicts_with=frozenset({"e2"})),
        event("e2", 9, conflicts_with=frozenset({"e1"})),
    )
    assert current(graph) == [("Museum", "disputed"), ("Archive", "disputed")]
    assert graph.view("Kim").status is RecordStatus.DISPUTED
    assert graph.view("Kim").state_text == (
        "employer: Museum [disputed]\nemployer: Archive [disputed]"
    )
    graph.know(event("e1", 0), event("e2", 9))
    assert current(graph) == [("Archive", "active")]


def test_a_node_whose_events_are_all_forgotten_is_not_there_and_its_edges_neither() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 1))
    graph.project(reply(node("Orion", "e1")), "e1")
    graph.project(
        reply(
            node("Orion", "e2"),
            node("npm", "e2", kind="tool"),
            edges=[edge("Orion", "uses", "npm", "e2")],
        ),
        "e2",
    )
    assert len(graph.view("Orion").current_edges) == len(graph.view("npm").current_edges) == 1
    graph.set_status("e2", "forgotten")
    assert graph.names() == {"Orion"}
    assert graph.view("Orion").current_edges == ()


def test_names_aliases_and_tags_show_only_with_visible_provenance() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 1), event("e3", 2))
    labels = {
        "aliases": [{"value": "ORN", "sourceEventIds": ["e2"]}],
        "tags": [{"value": "cli", "sourceEventIds": ["e3"]}],
    }
    graph.project(reply(node("Orion", "e1", aliases=["ORN"], tags=["cli"], provenance=labels)))
    view = graph.view("Orion")
    assert (view.aliases, view.tags) == (("ORN",), ("cli",))
    graph.set_status("e3", "forgotten")
    assert graph.view("Orion").tags == ()
    graph.set_status("e1", "forgotten")
    assert (graph.view("ORN").aliases, graph.view("ORN").source_event_ids) == ((), ("e2",))


def test_a_superseded_source_of_a_many_edge_makes_it_historical_not_gone() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 9))
    graph.project(
        reply(
            node("Orion", "e1"),
            node("npm", "e1", kind="tool"),
            edges=[edge("Orion", "uses", "npm", "e1")],
        ),
        "e1",
    )
    graph.set_status("e1", "superseded", superseded_by="e2")
    (gone,) = graph.view("npm").historical_edges
    assert (gone.status.value, gone.valid_from, gone.valid_until) == ("superseded", day(0), day(9))
    assert graph.view("npm").current_edges == ()


def test_state_text_joins_lists_and_puts_merged_sets_last() -> None:
    graph = Graph().know(event("e1", 0), event("e2", 1))
    facts = [
        fact("keeps", ["bees", "cats"], "e1", mode="set"),
        fact("team", ["Ann", "Bo"], "e1"),
        fact("role", "owner", "e1"),
    ]
    graph.project(reply(node("Kim", "e1", kind="person", state="busy", facts=facts)), "e1")
    more = [fact("Keeps", ["goats"], "e2", mode="set")]
    graph.project(reply(node("Kim", "e2", kind="person", facts=more)), "e2")
    assert graph.view("Kim").state_text == (
        "state: busy\nteam: Ann、Bo\nrole: owner\nkeeps: bees、cats、goats"
    )


def test_element_cards_show_facts_by_mode_and_edges_as_relations_by_name() -> None:
    graph = jobs()
    graph.project(
        reply(
            node("Kim", "e2", kind="person", facts=[fact("keeps", ["bees"], "e2", mode="set")]),
            node("Bo", "e2", kind="person"),
            edges=[edge("Kim", "knows", "Bo", "e2")],
        ),
        "e2",
    )
    kim, bo = element_cards(graph.state, graph.events)
    assert {k: [f.value for f in v] for k, v in kim.states.items()} == {
        "employer": ["City Archive"]
    }
    assert {k: [f.value for f in v] for k, v in kim.sets.items()} == {"keeps": ["bees"]}
    assert {k: [f.value for f in v] for k, v in kim.relations.items()} == {"knows": ["Bo"]}
    assert [f.value for f in kim.history] == ["Harbour Museum"]
    assert (bo.name, bo.relations) == ("Bo", {})
