from __future__ import annotations

from dataclasses import dataclass

import pytest

from shared.domain.graph import FactMode, LabelKind, NodeType, RecordStatus, Stance
from shared.domain.graph_proposed import (
    Proposal,
    ProposedEdge,
    ProposedFact,
    ProposedLabel,
    ProposedNode,
)
from shared.ids import Prefix, new_id
from tests.integration.retrieval.world import World
from tests.integration.tools.agent import Tools


@dataclass(frozen=True, slots=True)
class Graph:
    """The ids of a small graph: Mara works at the Harbour Institute and lives in Bergen."""

    mara: str
    institute: str
    event: str


def node(ref: str, name: str, kind: NodeType, event: str, **parts: object) -> ProposedNode:
    return ProposedNode(
        ref=ref,
        name=name,
        type=kind,
        status=RecordStatus.ACTIVE,
        confidence=0.9,
        name_source_ids=(event,),
        source_event_ids=(event,),
        **parts,  # type: ignore[arg-type] # labels and facts by name
    )


def fact(key: str, mode: FactMode, value: str, event: str) -> ProposedFact:
    return ProposedFact(key, mode, value, Stance.ASSERTED, 0.9, (event,))


@pytest.fixture
def graph(world: World) -> Graph:
    block = world.block("Mara works at the Harbour Institute, lives in Bergen, speaks Norwegian.")
    event = world.event(block, "Mara works at the Harbour Institute")
    mara = node(
        "m",
        "Mara Lund",
        NodeType.PERSON,
        event,
        labels=(ProposedLabel(LabelKind.ALIAS, "Mara", (event,)),),
        facts=(
            fact("home", FactMode.STATE, "Bergen", event),
            fact("languages", FactMode.SET, "Norwegian", event),
            fact("languages", FactMode.SET, "German", event),
        ),
    )
    institute = node("h", "Harbour Institute", NodeType.ORGANIZATION, event)
    edge = ProposedEdge("m", "h", "works at", "many", Stance.ASSERTED, 0.9, (event,))
    world.project([event], Proposal("", (mara, institute), (edge,)))
    ids = {item["name"]: item["node_id"] for item in world.see("graph")["nodes"]}
    return Graph(ids["Mara Lund"], ids["Harbour Institute"], event)


def test_an_element_shows_facts_by_mode_and_edges_as_relations(graph: Graph, tools: Tools) -> None:
    reply = tools.call("memory_expand_element", {"element_id": graph.mara})
    element = reply["element"]
    assert reply["evidence_ref"] == element["evidence_ref"] == f"element:{graph.mara}"
    assert (element["name"], element["type"], element["aliases"]) == (
        "Mara Lund",
        "person",
        ["Mara"],
    )
    assert {key: [f["value"] for f in facts] for key, facts in element["states"].items()} == {
        "home": ["Bergen"]
    }
    assert sorted(one["value"] for one in element["sets"]["languages"]) == ["German", "Norwegian"]
    [relation] = element["relations"]["works at"]
    assert (relation["value"], relation["mode"]) == ("Harbour Institute", "relation")
    assert relation["fact_id"].startswith("edg_")
    assert relation["source_event_ids"] == [graph.event]
    assert [entry["event_id"] for entry in element["timeline"]] == [graph.event]


def test_a_search_shows_the_facts_that_matched(graph: Graph, tools: Tools) -> None:
    [found] = tools.call("memory_search_elements", {"query": "Bergen"})["items"]
    assert found["element_id"] == graph.mara
    assert list(found["states"]) == ["home"]
    assert (found["sets"], found["relations"]) == ({}, {})
    [by_name] = tools.call("memory_search_elements", {"query": "Mara"})["items"][:1]
    assert list(by_name["relations"]) == ["works at"], "a name alone shows what holds now"


def test_the_filters_of_an_element_search_are_hard(graph: Graph, tools: Tools) -> None:
    def names(**arguments: object) -> list[str]:
        reply = tools.call("memory_search_elements", arguments)
        return [item["name"] for item in reply["items"]]

    assert names(query="Harbour Institute", types=["organization"]) == ["Harbour Institute"]
    assert names(query="Harbour Institute", name="mara") == ["Mara Lund"]
    assert names(name="Lund") == ["Mara Lund"]
    excluded = tools.call("memory_search_elements", {"query": "Mara", "types": ["place"]})
    assert (excluded["items"], excluded["empty_reason"]) == ([], "filtered_out")
    missing = tools.call("memory_search_elements", {"query": "telescope"})
    assert (missing["items"], missing["empty_reason"]) == ([], "no_match")


def test_element_refs_are_evidence_and_reinforce_the_events_behind(
    graph: Graph, world: World, tools: Tools
) -> None:
    for name, arguments in (
        ("memory_search_elements", {"query": "Bergen"}),
        ("memory_expand_element", {"element_id": graph.mara}),
    ):
        before = world.see(f"events/{graph.event}")["mention_count"]
        tools.call(name, arguments)
        ref = f"element:{graph.mara}"
        assessed = tools.call(
            "memory_assess",
            {
                "verdict": "sufficient",
                "evidence_refs": [ref],
                "next_strategy": "answer",
                "question": "Does Mara live in Bergen or in Paris?",
            },
        )
        assert (assessed["verdict"], assessed["evidence_refs"]) == ("sufficient", [ref])
        [advisory] = [one for one in assessed["advisories"] if one["code"] == "term_not_cited"]
        assert advisory["terms"] == ["Paris"], "the text of a cited element is looked at"
        used = tools.call("memory_record_use", {"evidence_refs": [ref]})
        assert [one["event_id"] for one in used["events"]] == [graph.event]
        assert world.see(f"events/{graph.event}")["mention_count"] == before + 1


def test_a_former_state_is_history_and_shown_for_its_time(world: World, tools: Tools) -> None:
    block = world.block("Mara lived in Oslo.", occurred_at="2026-01-05T09:00:00+01:00")
    old = world.event(block, "Mara lives in Oslo")
    person = NodeType.PERSON
    oslo = fact("home", FactMode.STATE, "Oslo", old)
    world.project([old], Proposal("", (node("m", "Mara", person, old, facts=(oslo,)),)))
    block = world.block("Mara moved to Bergen.", occurred_at="2026-02-05T09:00:00+01:00")
    new = world.event(block, "Mara lives in Bergen")
    bergen = fact("home", FactMode.STATE, "Bergen", new)
    world.project([new], Proposal("", (node("m", "Mara", person, new, facts=(bergen,)),)))
    [now] = tools.call("memory_search_elements", {"query": "Mara home"})["items"]
    whole = tools.call("memory_expand_element", {"element_id": now["element_id"]})["element"]
    assert [one["value"] for one in whole["states"]["home"]] == ["Bergen"]
    assert [(one["value"], one["is_current"]) for one in whole["history"]] == [("Oslo", False)]
    then = tools.call(
        "memory_expand_element",
        {"element_id": now["element_id"], "at": "2026-01-20T00:00:00+01:00"},
    )
    assert [one["value"] for one in then["element"]["states"]["home"]] == ["Oslo"]


def test_an_element_that_is_not_there_is_not_found(world: World, tools: Tools) -> None:
    world.begin()
    status, problem = tools.refused("memory_expand_element", {"element_id": new_id(Prefix.NODE)})
    assert (status, problem["code"]) == (404, "not_found")
