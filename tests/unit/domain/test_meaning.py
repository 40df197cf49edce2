from __future__ import annotations

import pytest

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.meaning import Likeness, scaled_likeness
from shared.domain.ranking.messages import Ranked, rank_messages
from shared.domain.ranking.question import read_question
from shared.domain.ranking.said import Near, Said
from shared.domain.ranking.weights import SHIPPED, Signal


def said(name: str, turn: int) -> Said:
    return Said(name, "main", turn, 0, "user", None, None, "something else", {}, 2.0)


def ranked(likeness: Likeness | None, *names: str) -> list[Ranked]:
    stats = Bm25Stats(document_count=4, average_length=2.0, document_frequencies={})
    messages = [said(name, 10 * turn) for turn, name in enumerate(names)]
    return rank_messages(read_question("a dog"), messages, stats=stats, likeness=likeness)


def test_a_cosine_is_smoothed_over_the_messages_right_beside() -> None:
    likeness = Likeness({"a": 0.8, "b": 0.4, "c": 0.2}, lowest=0.1)
    beside = Near(previous=said("a", 1), following=said("c", 3), before_previous=None)
    assert likeness.smoothed("b", beside) == pytest.approx((0.4 + 0.5 * 0.8 + 0.5 * 0.2) / 2)
    assert likeness.smoothed("b", Near(previous=said("new", 1))) == pytest.approx(0.4)
    assert likeness.smoothed("new", beside) is None


def test_likeness_runs_from_the_least_alike_of_all_to_the_best_found() -> None:
    assert scaled_likeness({"a": 0.9, "b": 0.5}, lowest=0.1) == {
        "a": 1.0,
        "b": pytest.approx(0.5),
    }
    assert scaled_likeness({"a": 0.3}, lowest=0.3) == {"a": 1.0}
    assert scaled_likeness({}, lowest=0.3) == {}


def test_without_likeness_a_message_without_a_word_is_not_ranked_and_with_it_by_meaning() -> None:
    assert ranked(None, "near", "far") == []
    found = ranked(Likeness({"near": 0.9, "far": 0.2}, lowest=0.1), "far", "near")
    assert [one.said.id for one in found] == ["near", "far"]
    assert found[0].score - found[1].score == pytest.approx(
        SHIPPED[Signal.MEANING] * (1 - found[1].signals[Signal.MEANING])
    )
