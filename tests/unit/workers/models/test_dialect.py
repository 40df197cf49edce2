from __future__ import annotations

from dataclasses import replace

import pytest

from workers.models.dialect import Dialect


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("unsupported: chat_template_kwargs", Dialect(has_template_switch=False)),
        ("reasoning_effort is unknown", Dialect(effort=None)),
        (
            "'none' is not supported for reasoning_effort; use 'minimal', 'low' or 'high'",
            Dialect(effort="minimal"),
        ),
        ("use 'max_completion_tokens' instead", Dialect(cap_field="max_completion_tokens")),
        ("this response_format is not available", Dialect(reply_format="json_object")),
        ("'maxlength' is not permitted in response_format", Dialect(has_bounds=False)),
        ("array types do not support 'maxitems'", Dialect(has_bounds=False)),
        ("number of repetitions exceeds sane defaults", Dialect(has_bounds=False)),
    ],
)
def test_what_is_named_is_left_out_and_nothing_else(complaint: str, expected: Dialect) -> None:
    assert Dialect().without(complaint) == (expected, True)


@pytest.mark.parametrize(
    "complaint", ["invalid json_schema: too many properties", "failed to parse grammar"]
)
def test_a_schema_that_is_refused_loses_its_lengths_before_it_is_given_up(complaint: str) -> None:
    unbounded = Dialect(has_bounds=False)
    assert Dialect().without(complaint) == (unbounded, False)
    assert unbounded.without(complaint) == (replace(unbounded, reply_format="json_object"), True)


def test_a_complaint_that_names_nothing_is_answered_by_a_guess() -> None:
    guess = Dialect().without("bad request")
    assert guess == (Dialect(effort=None, has_template_switch=False), False)


def test_after_the_simplest_form_there_is_none() -> None:
    dialect: Dialect | None = Dialect()
    for _ in range(10):
        assert dialect is not None
        step = dialect.without("no")
        if step is None:
            break
        dialect = step[0]
    assert dialect == Dialect("plain", has_bounds=False, effort=None, has_template_switch=False)
    assert dialect.without("no") is None
