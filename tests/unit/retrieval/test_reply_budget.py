from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from retrieval.message_cards import MAX_EXCERPT, excerpt
from retrieval.reply_budget import fitting_items, reply_tokens


def _reply(items: list[str], truncated: bool) -> dict[str, Any]:
    return {"items": items, "truncated": truncated}


@given(st.lists(st.text(max_size=40), max_size=12), st.integers(20, 200))
def test_the_longest_head_that_fits_is_kept(items: list[str], limit: int) -> None:
    kept, truncated = fitting_items(items, _reply, limit)
    assert kept == items[: len(kept)]
    assert truncated == (len(kept) < len(items))
    assert reply_tokens(_reply(kept, truncated)) <= limit
    if truncated:
        longer = items[: len(kept) + 1]
        assert reply_tokens(_reply(longer, len(longer) < len(items))) > limit


def test_without_a_limit_everything_stays() -> None:
    assert fitting_items(["a"] * 500, _reply, None) == (["a"] * 500, False)


@given(st.text(max_size=1_500), st.text(min_size=1, max_size=5))
def test_an_excerpt_is_bounded_and_a_short_text_is_whole(text: str, word: str) -> None:
    shown = excerpt(text, (word,))
    assert len(shown) <= MAX_EXCERPT
    if len(text) <= MAX_EXCERPT:
        assert shown == text
