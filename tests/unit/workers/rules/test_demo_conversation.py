"""The demo's conversation, read by the rules in the blocks that the default policy makes of it."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest

from deploy.demo_conversation import TURNS
from shared.domain.events import Criticality, EventDraft
from shared.domain.turns import Message, Role
from tests.unit.workers.rules.memory import Memory


def _remembered(block_size: int) -> Memory:
    memory = Memory()
    blocks: list[tuple[datetime, list[Message]]] = []
    for thread in ("orion", "home"):
        turns = [turn for turn in TURNS if turn.thread_id == thread]
        for start in range(0, len(turns), block_size):
            messages: list[Message] = []
            for number, turn in enumerate(turns[start : start + block_size], start):
                at = datetime.fromisoformat(turn.occurred_at)
                ids = f"{thread}_{number}"
                messages += [
                    Message(f"{ids}_u", Role.USER, turn.user, at, turn.timezone),
                    Message(
                        f"{ids}_a",
                        Role.ASSISTANT,
                        turn.assistant,
                        at + timedelta(seconds=1),
                        turn.timezone,
                        tool_calls=turn.tool_calls,
                    ),
                ]
            blocks.append((datetime.fromisoformat(turns[start].occurred_at), messages))
    for _, messages in sorted(blocks, key=lambda pair: pair[0]):
        memory.block(*messages)
    return memory


@pytest.fixture(scope="module")
def turn_by_turn() -> Memory:
    return _remembered(1)


@pytest.fixture(scope="module")
def by_default() -> Memory:
    return _remembered(12)


def _event(memory: Memory, words: str) -> EventDraft:
    return memory.events[memory.event_id(words)]


def test_pnpm_replaces_npm_and_says_why(turn_by_turn: Memory) -> None:
    old, new = turn_by_turn.event_id("decided to use npm"), turn_by_turn.event_id("npm to pnpm")
    assert turn_by_turn.superseded_by[old] == new
    assert "lock file conflicts" in turn_by_turn.events[new].summary
    assert turn_by_turn.current("Orion", "package manager") == ["pnpm"]


def test_a_change_within_one_block_is_settled_in_the_graph_by_source_time(
    by_default: Memory,
) -> None:
    assert by_default.current("Orion", "package manager") == ["pnpm"]
    assert by_default.current("会议室", "位置") == ["五楼"]


def test_the_allergy_is_safety_and_known_of_the_user(by_default: Memory) -> None:
    assert _event(by_default, "allergic to peanuts").criticality is Criticality.SAFETY
    assert by_default.current("User", "allergies") == ["peanuts"]


def test_tastes_and_standing_rules_are_preferences(by_default: Memory) -> None:
    for words in ("prefers recipes", "commit messages short", "Elin is a vegetarian"):
        assert _event(by_default, words).criticality is Criticality.PREFERENCE
    assert by_default.current("Elin", "diet") == ["vegetarian"]


def test_the_release_is_a_plan_until_it_is_postponed(by_default: Memory) -> None:
    plan, later = by_default.event_id("on 20 March 2026"), by_default.event_id("27 March 2026")
    assert by_default.events[plan].time.happened_start == date(2026, 3, 20)
    assert by_default.events[later].time.happened_start == date(2026, 3, 27)
    assert by_default.events[plan].time.status == by_default.events[later].time.status == "planned"
    assert by_default.superseded_by == {plan: later}


def test_the_meeting_room_is_corrected(turn_by_turn: Memory) -> None:
    old, new = turn_by_turn.event_id("在三楼"), turn_by_turn.event_id("在五楼")
    assert turn_by_turn.superseded_by[old] == new


@pytest.mark.parametrize(
    ("words", "day", "original"),
    [
        ("first prototype", date(2026, 2, 4), "Yesterday"),
        ("outage of Fjord", date(2026, 3, 1), "last night"),
        ("和供应商开会", date(2026, 3, 4), "下周三"),
        ("added it", date(2026, 3, 13), "three days ago"),
        ("npm cache was deleted", date(2026, 3, 17), "last Tuesday"),
        ("learning the cello", date(2026, 2, 1), "last month"),
    ],
)
def test_times_are_those_of_the_speaker(
    by_default: Memory, words: str, day: date, original: str
) -> None:
    time = _event(by_default, words).time
    assert (time.happened_start, time.original_text) == (day, original)


def test_two_hours_ago_is_an_instant(by_default: Memory) -> None:
    time = _event(by_default, "logs of Fjord").time
    assert time.happened_start == datetime.fromisoformat("2026-03-02T14:10:00+01:00")


def test_small_talk_and_questions_leave_no_event(turn_by_turn: Memory) -> None:
    quotes = " ".join(q.text for draft in turn_by_turn.events.values() for q in draft.quotes)
    for phrase in ("Thanks", "weather where you are", "chickpeas", "Good night", "Perfect", "好的"):
        assert phrase not in quotes, phrase
    assert len(turn_by_turn.events) <= len(TURNS)


def test_a_pronoun_with_one_candidate_is_named(by_default: Memory) -> None:
    assert "Jonas added it" in _event(by_default, "missing index").summary
    assert "Jonas" in _event(by_default, "missing index").participants


def test_who_and_what_is_in_the_graph(by_default: Memory) -> None:
    edges = by_default.edges()
    assert ("Mara Lindqvist", "works_at", "Harbour Institute") in edges
    assert ("Elin", "sister_of", "User") in edges
    assert ("Jonas Weber", "member_of", "Orion") in edges
    assert by_default.node("Fjord").type == "tool"


def test_a_plan_is_never_a_done_fact(by_default: Memory) -> None:
    done = [str(one.value) for one in by_default.state.facts if one.key == "done"]
    assert done
    assert not any("1.0" in value or "present" in value for value in done)


def test_a_failure_that_a_tool_reported_is_kept_and_named_as_its_report(
    by_default: Memory,
) -> None:
    event = _event(by_default, "Two tests fail")
    assert event.summary.startswith("A tool reported:")
    assert event.source_message_ids[0].endswith("_a")


def test_nothing_of_the_replies_is_refused(by_default: Memory, turn_by_turn: Memory) -> None:
    assert by_default.rejections == turn_by_turn.rejections == []


def test_summaries_say_who_said_what(by_default: Memory) -> None:
    for summary in by_default.summaries:
        assert len(summary.title) <= 60
        assert 2 <= len(summary.tags) <= 5
        assert 3 <= len(summary.keypoints) <= 8
        assert all("said" in point or "reported" in point for point in summary.keypoints)
        assert summary.should_extract
