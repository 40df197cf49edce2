from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.fillers import FILLERS, is_filler, remove_fillers, sentence_pieces


@pytest.mark.parametrize("word", sorted(FILLERS))
def test_every_filler_goes_with_its_closing_marks_and_in_any_case(word: str) -> None:
    assert remove_fillers(f"  {word.upper()} !\n") == ""
    assert is_filler(f"{word}。")


@pytest.mark.parametrize(
    "kept", ["hello", "hi", "你好", "okay then", "ok;", "yes please", "好的吧"]
)
def test_greetings_and_near_fillers_stay(kept: str) -> None:
    assert remove_fillers(kept) == kept


def test_full_stops_and_commas_do_not_split() -> None:
    assert remove_fillers("yes. sure, use port 80.") == "yes. sure, use port 80."
    assert sentence_pieces("好的，下周三上线。") == ["好的，下周三上线。"]


def test_kept_sentences_stand_one_a_line_once_a_filler_went() -> None:
    assert remove_fillers("先改配置！ok！再重启！") == "先改配置！\n再重启！"


@given(st.text())
def test_removal_is_stable_and_invents_nothing(text: str) -> None:
    once = remove_fillers(text)
    assert remove_fillers(once) == once
    assert set(once) <= set(text) | {"\n"}
