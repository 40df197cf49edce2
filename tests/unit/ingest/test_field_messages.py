from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ingest.schemas.policy import PolicyPatch
from ingest.schemas.turns import TurnIn
from ingest.turns.batch import items_of
from shared.errors import InvalidInput
from shared.http.problems import invalid_of

GOOD: dict[str, Any] = {"receipt_id": "r", "messages": [{"role": "user", "content": "x"}]}


def refused(model: Any, body: Any) -> InvalidInput:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return invalid_of(caught.value.errors(include_url=False))


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"messages": []}, "/messages: give at least 1, not 0"),
        ({"messages": "x"}, "/messages: expected a list"),
        ({"messages": [1]}, "/messages/0: expected an object"),
        ({"messages": [{"content": "x"}]}, "/messages/0/role: this field is required"),
        ({"receipt_id": 7}, "/receipt_id: expected a string"),
        ({"labels": [1]}, "/labels: expected an object"),
        ({"agent": {"id": ""}}, "/agent/id: use 1 or more characters"),
        (
            {"agent": {"id": "a", "is_subagent": "maybe"}},
            "/agent/is_subagent: expected true or false",
        ),
        ({"colour": 1}, "/colour: no such field; leave it out"),
    ],
)
def test_common_mistakes_in_a_turn_are_told_in_plain_words(
    fields: dict[str, Any], detail: str
) -> None:
    assert refused(TurnIn, GOOD | fields).detail == detail


def test_a_role_that_is_none_is_answered_with_those_there_are() -> None:
    detail = refused(TurnIn, GOOD | {"messages": [{"role": "bot", "content": "x"}]}).detail
    assert detail.startswith("/messages/0/role: use 'user', 'assistant', 'tool'")


def test_numbers_out_of_range_are_answered_with_the_range() -> None:
    error = refused(PolicyPatch, {"block_turn_size": 0, "block_decay_lambda": "x"})
    assert [field.message for field in error.errors] == ["use 1 or more", "expected a number"]


@pytest.mark.parametrize("body", [1, [], None, "x"])
def test_a_body_that_is_no_object_is_told_so_without_a_pointer(body: Any) -> None:
    assert refused(TurnIn, body).detail == "expected an object"


@pytest.mark.parametrize("body", [b"[]", b"", b"[1] x"])
def test_what_is_wrong_with_a_whole_batch_begins_with_words(body: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        items_of(body, "application/json")
    assert caught.value.detail[0].isalpha()
    assert caught.value.errors[0].pointer == ""
