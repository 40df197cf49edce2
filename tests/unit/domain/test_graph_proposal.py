from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.graph import MAX_NODES, FactMode, Stance
from shared.domain.graph_proposal import GraphReplyError, Proposal, validate_proposal
from tests.unit.domain.graph_support import edge, event, fact, node, reply

EVENTS = {
    "evt_1": event("evt_1", 0),
    "evt_2": event("evt_2", 1),
    "evt_old": event("evt_old", 0, status="superseded"),
    "evt_gone": event("evt_gone", 0, status="forgotten"),
    "evt_other_job": event("evt_other_job", 0),
}
JOB = frozenset({"evt_1", "evt_2", "evt_old", "evt_gone"})


def validate(said: Any) -> tuple[Proposal, list[tuple[str, str]]]:
    proposal, rejections = validate_proposal(said, events=EVENTS, job_event_ids=JOB)
    return proposal, [(r.code, r.item) for r in rejections]


def test_case_json_04_a_nameless_node_costs_itself_and_the_edges_that_need_it() -> None:
    raw = json.loads(
        '{"reason": "two nodes", "nodes": [{"ref": "n1", "name": "Choir", "type": "organization",'
        ' "metadataProvenance": {"name": ["evt_1"]}, "facts": [{"key": "hall", "value": "D",'
        ' "sourceEventIds": ["evt_1"]}], "status": "active", "sourceEventIds": ["evt_1"]},'
        ' {"ref": "n2", "type": "place"}], "edges": [{"fromRef": "n1", "toRef": "n2",'
        ' "relation": "meets_in", "sourceEventIds": ["evt_1"]}, {"fromRef": "n1", "toRef": "n9",'
        ' "relation": "knows", "sourceEventIds": ["evt_1"]}]}'
    )
    proposal, rejected = validate(raw)
    assert [(n.name, [f.value for f in n.facts]) for n in proposal.nodes] == [("Choir", ["D"])]
    assert proposal.edges == ()
    assert rejected == [
        ("missing_name", "/nodes/1"),
        ("missing_end", "/edges/0"),
        ("missing_end", "/edges/1"),
    ]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ({"name": "  "}, "missing_name"),
        ({"type": "robot"}, "unknown_type"),
        ({"metadataProvenance": {}}, "missing_name_provenance"),
        ({"metadataProvenance": None}, "missing_name_provenance"),
        ({"metadataProvenance": {"name": ["evt_other_job"]}}, "missing_name_provenance"),
        ({"metadataProvenance": {"name": ["evt_gone"]}}, "missing_name_provenance"),
    ],
)
def test_an_unsound_node_is_refused_and_its_neighbour_is_kept(
    broken: dict[str, Any], code: str
) -> None:
    proposal, rejected = validate(reply(node("Orion", "evt_1") | broken, node("npm", "evt_1")))
    assert [n.name for n in proposal.nodes] == ["npm"]
    assert rejected == [(code, "/nodes/0")]


@pytest.mark.parametrize("said", [None, [], "nodes", {}, {"reason": "nothing"}])
def test_a_reply_of_another_shape_is_an_error(said: Any) -> None:
    with pytest.raises(GraphReplyError):
        validate(said)


def test_only_a_reply_with_nothing_left_fails_and_says_why() -> None:
    with pytest.raises(GraphReplyError) as failure:
        validate(reply({"ref": "a", "type": "person"}, edges=[edge("a", "knows", "b", "evt_1")]))
    assert [r.code for r in failure.value.rejections] == ["missing_name", "missing_end"]


def test_an_explicitly_empty_reply_is_a_valid_empty_proposal() -> None:
    assert validate({"reason": "small talk", "nodes": [], "edges": []}) == (
        Proposal(reason="small talk"),
        [],
    )


def test_a_fact_without_sources_is_refused_but_one_without_a_list_inherits_the_nodes() -> None:
    facts = [
        fact("empty", "x"),
        fact("foreign", "x", "evt_404"),
        {"key": "inherits", "value": "x"},
        {"key": "null", "value": "x", "sourceEventIds": None},
        fact("superseded", "x", "evt_old"),
    ]
    proposal, rejected = validate(reply(node("Orion", "evt_1", facts=facts)))
    kept = {f.key: f.source_event_ids for f in proposal.nodes[0].facts}
    assert kept == {"inherits": ("evt_1",), "null": ("evt_1",), "superseded": ("evt_old",)}
    assert rejected == [
        ("missing_source", "/nodes/0/facts/0"),
        ("missing_source", "/nodes/0/facts/1"),
    ]


