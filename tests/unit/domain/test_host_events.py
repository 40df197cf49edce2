from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.host_events import (
    HostEvent,
    HostEventKind,
    HostTurn,
    Unused,
    fold_events,
    project_namespace,
    read_arguments,
    receipt_of,
)
from shared.errors import InvalidInput

START = HostEvent(HostEventKind.TURN_START)
END = HostEvent(HostEventKind.TURN_END)


def user(text: str, **more: Any) -> HostEvent:
    return HostEvent(HostEventKind.USER_MESSAGE, text=text, **more)


def assistant(text: str, **more: Any) -> HostEvent:
    return HostEvent(HostEventKind.ASSISTANT_MESSAGE, text=text, **more)


def call(name: str, call_id: str | None = "c1", **arguments: Any) -> HostEvent:
    return HostEvent(HostEventKind.TOOL_CALL, name=name, call_id=call_id, arguments=arguments)


def result(value: Any, call_id: str | None = "c1", name: str | None = None) -> HostEvent:
    return HostEvent(HostEventKind.TOOL_RESULT, result=value, call_id=call_id, name=name)


def only(*events: HostEvent) -> HostTurn:
    (turn,) = fold_events(events).turns
    return turn


def test_texts_of_one_side_are_joined_by_blank_lines() -> None:
    turn = only(START, user("First."), assistant("One."), user("Second."), assistant("Two."), END)
    assert (turn.user_text, turn.assistant_text) == ("First.\n\nSecond.", "One.\n\nTwo.")


def test_only_the_source_user_is_a_person() -> None:
    folded = fold_events(
        [
            START,
            user("Reminder.", source="hook"),
            user("Hello."),
            user("Plan.", source="agent"),
            END,
        ]
    )
    assert folded.turns[0].user_text == "Hello."
    assert folded.unused == ((1, Unused.INJECTED), (3, Unused.INJECTED))


def test_a_turn_without_a_person_has_no_user_text() -> None:
    assert only(START, user("Context.", source="system"), assistant("Done."), END).user_text == ""


@pytest.mark.parametrize(
    ("kind", "said"), [("completed", "Turn completed."), ("aborted", "Turn ended: aborted.")]
)
def test_an_empty_answer_tells_how_the_turn_ended(kind: str, said: str) -> None:
    end = HostEvent(HostEventKind.TURN_END, end_kind=kind)
    assert only(START, user("Hi."), assistant("  "), end).assistant_text == said


def test_a_turn_is_created_when_it_ends() -> None:
    turn = only(
        HostEvent(HostEventKind.TURN_START, at="2026-05-05T10:00:00Z"),
        user("Hi.", at="2026-05-05T10:00:01Z"),
        HostEvent(HostEventKind.TURN_END, at="2026-05-05T10:02:00Z"),
    )
    assert turn.ended_at == "2026-05-05T10:02:00Z"
    assert only(START, user("Hi.", at="2026-05-05T10:00:01Z"), END).ended_at is not None


def test_calls_attach_to_the_answer_with_their_first_result_alone() -> None:
    folded = fold_events(
        [
            START,
            user("Look."),
            call("bash", command="ls"),
            result("a.txt"),
            result("b.txt"),
            result("c", call_id="other"),
            END,
        ]
    )
    assert folded.turns[0].tool_calls == (
        {"name": "bash", "arguments": {"command": "ls"}, "result": "a.txt"},
    )
    assert folded.unused == ((4, Unused.REPEATED), (5, Unused.NO_CALL))


def test_a_result_without_an_id_answers_by_name_else_in_order() -> None:
    turn = only(
        START,
        user("Look."),
        call("bash", None),
        call("read", None),
        result("read it", None, "read"),
        result("ran it", None),
        END,
    )
    assert [one["result"] for one in turn.tool_calls] == ["ran it", "read it"]


def test_memory_tools_and_their_results_are_left_out() -> None:
    folded = fold_events(
        [
            START,
            user("What do you know?"),
            call("memory_search_events", "m1", query="x"),
            result({"items": []}, "m1"),
            result("late", "m9", "memory_assess"),
            call("bash", "c1"),
            END,
        ]
    )
    assert [one["name"] for one in folded.turns[0].tool_calls] == ["bash"]
    assert [why for _, why in folded.unused] == [Unused.OWN_TOOL] * 3


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", {"value": [1, 2]}),
        ("17", {"value": 17}),
        ("ls -l", {"raw": "ls -l"}),
        ('{"a": NaN}', {"raw": '{"a": NaN}'}),
        ([1], {"value": [1]}),
        (False, {"value": False}),
        (None, {}),
    ],
)
def test_arguments_are_an_object_whatever_came(given_value: Any, expected: Any) -> None:
    assert read_arguments(given_value) == expected


