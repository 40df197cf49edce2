from __future__ import annotations

from typing import Any

import pytest

from shared.domain.jobs import FailureClass
from workers.models.envelope import is_error, reply_of, usage_of
from workers.models.port import ModelError, Usage


def _body(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 2},
    }


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": '{"a": 1}'}, '{"a": 1}'),
        ({"content": [{"type": "text", "text": '{"a":'}, {"text": " 1}"}, 3]}, '{"a": 1}'),
        ({"content": None, "tool_calls": [{"function": {"arguments": "{}"}}]}, "{}"),
        ({"content": "", "function_call": {"arguments": "{}"}}, "{}"),
        ({"content": "", "tool_calls": [{"function": {"arguments": "{}"}}] * 2}, ""),
        ({"content": " ", "reasoning_content": '{"a": 1}'}, '{"a": 1}'),
        ({"content": "", "reasoning_content": "perhaps { or }, who knows"}, ""),
        ({}, ""),
    ],
)
def test_the_answer_is_found_where_servers_put_it(message: dict[str, Any], text: str) -> None:
    assert reply_of(_body(message), asked="m").content == text


@pytest.mark.parametrize(
    ("message", "finish"),
    [({"content": None, "refusal": "no"}, "stop"), ({"content": ""}, "content_filter")],
)
def test_a_refusal_is_told_apart_and_still_costs(message: dict[str, Any], finish: str) -> None:
    with pytest.raises(ModelError) as raised:
        reply_of(_body(message, finish), asked="m")
    assert (raised.value.failure_class, raised.value.usage) == (FailureClass.REFUSED, Usage(4, 2))


@pytest.mark.parametrize(
    "choices", [None, [], "x", [None], ["x"], [{}], [{"message": None}], {"message": {}}]
)
def test_without_a_choice_there_is_no_reply_but_a_cost(choices: Any) -> None:
    body = {"choices": choices, "usage": {"input_tokens": 9, "output_tokens": 1}}
    with pytest.raises(ModelError) as raised:
        reply_of(body, asked="m")
    assert (raised.value.code, raised.value.usage) == ("no_choice", Usage(9, 1))


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (None, None),
        ("many", None),
        ({"prompt_tokens": -4, "completion_tokens": "7"}, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0)),
        ({"prompt_tokens": True, "completion_tokens": 3.0}, Usage(0, 3)),
        ({"prompt_tokens": 1e300}, Usage(2_000_000_000, 0)),
    ],
)
def test_a_cost_is_never_what_cannot_be_one(told: Any, usage: Usage | None) -> None:
    assert usage_of({"usage": told}) == usage


def test_what_an_endpoint_does_not_count_is_estimated_and_says_so() -> None:
    body = {"choices": [{"message": {"content": "x" * 40}, "finish_reason": "stop"}]}
    reply = reply_of(body, asked="m", sent=("y" * 80, "z" * 4))
    assert reply.usage == Usage(21, 10, is_estimated=True)
    assert not reply_of({**body, "usage": {"prompt_tokens": 3}}, asked="m").usage.is_estimated


def test_a_refusal_that_is_not_counted_costs_what_was_sent() -> None:
    body = {"choices": [{"message": {"content": None, "refusal": "no"}}]}
    with pytest.raises(ModelError) as raised:
        reply_of(body, asked="m", sent=("y" * 80,))
    assert raised.value.usage == Usage(20, 0, is_estimated=True)


def test_a_good_status_with_an_error_and_no_choice_is_an_error() -> None:
    assert is_error({"error": {"message": "no"}})
    assert not is_error({"error": None, "choices": [{}]})
