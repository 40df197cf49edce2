from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.budget import (
    MESSAGE_OVERHEAD_TOKENS,
    estimate_tokens,
    message_tokens,
    split_messages,
    split_text,
)
from shared.domain.turns import Message, Role

TEXTS = st.one_of(
    st.text(max_size=400), st.text(alphabet="ab 。\n.你好", min_size=50, max_size=900)
)


def said(number: int, content: str, *calls: dict[str, str]) -> Message:
    return Message(id=f"msg_{number}", role=Role.USER, content=content, tool_calls=calls)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("a b\nc", 2),
        ("你好", 2),
        ("a你bcde", 3),
        ("é", 1),
    ],
)
def test_a_token_is_counted_for_every_four_characters_begun(text: str, tokens: int) -> None:
    """Section 4: a run of ASCII ends at any other sign."""
    assert estimate_tokens(text) == tokens


@given(TEXTS, TEXTS)
def test_a_joined_text_costs_no_more_than_its_pieces(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)
    assert estimate_tokens(one) <= estimate_tokens(one + other)


@given(TEXTS, st.integers(min_value=1, max_value=60))
def test_pieces_of_a_text_join_to_it_and_fit(text: str, budget: int) -> None:
    pieces = list(split_text(text, budget))
    assert "".join(pieces) == text
    assert all(piece and estimate_tokens(piece) <= budget for piece in pieces)


@given(st.lists(TEXTS, max_size=5), st.integers(min_value=30, max_value=120))
def test_splitting_loses_no_word_keeps_order_and_ids_and_fits(
    texts: list[str], budget: int
) -> None:
    messages = [said(number, text) for number, text in enumerate(texts)]
    parts = split_messages(messages, budget)
    for message in messages:
        pieces = [p.content for part in parts for p in part if p.id == message.id]
        assert pieces
        assert "".join(pieces) == message.content
    ids = [piece.id for part in parts for piece in part]
    assert ids == sorted(ids)
    assert all(sum(map(message_tokens, part)) <= budget for part in parts)


def test_what_fits_stays_in_one_part_and_nothing_makes_no_part() -> None:
    messages = [said(1, "a"), said(2, "b")]
    assert split_messages(messages, 1000) == [messages]
    assert split_messages([], 1000) == []


def test_a_long_message_is_cut_at_a_paragraph_where_there_is_one() -> None:
    text = "word " * 50 + "\n\n" + "more " * 20
    first = next(iter(split_text(text, 80)))
    assert first.endswith("\n\n")


def test_tool_calls_are_shared_out_and_none_is_lost() -> None:
    calls = tuple({"name": f"t{n}", "result": "x" * 200} for n in range(6))
    parts = split_messages([said(1, "y" * 2000, *calls)], 200)
    assert [call for part in parts for piece in part for call in piece.tool_calls] == [*calls]
    assert {piece.id for part in parts for piece in part} == {"msg_1"}


def test_a_budget_below_a_message_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="budget"):
        split_messages([said(1, "a")], MESSAGE_OVERHEAD_TOKENS)