def test_an_unfinished_last_turn_is_told_and_not_a_turn() -> None:
    folded = fold_events([START, user("One."), END, START, user("Two."), assistant("…")])
    assert [turn.number for turn in folded.turns] == [1]
    (left,) = folded.unfinished
    assert (left.number, left.first, left.events) == (2, 3, 3)


def test_a_turn_that_another_follows_unended_is_kept_as_interrupted() -> None:
    first, second = fold_events([START, user("One."), START, user("Two."), END]).turns
    assert (first.user_text, first.end_kind) == ("One.", "interrupted")
    assert first.assistant_text == "Turn ended: interrupted."
    assert (second.number, second.end_kind) == (2, "completed")


def test_events_outside_a_turn_and_of_unknown_types_are_told() -> None:
    folded = fold_events([user("Early."), END, HostEvent(None), START, HostEvent(None), END])
    assert folded.unused == (
        (0, Unused.OUTSIDE_TURN),
        (1, Unused.OUTSIDE_TURN),
        (2, Unused.UNKNOWN_TYPE),
        (4, Unused.UNKNOWN_TYPE),
    )


def test_the_hosts_numbers_hold_and_are_counted_on() -> None:
    numbered = HostEvent(HostEventKind.TURN_START, turn=7)
    turns = fold_events([numbered, END, START, END], first_turn=3).turns
    assert [turn.number for turn in turns] == [7, 8]
    assert [turn.number for turn in fold_events([START, END, START, END], first_turn=3).turns] == [
        3,
        4,
    ]


def test_a_sub_agents_turn_within_another_keeps_apart_and_counts_for_itself() -> None:
    within: dict[str, Any] = {"subagent": "helper"}
    turns = fold_events(
        [
            START,
            user("Do it."),
            HostEvent(HostEventKind.TURN_START, **within),
            user("Find it.", **within),
            assistant("Found.", **within),
            HostEvent(HostEventKind.TURN_END, **within),
            assistant("Done."),
            END,
        ]
    ).turns
    assert [(t.subagent, t.number, t.user_text, t.assistant_text) for t in turns] == [
        ("helper", 1, "Find it.", "Found."),
        (None, 1, "Do it.", "Done."),
    ]
    assert receipt_of("s", 1, subagent=None) == "host:s:turn:1"
    assert receipt_of("s", 1, subagent="helper") != receipt_of("s", 1, subagent=None)


@pytest.mark.parametrize(
    ("cwd", "normalised"),
    [
        ("/home/ada/Work", "/home/ada/work"),
        ("/home/ada//x/../Work/./", "/home/ada/work"),
        ("C:\\Users\\Ada\\Work", "c:/users/ada/work"),
        ("c:/users/ada/work/", "c:/users/ada/work"),
        ("/../..", "/"),
    ],
)
def test_a_project_is_known_by_its_normalised_path(cwd: str, normalised: str) -> None:
    digits = hashlib.sha256(normalised.encode()).hexdigest()[:20]
    assert project_namespace(cwd) == f"project:{digits}"


@pytest.mark.parametrize("cwd", ["", "work", "./work", "~/work", "c:work"])
def test_a_path_that_is_not_absolute_is_no_project(cwd: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        project_namespace(cwd)
    assert refused.value.errors[0].pointer == "/cwd"


EVENTS = st.lists(
    st.builds(
        HostEvent,
        kind=st.sampled_from([None, *HostEventKind]),
        text=st.sampled_from(["", "a", "b"]),
        source=st.sampled_from(["user", "hook"]),
        subagent=st.sampled_from([None, "helper"]),
        call_id=st.sampled_from([None, "c1", "c2"]),
        name=st.sampled_from([None, "bash", "memory_assess"]),
        result=st.sampled_from([None, "x"]),
    ),
    max_size=30,
)


@given(EVENTS)
def test_any_stream_folds_and_what_was_posted_before_folds_alike_again(
    events: list[HostEvent],
) -> None:
    whole = fold_events(events)
    for cut in range(len(events)):
        before = fold_events(events[:cut]).turns
        assert whole.turns[: len(before)] == before