def test_legal_sources_survive_beside_foreign_ones_which_are_listed() -> None:
    facts = [fact("hall", "D", "evt_1", "evt_404")]
    proposal, rejected = validate(reply(node("Choir", "evt_1", facts=facts)))
    assert proposal.nodes[0].facts[0].source_event_ids == ("evt_1",)
    assert rejected == [("foreign_source", "/nodes/0/facts/0")]


def test_aliases_and_tags_need_provenance_of_their_own() -> None:
    said = node(
        "Orion",
        "evt_1",
        aliases=["ORN", "orion", "Ghost"],
        tags=["cli", "web"],
        provenance={
            "aliases": [{"value": "orn", "sourceEventIds": ["evt_2"]}],
            "tags": [{"value": "CLI", "sourceEventIds": ["evt_1"]}],
        },
    )
    proposal, rejected = validate(reply(said))
    assert [(x.kind, x.value, x.source_event_ids) for x in proposal.nodes[0].labels] == [
        ("alias", "ORN", ("evt_2",)),
        ("tag", "cli", ("evt_1",)),
    ]
    assert rejected == [
        ("missing_provenance", "/nodes/0/aliases/2"),
        ("missing_provenance", "/nodes/0/tags/1"),
    ]


def test_snake_case_and_single_objects_are_read_like_the_documented_form() -> None:
    said = {
        "nodes": {
            "ref": "a",
            "name": "Ann",
            "type": "Person",
            "metadata_provenance": {"name": "evt_1"},
            "source_event_ids": "evt_1",
            "facts": {"key": "age", "value": 41, "source_event_ids": "evt_1"},
        },
        "edges": None,
    }
    proposal, rejected = validate(said)
    assert [(f.key, f.value, f.mode) for f in proposal.nodes[0].facts] == [
        ("age", "41", FactMode.STATE)
    ]
    assert rejected == []


def test_confidence_is_clamped_and_inherited_and_a_status_becomes_a_stance() -> None:
    facts = [
        fact("a", "1", "evt_1"),
        fact("b", "1", "evt_1", status="superseded", confidence=float("nan")),
        fact("c", "1", "evt_1", status="active", confidence=-1),
    ]
    said = node("Ann", "evt_1", kind="person", status="disputed", confidence=3, facts=facts)
    (read,) = validate(reply(said))[0].nodes
    assert (read.status, read.confidence) == ("disputed", 1.0)
    assert [(f.stance, f.confidence) for f in read.facts] == [
        (Stance.CONTESTED, 1.0),
        (Stance.PAST, 1.0),
        (Stance.ASSERTED, 0.0),
    ]


def test_an_unknown_mode_is_read_as_state_and_listed() -> None:
    facts = [fact("a", "1", "evt_1", mode="bag")]
    proposal, rejected = validate(reply(node("Orion", "evt_1", facts=facts)))
    assert proposal.nodes[0].facts[0].mode is FactMode.STATE
    assert rejected == [("unknown_mode", "/nodes/0/facts/0")]


def test_what_is_over_a_limit_is_listed_not_silently_cut() -> None:
    many = [node(f"n{i}", "evt_1") for i in range(MAX_NODES + 2)]
    proposal, rejected = validate(reply(*many))
    assert len(proposal.nodes) == MAX_NODES
    assert rejected == [("too_many", "/nodes/24"), ("too_many", "/nodes/25")]


def test_text_that_no_store_keeps_is_cleaned() -> None:
    proposal, _ = validate(reply(node("Or\x00ion \ud800 X", "evt_1")))
    assert proposal.nodes[0].name == "Orion X"


def test_self_loops_and_repeated_refs_are_refused() -> None:
    said = reply(
        node("Orion", "evt_1"),
        node("Other", "evt_1") | {"ref": "Orion"},
        edges=[edge("Orion", "is", "Orion", "evt_1"), edge("Orion", "", "Orion", "evt_1")],
    )
    assert [code for code, _ in validate(said)[1]] == ["duplicate_ref", "self_loop", "self_loop"]


FIELDS = [
    "ref",
    "name",
    "type",
    "facts",
    "key",
    "value",
    "sourceEventIds",
    "aliases",
    "tags",
    "metadataProvenance",
    "confidence",
    "status",
    "fromRef",
    "toRef",
    "relation",
    "mode",
    "state",
]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["evt_1", "person", "Ann"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=3))
def test_no_reply_ever_raises_anything_else_and_one_bad_item_costs_only_itself(
    nodes: list[Any], edges: list[Any]
) -> None:
    sound = node("Sound", "evt_1", kind="tool")
    proposal, _ = validate_proposal(
        {"nodes": [sound, *nodes], "edges": edges}, events=EVENTS, job_event_ids=JOB
    )
    assert proposal.nodes[0].name == "Sound"
