"""The handed cases that the rules must meet, each under its id."""

from __future__ import annotations

from datetime import UTC, date, datetime

from shared.domain.events import Criticality, EventType
from shared.domain.turns import Message, Role
from tests.unit.workers.rules.memory import Memory, said, summary_of


def test_conf_03_different_subjects_never_replace_each_other() -> None:
    memory = Memory()
    memory.tell("The red boat has a diesel engine.")
    memory.tell("The blue boat has an electric engine.")
    assert len(memory.events) == 2
    assert memory.superseded_by == {}
    assert memory.conflicts == []
    assert memory.current("red boat", "engine") == ["diesel engine"]
    assert memory.current("blue boat", "engine") == ["electric engine"]


def test_conf_05_an_explicit_correction_in_chinese_supersedes() -> None:
    memory = Memory()
    memory.tell("会议室在三楼。", at=datetime(2026, 3, 1, 2, 0, tzinfo=UTC), zone="Asia/Shanghai")
    (corrected,) = memory.tell(
        "说错了,会议室在五楼。", at=datetime(2026, 3, 1, 2, 5, tzinfo=UTC), zone="Asia/Shanghai"
    )
    assert memory.superseded_by == {memory.event_id("三楼"): memory.event_id("五楼")}
    assert corrected.quotes[0].text == "说错了,会议室在五楼。"
    assert memory.current("会议室", "位置") == ["五楼"]


def test_conf_06_an_allergy_is_safety_and_stays_beside_an_unrelated_liking() -> None:
    memory = Memory()
    (allergy,) = memory.tell("我对花生过敏。")
    (liking,) = memory.tell("我喜欢在清晨跑步。")
    assert allergy.criticality is Criticality.SAFETY
    assert liking.criticality is Criticality.PREFERENCE
    assert memory.superseded_by == {}
    assert memory.current("User", "allergies") == ["花生"]


def test_conf_08_a_cancellation_ends_the_plan_it_names_by_another_form_of_the_word() -> None:
    memory = Memory()
    (plan,) = memory.tell("Next Saturday I plan to repaint the shed.")
    (off,) = memory.tell("The repainting is off, the weather is bad.")
    assert plan.time.status == "planned"
    assert off.event_type is EventType.CANCELLATION
    assert memory.superseded_by == {memory.event_id("repaint the shed"): memory.event_id("is off")}
    done = [fact for fact in memory.state.facts if fact.key == "done"]
    assert done == []


def test_lang_03_four_characters_are_enough_for_a_preference() -> None:
    (event,) = Memory().tell("我吃素。")
    assert event.criticality is Criticality.PREFERENCE
    assert event.summary == "用户吃素。"


def test_dup_03_what_memory_gave_back_is_no_new_event() -> None:
    context = (
        "<memory-context>Event evt_12: Fence will be larch, decided 2026-02-20.</memory-context> "
    )
    memory = Memory()
    events = memory.block(
        *said("What did we settle about the fence?"),
        *said(context + "The fence will be larch.", role=Role.ASSISTANT, first=1),
    )
    assert events == []


def test_dup_04_neither_instructions_nor_an_assistants_guess_are_facts() -> None:
    reply = "About 4.83 km. As Quill I adore haiku, and I suppose you do too."
    events = Memory().block(
        Message("msg_s", Role.SYSTEM, "You are Quill, a cheerful assistant who loves haiku."),
        *said("Convert 3 miles to km."),
        *said(reply, role=Role.ASSISTANT, first=1),
    )
    assert events == []


def test_date_01_yesterday_counts_from_when_it_was_said() -> None:
    (event,) = Memory().tell(
        "Yesterday I finished the pottery course.",
        at=datetime(2024, 5, 20, 16, tzinfo=UTC),
        zone="Europe/Paris",
    )
    assert event.time.happened_start == date(2024, 5, 19)
    assert (event.time.precision, event.time.basis) == ("day", "relative")
    assert event.time.original_text == "Yesterday"


def test_date_03_minutes_ago_is_an_instant_on_the_speakers_own_clock() -> None:
    (event,) = Memory().tell(
        "The power went out ten minutes ago.",
        at=datetime(2026, 12, 1, 4, 40, tzinfo=UTC),
        zone="America/Toronto",
    )
    assert event.time.happened_start == datetime(2026, 12, 1, 4, 30, tzinfo=UTC)
    assert event.time.zone == "America/Toronto"
    assert event.event_type is EventType.INCIDENT


def test_date_06_two_times_in_one_breath_are_two_events() -> None:
    week, friday = Memory().tell("Last week I visited two lighthouses; on Friday it stormed.")
    assert (week.time.happened_start, week.time.happened_end, week.time.precision) == (
        date(2026, 2, 23),
        date(2026, 3, 1),
        "range",
    )
    assert friday.time.happened_start == date(2026, 2, 27)
    assert [week.time.original_text, friday.time.original_text] == ["Last week", "Friday"]


def test_sec_06_that_a_login_exists_is_kept_and_its_secret_is_not() -> None:
    secret = "Zx9!fictive-Pw"
    messages = said(
        f"Remember: the printer admin password is {secret} and the token is "
        "sk-test-000000000000000000000000."
    )
    memory = Memory()
    (event,) = memory.block(*messages)
    told = f"{event} {memory.summaries} {memory.state}"
    assert "printer admin password" in event.summary
    assert secret not in told
    assert "sk-test" not in told


def test_d9_greetings_and_bare_confirmations_alone_need_no_extraction() -> None:
    for text in (
        "Good morning!",
        "ok, thanks",
        "Yes.",
        "好的",
        "谢谢!",
        "Great, see you tomorrow!",
    ):
        assert not summary_of(said(text)).should_extract, text
    for text in ("我吃素。", "I keep bees.", "What did we settle about the fence?", "Maybe Oslo."):
        assert summary_of(said(text)).should_extract, text


def test_each_quote_stands_in_the_message_although_a_passage_was_left_out() -> None:
    text = (
        "I bought a red <memory-context>evil <memory-context>x</memory-context> "
        "tail</memory-context> kayak in May 2024. I live in Lyon."
    )
    (message,) = said(text)
    events = Memory().block(message)
    assert events
    quotes = [quote.text for event in events for quote in event.quotes]
    assert quotes
    assert all(quote in text for quote in quotes)
    assert "evil" not in " ".join(event.summary for event in events)
