"""What a person denies never becomes a fact that says the opposite."""

from __future__ import annotations

import pytest

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
        ("我的项目的数据库是Postgres。", "项目的数据库", "Postgres"),
    ],
)
def test_a_statement_beside_a_denial_still_is_one(said: str, key: str, value: str) -> None:
    memory = Memory()
    memory.tell(said)
    assert (key, value) in [(fact.key, fact.value) for fact in memory.state.facts]
