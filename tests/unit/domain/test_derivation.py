from __future__ import annotations

import time
from typing import Any

import pytest

from shared.domain.derivation import (
    derivation_view,
    model_view,
    without_memory_context,
    without_memory_tools,
    without_own_memory,
)
from shared.domain.turns import Message, Origin, Role


def said(role: str, content: str, *calls: dict[str, Any], **more: Any) -> Message:
    return Message(id="msg_1", role=Role(role), content=content, tool_calls=calls, **more)


def test_people_and_models_are_kept_whole_and_tool_texts_cut_in_the_middle() -> None:
    user, tool = derivation_view([said("user", "u" * 9000), said("tool", "t" * 2401)])
    assert user.content == "u" * 9000
    note = "[tool message content compacted: 481 chars omitted; full value remains in L5]"
    assert tool.content == "t" * 1440 + f"\n{note}\n" + "t" * 480


def test_lengths_are_code_points() -> None:
    """D3: 2400 characters outside the basic plane are 2400, not 4800."""
    (kept,) = derivation_view([said("tool", "🚀" * 2400)])
    assert kept.content == "🚀" * 2400


def test_case_cost_03_a_long_result_is_shortened_and_still_countable() -> None:
    table = "row,item,colour\n" + "\n".join(f"{n},item{n},grey" for n in range(1, 3000))
    call = {"name": "read_table", "arguments": {"path": "stock.csv"}, "result": table}
    (message,) = derivation_view([said("assistant", "Rows 3 and 9.", call)])
    result = message.tool_calls[0]["result"]
    assert message.content == "Rows 3 and 9."
    assert result["originalChars"] == len(table)
    kept = len(result["head"]) + len(result["tail"])
    assert kept + result["omittedChars"] == len(table)
    assert kept <= 2400
    assert call["result"] == table, "the stored trace is not touched"


@pytest.mark.parametrize(
    ("part", "limit", "head", "tail"), [("arguments", 1200, 576, 240), ("result", 2400, 1152, 480)]
)
def test_a_value_up_to_its_limit_is_whole_and_one_sign_more_is_shortened(
    part: str, limit: int, head: int, tail: int
) -> None:
    (whole,) = derivation_view([said("assistant", "", {"name": "x", part: "y" * limit})])
    assert whole.tool_calls[0][part] == "y" * limit
    (cut,) = derivation_view([said("assistant", "", {"name": "x", part: "y" * (limit + 1)})])
    view = cut.tool_calls[0][part]
    assert (len(view["head"]), len(view["tail"])) == (head, tail)
    assert view["omittedChars"] == limit + 1 - head - tail


def test_program_texts_are_named_and_left_out_in_lists_and_chat_form_too() -> None:
    code = "x" * 241
    chat = {"function": {"name": "run", "arguments": {"Source Code": [code, "short"]}}}
    (message,) = derivation_view([said("assistant", "", chat)])
    arguments = message.tool_calls[0]["function"]["arguments"]
    omitted = "[Source Code omitted: 241 chars; full value remains in L5]"
    assert arguments == {"Source Code": [omitted, "short"]}


def test_a_value_that_holds_itself_is_marked() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop
    (message,) = derivation_view([said("assistant", "", {"name": "x", "result": loop})])
    assert message.tool_calls[0]["result"] == {"a": 1, "self": "[circular value]"}


def test_case_dup_03_what_memory_gave_back_is_not_seen_again() -> None:
    context = "<memory-context>Event evt_12: Fence will be larch.</memory-context>"
    call = {"name": "memory_search_events", "arguments": {"query": "fence"}, "result": "{}"}
    question = said("user", "What did we settle about the fence?")
    view = model_view([question, said("assistant", f"{context} The fence is larch.", call)])
    assert view[0] == question
    assert view[1].content == " The fence is larch."
    assert view[1].tool_calls == ()


def test_answers_of_memory_tools_go_with_their_calls_and_others_stay() -> None:
    own = {"id": "c1", "type": "function", "function": {"name": "memory_assess"}}
    other = {"id": "c2", "name": "grep"}
    kept = without_memory_tools(
        [
            said("assistant", "", own, other),
            said("tool", "{}", tool_call_id="c1"),
            said("tool", "3 hits", tool_call_id="c2"),
            said("tool", "{}", name="memory_get_blocks"),
            said("assistant", "", own),
        ]
    )
    assert [(m.content, len(m.tool_calls)) for m in kept] == [("", 1), ("3 hits", 0)]


def test_injected_messages_and_messages_of_nothing_but_context_disappear() -> None:
    kept = without_own_memory(
        [
            said("user", "Background: the fence is larch.", origin=Origin.INJECTED),
            said("user", "<memory_context id='1'>x</memory_context>\n"),
            said("user", "Paint it."),
            said("assistant", ""),
        ]
    )
    assert [m.content for m in kept] == ["Paint it.", ""]


def test_an_opening_mark_without_its_end_is_left_alone() -> None:
    text = "Why does <memory-context> appear in my prompt?"
    assert without_memory_context(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "hello <memory-context>evil <memory-context>x</memory-context> tail"
            "</memory-context> bye",
            "hello \n bye",
        ),
        ("a<memory-context>x</memory-context>b", "a\nb"),
        ("a<memory-context>x</memory-context><memory_context>y</memory_context>b", "a\nb"),
        ("<memory-context>x</memory-context>b", "b"),
        ("a <memory-context> b <memory-context>x</memory-context> c", "a <memory-context> b \n c"),
        ("<memory<memory-context>x</memory-context>-context>evil</memory-context>", None),
        ("<memory-context<memory-context>x</memory-context>>evil</memory-context>", None),
    ],
)
def test_a_passage_goes_whole_and_joins_nothing(text: str, left: str | None) -> None:
    cut = without_memory_context(text)
    assert left is None or cut == left
    assert without_memory_context(cut) == cut


def test_many_marks_without_an_end_cost_no_more_than_reading_them() -> None:
    text = "<memory-context>" * 50_000
    started = time.perf_counter()
    assert without_memory_context(text) == text
    assert time.perf_counter() - started < 10
