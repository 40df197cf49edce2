"""What a person denies never becomes a fact that says the opposite."""

from __future__ import annotations

import pytest

from shared.domain.events import Criticality
from tests.unit.workers.rules.memory import Memory


@pytest.mark.parametrize(
    "said",
    [
        "I'm not allergic to nuts.",
        "I am no longer allergic to nuts.",
        "He isn't allergic to cats.",
        "我对花生不过敏。",
        "我对花生不会过敏。",
        "我没有对花生过敏。",
        "我不再对花生过敏。",
        "更正：我的自行车不是红色的，是蓝色的。",
        "我的自行车不是红色的是蓝色的。",
        "我的自行车不再是红色的。",
        "我的车并不是红色的。",
        "我的老板不是王伟。",
        "我不叫王伟。",
    ],
)
def test_a_denial_is_no_fact(said: str) -> None:
    memory = Memory()
    memory.tell(said)
    assert [(fact.key, fact.value) for fact in memory.state.facts] == []


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("I don't drink milk, I'm allergic to nuts.", "allergies", "nuts"),
        ("我对花生严重过敏。", "allergies", "花生"),
        ("I'm allergic to nuts, not to milk.", "allergies", "nuts"),
        ("我的项目的数据库是Postgres。", "项目的数据库", "Postgres"),
    ],
)
def test_a_statement_beside_a_denial_still_is_one(said: str, key: str, value: str) -> None:
    memory = Memory()
    memory.tell(said)
    assert (key, value) in [(fact.key, fact.value) for fact in memory.state.facts]


@pytest.mark.parametrize("said", ["我不对花生过敏。", "我不对花生过敏"])
def test_a_denial_keeps_its_not_in_the_title(said: str) -> None:
    (event,) = Memory().tell(said)
    assert event.title == "用户不对花生过敏"
    assert event.criticality is Criticality.ROUTINE


def test_a_correction_still_loses_the_words_that_announce_it() -> None:
    (event,) = Memory().tell("不对，会议在周三。")
    assert event.title == "会议在周三"


def test_no_allergy_is_no_matter_of_safety() -> None:
    events = Memory().tell("I don't have a nut allergy.")
    assert [event.criticality for event in events] == [Criticality.ROUTINE]


@pytest.mark.parametrize(
    "said",
    [
        "I never bought a house in May 2020.",
        "I did not buy a car in 2018.",
        "I might have visited Rome in 2015.",
        "Maybe I bought a boat in 2019, not sure.",
        "I bought a boat in 2019, not sure.",
    ],
)
def test_what_is_denied_or_only_supposed_has_not_occurred(said: str) -> None:
    assert [
        event.time.status for event in Memory().tell(said) if event.time.status == "occurred"
    ] == []


def test_what_is_said_for_sure_beside_a_doubt_has_occurred() -> None:
    (event,) = Memory().tell("I never liked boats, but I bought one in 2019.")
    assert event.time.status == "occurred"


@pytest.mark.parametrize(
    "said", ["I might have visited Rome in 2015.", "Perhaps I moved to Lyon in 2019."]
)
def test_what_is_only_supposed_gives_the_graph_nothing(said: str) -> None:
    memory = Memory()
    memory.tell(said)
    assert memory.edges() == set()
    assert memory.state.facts == ()
