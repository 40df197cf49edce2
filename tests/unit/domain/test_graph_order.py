"""Whatever order jobs finish in, the graph comes out the same (D16)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.graph import (
    EVENT_ACTIVE,
    FactMode,
    RecordStatus,
    SourceEvent,
    value_key,
)
from shared.domain.graph_timeline import claims_of_facts, settle
from shared.domain.graph_view import NodeView
from tests.unit.domain.graph_support import Graph, day, edge, event, fact, node, reply

STATUSES = ("active", "superseded", "forgotten")
DAYS = range(7)


@dataclass(frozen=True)
class Said:
    """One event and the reply that a job over it alone brings."""

    event: SourceEvent
    reply: dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """The raw material of one event; other events are named by their place, itself by none."""

    said: int
    happened: int | None
    is_plan: bool
    superseded_by: int | None
    conflicts_with: int | None
    stance: str
    value: str
    mode: str
    target: str
    cardinality: str


# Built once: a strategy made anew at each draw costs more than the fold under test.
DRAWN = st.builds(
    Drawn,
    said=st.sampled_from(DAYS),
    happened=st.none() | st.sampled_from(DAYS),
    is_plan=st.sampled_from((False, False, False, True)),
    superseded_by=st.sampled_from((None, *range(6))),
    conflicts_with=st.none() | st.sampled_from(range(6)),
    stance=st.sampled_from(("active", "active", "active", "disputed", "superseded")),
    value=st.sampled_from(("A", "B", "C")),
    mode=st.sampled_from(("state", "state", "relation", "set")),
    target=st.sampled_from(("X", "Y", "Z")),
    cardinality=st.sampled_from(("one", "many")),
)


def said_by(drawn: Sequence[Drawn]) -> list[Said]:
    """Make the events, each with a reply of one fact, in any mode and stance, and one edge."""

    def other(place: int, named: int | None) -> str | None:
        return f"e{named}" if named is not None and named < len(drawn) and named != place else None

    made = []
    for place, one in enumerate(drawn):
        source, rival = f"e{place}", other(place, one.conflicts_with)
        event = SourceEvent(
            source,
            EVENT_ACTIVE,
            day(one.said),
            happened_start=None if one.happened is None else day(one.happened),
            is_plan=one.is_plan,
            superseded_by=other(place, one.superseded_by),
            conflicts_with=frozenset({rival} if rival else ()),
        )
        facts = [fact("key", one.value, source, mode=one.mode, status=one.stance)]
        uses = edge("Hub", "uses", one.target, source, cardinality=one.cardinality)
        nodes = (node("Hub", source, facts=facts), node(one.target, source, kind="tool"))
        made.append(Said(event, reply(*nodes, edges=[uses])))
    return made


STATEMENTS = st.lists(DRAWN, min_size=1, max_size=6).map(said_by)
"""Up to six events about one node."""


def folded(said: Sequence[Said], statuses: dict[str, str]) -> Graph:
    graph = Graph().know(*(s.event for s in said))
    for one in said:
        graph.project(one.reply, one.event.id)
    for event_id, status in statuses.items():
        graph.set_status(event_id, status)
    return graph


def picture(view: NodeView | None, names: dict[str, str]) -> object:
    """Return a view without ids and without what the order of arrival may decide (D45)."""
    if view is None:
        return None

    def facts(items: Sequence[Any]) -> list[tuple[object, ...]]:
        return sorted(
            (
                value_key(f.value),
                f.mode is FactMode.SET,
                f.status.value,
                str(f.valid_from),
                str(f.valid_until),
                tuple(sorted(f.source_event_ids)),
            )
            for f in items
        )

    def edges(items: Sequence[Any]) -> list[tuple[object, ...]]:
        return sorted(
            (
                names[e.to_node_id],
                e.status.value,
                str(e.valid_from),
                str(e.valid_until),
                tuple(sorted(e.source_event_ids)),
            )
            for e in items
        )

    return (
        facts(view.current_facts),
        facts(view.historical_facts),
        edges(view.current_edges),
        edges(view.historical_edges),
    )


def pictures(graph: Graph) -> list[object]:
    names = {n.id: n.name for n in graph.state.nodes}
    instants = [None, *(day(number) for number in range(-1, 9))]
    shown = [{v.name: v for v in graph.views(at=at)} for at in instants]
    return [picture(views.get("Hub"), names) for views in shown]


EVENT_STATUSES = st.dictionaries(
    st.sampled_from([f"e{i}" for i in range(6)]), st.sampled_from(STATUSES)
)


@given(STATEMENTS, EVENT_STATUSES, st.randoms(use_true_random=False))
def test_any_order_of_arrival_gives_the_same_graph(
    said: list[Said], statuses: dict[str, str], random: Any
) -> None:
    known = {s.event.id for s in said}
    statuses = {i: status for i, status in statuses.items() if i in known}
    shuffled = list(said)
    random.shuffle(shuffled)
    assert pictures(folded(said, statuses)) == pictures(folded(shuffled, statuses))


@given(STATEMENTS, st.randoms(use_true_random=False))
def test_what_is_stored_does_not_hang_on_the_order_either(said: list[Said], random: Any) -> None:
    shuffled = list(said)
    random.shuffle(shuffled)
    assert stored(folded(said, {})) == stored(folded(shuffled, {}))


def stored(graph: Graph) -> object:
    names = {n.id: n.name for n in graph.state.nodes}
    facts = [
        (
            value_key(f.value),
            f.stance,
            f.status,
            str(f.valid_from),
            str(f.valid_until),
            f.confidence,
            *sorted(f.source_event_ids),
        )
        for f in graph.state.facts
    ]
    edges = [
        (
            names[e.to_node_id],
            e.cardinality,
            e.status,
            str(e.valid_from),
            str(e.valid_until),
            *sorted(e.source_event_ids),
        )
        for e in graph.state.edges
    ]
    return sorted(facts), sorted(edges)


def test_the_latest_word_holds_however_the_claims_are_handed_over() -> None:
    graph = Graph().know(event("e1", 1), event("e2", 5), event("e3", 9))
    for source, value in (("e3", "C"), ("e1", "A"), ("e2", "B")):
        graph.project(reply(node("Hub", source, facts=[fact("key", value, source)])), source)
    latest = next(f.id for f in graph.state.facts if f.value == "C")
    for facts in itertools.permutations(graph.state.facts):
        standings = settle(claims_of_facts(facts, graph.events))
        assert {i for i, standing in standings.items() if standing.is_current} == {latest}


@given(STATEMENTS, EVENT_STATUSES)
def test_at_any_time_at_most_one_undisputed_state_of_a_key_holds(
    said: list[Said], statuses: dict[str, str]
) -> None:
    known = {s.event.id for s in said}
    graph = folded(said, {i: status for i, status in statuses.items() if i in known})
    for at in [None, *(day(number) for number in range(-1, 9))]:
        for view in graph.views(at=at):
            settled = [
                value_key(f.value)
                for f in view.current_facts
                if f.status is RecordStatus.ACTIVE
                and not f.is_planned
                and f.mode is not FactMode.SET
            ]
            assert len(set(settled)) <= 1, (at, view.current_facts)


@given(STATEMENTS, EVENT_STATUSES)
def test_forgetting_and_restoring_changes_nothing(
    said: list[Said], statuses: dict[str, str]
) -> None:
    graph = folded(said, {})
    before = pictures(graph)
    for event_id in {s.event.id for s in said} & statuses.keys():
        graph.set_status(event_id, "forgotten")
    if said[0].event.id not in statuses:
        graph.project(said[0].reply, said[0].event.id)
    for one in said:
        graph.set_status(one.event.id, "active")
    assert pictures(graph) == before


@given(STATEMENTS, EVENT_STATUSES)
def test_nothing_visible_is_ever_gone(said: list[Said], statuses: dict[str, str]) -> None:
    known = {s.event.id for s in said}
    graph = folded(said, {i: status for i, status in statuses.items() if i in known})
    visible = {s.event.id for s in said if statuses.get(s.event.id) != "forgotten"}
    shown: set[str] = set()
    for view in graph.views():
        for record in (*view.current_facts, *view.historical_facts):
            shown |= set(record.source_event_ids)
    assert shown == visible
