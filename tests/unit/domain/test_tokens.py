from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from icu4py.breakers import WordBreaker

from shared.domain.ordering import collation_key
from shared.domain.tokens import fuzzy_match, normalise, reference_tokens, words

ANY_TEXT = st.text(st.characters(), max_size=80)  # lone surrogates and unassigned included


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snake_case 3.14 node.js", ["snake_case", "3.14", "node.js"]),
        ("don't v1.2.3 1,000", ["don't", "v1.2.3", "1,000"]),
        ("foo@example.com a-b/c+d", ["foo", "example.com", "a", "b", "c", "d"]),
        ("10:30 👍🏽 emoji😀word", ["10", "30", "emoji", "word"]),
        ("数据库使用", ["数据", "库", "使用"]),
        ("ภาษาไทย", ["ภาษา", "ไทย"]),
    ],
)
def test_words_follow_the_unicode_word_break(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("々", []), ("a々", ["a"]), ("人々", ["人々"]), ("_ __", ["__"]), ("½", ["1⁄2"])],
)
def test_what_counts_as_a_word_where_letters_are_missing(text: str, expected: list[str]) -> None:
    assert list(words(normalise(text))) == expected


def test_a_run_of_han_gives_pairs_and_a_lone_one_itself() -> None:
    assert reference_tokens("数据库 2月")[-3:] == ["han2:数据", "han2:据库", "han1:月"]


@given(ANY_TEXT)
def test_any_text_has_tokens_of_the_two_families_and_none_is_blank(text: str) -> None:
    for token in reference_tokens(text):
        family, _, term = token.partition(":")
        assert family in {"word", "han1", "han2"}
        assert term.strip()


@given(ANY_TEXT)
def test_words_are_pieces_of_the_text_in_order(text: str) -> None:
    normalised = normalise(text)
    at = 0
    for word in words(normalised):
        if "\ufffd" in word:  # stands for a lone surrogate
            continue
        at = normalised.index(word, at) + len(word)


def test_a_name_matches_when_either_contains_the_other() -> None:
    assert fuzzy_match("Alice Chen", "ＡＬＩＣＥ")
    assert fuzzy_match("ali", "Alice")
    assert not fuzzy_match("Bob", "Alice")
    assert not fuzzy_match("", "x")
    assert not fuzzy_match("x", "  ")


def test_ids_order_by_collation_underscore_first_lower_case_before_upper() -> None:
    ids = ["evtB", "evta", "evt-1", "evt_2", "evtb", "evt1", "evt_10"]
    assert sorted(ids, key=collation_key) == [
        "evt_10",
        "evt_2",
        "evt-1",
        "evt1",
        "evta",
        "evtb",
        "evtB",
    ]


WORD_SIGNS = "ab1_ :.',;-\"\n\x00\r!" + "é中かカ々ไ\u0301\u200d\u00ad\u00a0\u3000👍🏽א״\u2019ᄀ"


@given(st.text(WORD_SIGNS, max_size=20) | ANY_TEXT | st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_plain_words_cuts_as_the_unicode_word_break_does(text: str) -> None:
    def told(segments: Iterable[str]) -> list[str]:
        return [one for one in segments if any(map(str.isalpha, one)) and one not in "々〻"]

    whole = WordBreaker(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), "en")
    assert told(words(text)) == told(whole)
