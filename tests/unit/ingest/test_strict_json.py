from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidInput
from shared.http.strict_json import MAX_DEPTH, parse, split_items

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20
)


@given(VALUES, st.booleans())
def test_what_can_be_stored_comes_back_as_it_was(value: object, escaped: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=escaped)) == value


@given(st.lists(VALUES), st.sampled_from([None, 1]))
def test_an_array_is_split_into_the_texts_of_its_items(
    values: list[object], indent: int | None
) -> None:
    items = split_items(json.dumps(values, indent=indent))
    assert [json.loads(item) for item in items] == values


def test_one_broken_item_leaves_the_others_whole() -> None:
    assert split_items('[{"a": 1}, {"b": tru}, "x,]"]') == ['{"a": 1}', ' {"b": tru}', ' "x,]"']


@pytest.mark.parametrize("text", ["{}", "[] []", "[1", "1]", "", '"[]"', "[1]]"])
def test_what_is_no_array_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        split_items(text)


def test_depth_is_bounded_before_anything_recurses() -> None:
    assert parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for text in ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), '{"a":' * 100_000):
        with pytest.raises(InvalidInput) as caught:
            parse(text)
        assert caught.value.code == "json_too_deep"


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        (r'["\ud83d\ude00", "\ud83d"]', "/1"),
        (r'{"a/b": {"~": "\u0000"}}', "/a~1b/~0"),
        ("[9223372036854775808]", "/0"),
        ("[-9223372036854775809]", "/0"),
        ("[1e400]", "/0"),
    ],
)
def test_what_cannot_be_stored_is_named_by_its_place(text: str, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert caught.value.errors[0].pointer == pointer


def test_an_open_string_full_of_quotes_is_refused_in_linear_time() -> None:
    with pytest.raises(InvalidInput):
        parse('"' + r"\"" * 500_000 + "\\")
