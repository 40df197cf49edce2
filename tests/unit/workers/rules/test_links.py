from __future__ import annotations

import pytest

from tests.unit.workers.rules.memory import Memory


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I use vim for everything.", "I switched from vim to helix last month."),
        ("We decided to use npm in Orion.", "Orion replaced npm with pnpm."),
        ("I work at Fabrikam.", "I now work at Contoso."),
        ("I live in Oslo.", "Actually, I live in Bergen."),
        ("Mara works at Fabrikam.", "Mara now works at Contoso."),
        ("The database of Orion is MySQL 9.", "Correction: the database of Orion is Postgres 18."),
        ("I drink coffee every day.", "I no longer drink coffee."),
        ("We plan to visit Rome in May.", "The visit to Rome is cancelled."),
        ("We have a meeting with the supplier next week.", "The supplier meeting is called off."),
        ("我在北京工作。", "我现在在上海工作。"),
        ("我们用MySQL作为数据库。", "我们从MySQL换成了Postgres。"),
        ("我打算周六去爬山。", "爬山取消了。"),
    ],
)
def test_an_explicit_change_supersedes_what_it_changes(before: str, after: str) -> None:
    memory = Memory()
    memory.tell(before)
    memory.tell(after)
    assert list(memory.superseded_by) == ["evt_001"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I love hiking in the Alps.", "I love swimming in the sea."),
        ("Mara works at Fabrikam.", "Jonas now works at Contoso."),
        ("I plan to paint the fence.", "The concert is cancelled."),
        ("The kitchen is on the first floor.", "Correction: the library is on the second floor."),
        ("I am allergic to peanuts.", "I switched from coffee to tea."),
        ("我对花生过敏。", "我改用Linux了。"),
        ("张伟在北京工作。", "李雷现在在上海工作。"),
    ],
)
def test_unrelated_statements_stay_both_current(one: str, other: str) -> None:
    memory = Memory()
    memory.tell(one)
    memory.tell(other)
    assert memory.superseded_by == {}
    assert memory.conflicts == []


def test_two_values_without_a_sign_of_change_are_a_conflict() -> None:
    memory = Memory()
    memory.tell("The meeting room is on the third floor.")
    memory.tell("The meeting room is on the fifth floor.")
    assert memory.conflicts == [("evt_002", "evt_001")]
    assert memory.superseded_by == {}


@pytest.mark.parametrize(
    "text", ["I live in Oslo.", "我吃素。", "The staging server is called Fjord."]
)
def test_the_same_said_again_names_the_event_it_repeats(text: str) -> None:
    memory = Memory()
    memory.tell(text)
    (again,) = memory.tell(text)
    assert again.same_event_id == "evt_001"


def test_what_is_done_names_the_plan_it_fulfils() -> None:
    memory = Memory()
    memory.tell("We plan to release Orion 1.0 on 20 March 2026.")
    (done,) = memory.tell("We released Orion 1.0 today.")
    assert done.related_event_ids == ("evt_001",)
    assert done.time.status == "occurred"


def test_a_correction_without_a_new_subject_replaces_the_statement_it_repeats() -> None:
    memory = Memory()
    memory.tell("The deadline is on Thursday.")
    memory.tell("That is wrong, the deadline is on Friday.")
    assert memory.superseded_by == {"evt_001": "evt_002"}
