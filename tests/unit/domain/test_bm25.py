import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.bm25 import (
    Bm25Stats,
    bm25_scores,
    inverse_document_frequency,
    score_document,
    weighted_tokens,
)

DOCUMENTS = {"d1": ["a", "b"], "d2": ["a", "a", "c", "d"], "d3": ["e"]}


def test_the_score_is_the_formula_worked_by_hand() -> None:
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    length = 1 - 0.75 + 0.75 * 2 / (7 / 3)
    assert bm25_scores(["a"], DOCUMENTS)["d1"] == pytest.approx(idf * 2.2 / (1 + 1.2 * length))


def test_best_first_ties_by_id_and_no_scores_of_zero() -> None:
    tied = {"x_2": ["a"], "x_1": ["a"], "x_3": ["b"]}
    assert list(bm25_scores(["a"], tied)) == ["x_1", "x_2"]
    assert list(bm25_scores(["a"], DOCUMENTS)) == ["d2", "d1"]


def test_a_query_term_counts_once() -> None:
    assert bm25_scores(["a", "a"], DOCUMENTS) == bm25_scores(["a"], DOCUMENTS)


def test_nothing_to_search_gives_nothing() -> None:
    assert bm25_scores(["a"], {}) == {}
    assert bm25_scores([], DOCUMENTS) == {}
    assert bm25_scores(["a"], {"empty": []}) == {}


def test_a_term_held_by_all_still_never_counts_against_a_document() -> None:
    assert inverse_document_frequency(3, 3) > 0
    assert inverse_document_frequency(3, 9) == inverse_document_frequency(3, 3)


def test_a_query_weight_scales_a_term_and_zero_silences_it() -> None:
    stats = Bm25Stats(3, 7 / 3, {"a": 2})
    full = score_document({"a": 1}, 2, stats=stats, query_weights={"a": 1.0})
    assert score_document({"a": 1}, 2, stats=stats, query_weights={"a": 0.4}) == pytest.approx(
        0.4 * full
    )
    assert score_document({"a": 1}, 2, stats=stats, query_weights={"a": 0.0}) == 0


@given(
    st.dictionaries(
        st.text("xyz", min_size=1, max_size=3), st.lists(st.sampled_from("abc")), max_size=6
    ),
    st.lists(st.sampled_from("abcd")),
)
def test_statistics_and_documents_in_hand_agree(
    documents: dict[str, list[str]], query: list[str]
) -> None:
    lengths = [len(tokens) for tokens in documents.values()]
    stats = Bm25Stats(
        document_count=len(documents),
        average_length=sum(lengths) / len(lengths) if lengths else 0.0,
        document_frequencies=Counter(t for tokens in documents.values() for t in set(tokens)),
    )
    scores = bm25_scores(query, documents, k1=0.9, b=0.4)
    for name, tokens in documents.items():
        one = score_document(
            Counter(tokens), len(tokens), stats=stats, query_weights=dict.fromkeys(query, 1.0)
        )
        assert one == pytest.approx(scores.get(name, 0.0))


def test_a_field_repeats_by_its_weight_and_at_least_once() -> None:
    fields = [(["a", "b"], 2.9), (["c"], 0.2), ([], 5)]
    assert weighted_tokens(fields) == ["a", "b", "a", "b", "c"]
