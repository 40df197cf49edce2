from __future__ import annotations

import pytest

from shared.domain.tool_json import recognised_tool_json, result_summary, tool_call_line


@pytest.mark.parametrize(
    ("value", "summary"),
    [
        (None, ""),
        (0, "0"),
        (False, "false"),
        (2.0, "2"),
        ("  two \n words ", "two words"),
        ('{"ok": true}', "completed"),
        ("NaN", "NaN"),
        ({"error": "x  y", "summary": "s"}, "failed: x y"),
        ({"message": "m", "rows": [1]}, "m"),
        ({"ok": True, "rows": [1, 2], "input": [1]}, "rows: 2"),
        ({"ok": False}, "not completed"),
        ([1, 2], "structured result returned"),
        ("x" * 400, "x" * 160),
        ({"error": "x" * 400}, "failed: " + "x" * 140),
        ({"summary": "x" * 400}, "x" * 160),
    ],
)
def test_a_result_is_told_in_a_few_words(value: object, summary: str) -> None:
    assert result_summary(value) == summary


@pytest.mark.parametrize("is_tool", [True, False])
def test_a_message_that_is_a_payload_is_recognised_in_any_role(*, is_tool: bool) -> None:
    payload = '```json\n{"name": "grep", "arguments": {}, "result": {"hits": [1]}}\n```'
    assert recognised_tool_json(payload, is_tool=is_tool) == "Tool call: grep (hits: 1)"


@pytest.mark.parametrize(
    "prose",
    [
        "Explain what a tool_call is in the API.",
        'A tool_call has "name": "x" and "arguments".',
        '{"name": "x", "arguments": {}} is what a tool_call looks like',
        'Look:\n```json\n{"tool_calls": [{"name": "x", "arguments": 1\n```\nIt broke.',
        '[Note] the "function" key was renamed',
    ],
)
def test_prose_that_mentions_a_marker_word_is_left_alone_unless_a_tool_said_it(
    prose: str,
) -> None:
    assert recognised_tool_json(prose, is_tool=False) is None


def test_a_payload_cut_off_at_its_end_is_still_a_payload() -> None:
    cut = '{"tool_calls":[{"name":"broken","arguments":{"a":'
    assert recognised_tool_json(cut, is_tool=False) == ("Tool call: broken (raw arguments omitted)")


def test_a_tool_message_with_a_marker_that_does_not_parse_is_named_from_its_pairs() -> None:
    assert recognised_tool_json('"arguments": oops', is_tool=True) == (
        "Tool call (raw arguments omitted)"
    )


def test_json_without_a_tool_name_is_no_tool_payload() -> None:
    assert recognised_tool_json('{"name": "plain"}', is_tool=True) is None


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ({"name": "probe", "result": "ok"}, "Tool call: probe (ok)"),
        ({"function": {"name": "f", "arguments": "{}"}}, "Tool call: f"),
        ({"type": "function_call", "arguments": None}, "Tool call: unknown_kind"),
        ({"name": 7, "result": [1]}, "Tool call: unknown_kind (structured result returned)"),
    ],
)
def test_a_trace_item_without_a_name_is_marked_and_never_refused(
    call: dict[str, object], line: str
) -> None:
    assert tool_call_line(call) == line


def test_nesting_beyond_the_interpreter_is_not_json_and_no_crash() -> None:
    deep = '{"tool_calls":' + "[" * 100_000
    assert recognised_tool_json(deep, is_tool=True) == "Tool call (raw arguments omitted)"
