from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from retrieval.graph_match import MAX_EVIDENCE, match_node
from shared.domain.graph import FactMode, NodeType, RecordStatus
from shared.domain.graph_view import EdgeView, FactView, NodeView
from shared.domain.search_terms import TermFinder, query_terms

AT = datetime(2026, 1, 1, tzinfo=UTC)


def _fact(name: str, key: str, value: str, events: tuple[str, ...] = ("e1",)) -> FactView:
    return FactView(
        id=name,
        mode=FactMode.STATE,
        key=key,
        value=value,
        status=RecordStatus.ACTIVE,
        valid_from=AT,
        valid_until=None,
        recorded_at=AT,
        confidence=0.8,
        source_event_ids=events,
        is_planned=False,
    )


EDGE = EdgeView(
    id="edge",
    from_node_id="ann",
    to_node_id="city",
    relation="visits",
    status=RecordStatus.ACTIVE,
    valid_from=AT,
    valid_until=None,
    recorded_at=AT,
    confidence=0.8,
    source_event_ids=("e3",),
    is_planned=False,
)
ANN = NodeView(
    id="ann",
    type=NodeType.PERSON,
    name="Ann",
    aliases=("Annie",),
    tags=("family",),
    status=RecordStatus.ACTIVE,
    confidence=0.8,
    state_text="",
    current_facts=(_fact("f1", "home", "Rome"), _fact("f2", "job", "archivist in Rome")),
    historical_facts=(_fact("f0", "home", "Bern", ("e0",)),),
    current_edges=(EDGE,),
    historical_edges=(),
    source_event_ids=("e0", "e1", "e3"),
)
NAMES = {"ann": ("Ann", "Annie"), "city": ("Lisbon",)}


def test_a_whole_key_asks_for_that_fact_and_its_value() -> None:
    match = match_node(ANN, TermFinder(query_terms("Ann home Bern")), NAMES)
    assert match is not None
    assert ([fact.id for fact in match.facts], match.match_type) == (["f0"], "historical")
    assert match.fields == ("name", "historicalFacts")
    assert match.event_ids[0] == "e0"


def test_a_key_alone_gives_every_value_it_had() -> None:
    match = match_node(ANN, TermFinder(query_terms("Ann home")), NAMES)
    assert match is not None
    assert ([fact.id for fact in match.facts], match.match_type) == (["f1", "f0"], "both")


def test_the_other_end_of_an_edge_is_a_match_and_the_relation_alone_is_none() -> None:
    match = match_node(ANN, TermFinder(query_terms("Lisbon")), NAMES)
    assert match is not None
    assert (match.fields, match.event_ids[0]) == (("currentEdgeEndpoints",), "e3")
    assert match_node(ANN, TermFinder(query_terms("visits")), NAMES) is None


def test_nothing_shared_is_no_match() -> None:
    assert match_node(ANN, TermFinder(query_terms("telescope")), NAMES) is None


def test_evidence_is_bounded_and_begins_with_what_matched() -> None:
    many = tuple(f"s{index}" for index in range(20))
    view = replace(ANN, source_event_ids=many)
    match = match_node(view, TermFinder(query_terms("Ann home Rome")), NAMES)
    assert match is not None
    assert len(match.event_ids) == MAX_EVIDENCE
    assert match.event_ids[0] == "e1"
