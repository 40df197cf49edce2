import pytest

from shared.domain.event_types import (
    criticality_of_category,
    event_type_of,
    raised,
    states_allergy,
    temporal_shape,
)
from shared.domain.events import Criticality, EventType, fingerprint


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Task Completed", EventType.TASK_COMPLETED),
        ("TASK_COMPLETED", EventType.TASK_COMPLETED),
        ("ＰＬＡＮ", EventType.PLAN),
        ("canceled", EventType.CANCELLATION),
        ("版本发布", EventType.RELEASE),
        ("preference", EventType.OTHER),
        ("__proto__", EventType.OTHER),
        (None, EventType.OTHER),
        (["plan"], EventType.OTHER),
    ],
)
def test_event_types_are_looked_up_and_everything_else_is_other(
    word: object, kind: EventType
) -> None:
    assert event_type_of(word) is kind


@pytest.mark.parametrize(
    ("category", "least"),
    [
        ("preference", Criticality.PREFERENCE),
        ("Identity", Criticality.IDENTITY),
        ("allergy", Criticality.SAFETY),
        ("medical condition", Criticality.SAFETY),
        ("过敏", Criticality.SAFETY),
        ("project", Criticality.ROUTINE),
        (None, Criticality.ROUTINE),
    ],
)
def test_a_category_demands_a_least_criticality(category: str | None, least: Criticality) -> None:
    assert criticality_of_category(category) is least


@pytest.mark.parametrize("proposed", list(Criticality))
@pytest.mark.parametrize("category", ["preference", "identity", "allergy", "project", None])
def test_a_category_only_ever_raises(proposed: Criticality, category: str | None) -> None:
    order = list(Criticality)
    result = raised(proposed, category)
    assert order.index(result) >= order.index(proposed)
    assert result in (proposed, criticality_of_category(category))


@pytest.mark.parametrize(
    "text",
    [
        "The user is allergic to peanuts.",
        "Mia has a severe peanut allergy.",
        "不吃花生因为对花生过敏。",
        "我对花生过敏，不对牛奶过敏。",
        "I'm allergic to nuts but not allergic to milk.",
        "I'm severely allergic to bee stings",
        "Marta mentions her allergy to hazelnuts.",
        "Tiago's severe allergies to nuts and milk",
        "用户对花生过敏。",
    ],
)
def test_an_allergy_said_in_so_many_words_is_recognised(text: str) -> None:
    assert states_allergy(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user is not allergic to peanuts.",
        "Mia has no known food allergies.",
        "I don't have a nut allergy.",
        "He doesn’t have any food allergies.",
        "我不对花生过敏。",
        "我没有食物过敏。",
        "The user read an article on allergies.",
        "Mia's article explains what an allergy to pollen is.",
        "用户对花生不过敏。",
        "用户没有对花生过敏。",
        "I like running.",
    ],
)
def test_a_denied_or_mentioned_allergy_is_none(text: str) -> None:
    assert not states_allergy(text)


def test_equal_statements_meet_under_one_fingerprint() -> None:
    assert fingerprint("Plays the  cello ", "plays the CELLO") == fingerprint(
        "plays the cello", "Ｐlays the cello"
    )
    assert fingerprint("a b", "c") != fingerprint("a", "b c")


def test_a_shape_never_changes_its_input() -> None:
    given = {"mentionedAt": 5, "participants": ["a", 1], "extra": {"x": 1}}
    assert temporal_shape(given) == {"extra": {"x": 1}}
    assert given["mentionedAt"] == 5
