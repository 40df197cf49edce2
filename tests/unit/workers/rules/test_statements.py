from __future__ import annotations

import pytest

from shared.domain.events import Criticality, EventType
from shared.domain.turns import Message, Origin, Role
from tests.unit.workers.rules.memory import AT, Memory, said, summary_of


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("I love tea and I hate rain.", "The user loves tea and the user hates rain."),
        ("Hey! I've just moved my desk.", "The user has just moved the user's desk."),
        ("We don't need a server.", "The user and others don't need a server."),
        ("I don't like coriander.", "The user doesn't like coriander."),
        ("i need two monitors", "The user needs two monitors."),
        ("I no longer eat meat.", "The user no longer eats meat."),
        ("Let us cook risotto on Saturday.", "The user wants to cook risotto on Saturday."),
        ("我们决定用新的图标。", "用户一方决定用新的图标。"),
        ("对了,我妹妹叫小红。", "用户妹妹叫小红。"),
    ],
)
def test_the_first_person_becomes_the_user(text: str, summary: str) -> None:
    (event,) = Memory().tell(text)
    assert event.summary == summary


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use pnpm.", EventType.DECISION),
        ("The invoice export failed again.", EventType.INCIDENT),
        ("I finished the report.", EventType.TASK_COMPLETED),
        ("We released version 2.1 yesterday.", EventType.RELEASE),
        ("I plan to learn Spanish.", EventType.PLAN),
        ("The picnic is cancelled.", EventType.CANCELLATION),
        ("The logs were migrated to another disk.", EventType.MIGRATION),
        ("Jonas joined the team.", EventType.COLLABORATION),
        ("I had an interview with Fabrikam.", EventType.MEETING),
        ("我们决定用新的图标。", EventType.DECISION),
        ("服务器昨晚宕机了。", EventType.INCIDENT),
        ("报告写完了。", EventType.TASK_COMPLETED),
        ("我打算学西班牙语。", EventType.PLAN),
        ("野餐取消了。", EventType.CANCELLATION),
        ("日志迁移到了新硬盘。", EventType.MIGRATION),
    ],
)
def test_the_words_name_the_kind(text: str, kind: EventType) -> None:
    (event,) = Memory().tell(text)
    assert event.event_type is kind


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("My wife has a severe nut allergy.", Criticality.SAFETY),
        ("我有哮喘。", Criticality.SAFETY),
        ("Don't use emojis.", Criticality.PREFERENCE),
        ("My name is Ana and I work at Fabrikam.", Criticality.IDENTITY),
        ("我叫李雷。", Criticality.IDENTITY),
        ("From now on answer in French.", Criticality.PREFERENCE),
        ("以后回答请用中文。", Criticality.PREFERENCE),
        ("My favourite colour is green.", Criticality.PREFERENCE),
        ("I am not allergic to cats.", Criticality.ROUTINE),
        ("I bought a lamp.", Criticality.ROUTINE),
    ],
)
def test_how_much_it_would_hurt_to_forget(text: str, level: Criticality) -> None:
    (event,) = Memory().tell(text)
    assert event.criticality is level


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of Peru?",
        "Write me a poem about the sea.",
        "If I had a dog I would call it Rex.",
        "Thanks, that helps!",
        "ok",
        "好的",
        "帮我写一首诗",
        "你能总结一下吗？",
        "如果我有一只狗,我会叫它旺财。",
    ],
)
def test_questions_requests_suppositions_and_courtesies_are_no_events(text: str) -> None:
    assert Memory().tell(text) == []


def test_a_fact_before_a_question_is_kept_without_the_question() -> None:
    (event,) = Memory().tell("My laptop broke yesterday, can you help?")
    assert [quote.text for quote in event.quotes] == ["My laptop broke yesterday"]


def test_two_people_who_talk_are_both_believed_about_themselves() -> None:
    jon = Message("m1", Role.USER, "Lost my job as a banker yesterday.", AT, "UTC", name="Jon")
    gina = Message(
        "m2", Role.ASSISTANT, "I opened an online store last week.", AT, "UTC", name="Gina"
    )
    lost, opened = Memory().block(jon, gina)
    assert lost.participants[0] == "Jon"
    assert opened.summary == "Gina opened an online store last week."
    assert opened.source_message_ids == ("m2",)
    assert "Gina" in opened.participants


@pytest.mark.parametrize(
    ("name", "origin"),
    [("Helper Bot", None), ("user", None), ("用户", None), ("Quill", Origin.MODEL), (None, None)],
)
def test_an_assistant_is_not_believed_about_itself(name: str | None, origin: Origin | None) -> None:
    user = Message("m1", Role.USER, "I keep bees.", AT, "UTC", name="Ann")
    reply = Message("m2", Role.ASSISTANT, "I love honey.", AT, "UTC", name=name, origin=origin)
    events = Memory().block(user, reply)
    assert [event.source_message_ids for event in events] == [("m1",)]


def test_an_image_is_told_with_its_words() -> None:
    jon = Message("m1", Role.USER, "I painted this. [image: a lake at dawn]", AT, name="Jon")
    gina = Message("m2", Role.ASSISTANT, "I bake bread on Sundays.", AT, name="Gina")
    painted, _ = Memory().block(jon, gina)
    assert painted.summary == "Jon painted this. [image: a lake at dawn]"


def test_code_and_pasted_blocks_are_no_statements() -> None:
    events = Memory().tell("Here is my file:\n```python\n# I am allergic to peanuts\n```")
    assert all("peanuts" not in event.summary for event in events)


def test_without_a_statement_the_summary_tells_what_was_asked() -> None:
    messages = [
        *said("Convert 3 miles to km."),
        *said("About 4.83 km.", role=Role.ASSISTANT, first=1),
    ]
    summary = summary_of(messages)
    assert summary.summary == (
        "User said: Convert 3 miles to km. Assistant answered: About 4.83 km."
    )
