from __future__ import annotations

import pytest

from shared.domain.locomo import locomo_questions
from workers.evaluation.fitting import (
    Answered,
    Candidate,
    fit,
    fitted_outcomes,
    outcome_of,
    without,
)
from workers.evaluation.measures import Outcome, area_under_curve, measured, summarise


def test_recall_full_recall_and_reciprocal_rank_are_means_over_questions() -> None:
    rows = [
        Outcome("1", ["x", "a", "y"], frozenset({"a", "b"})),
        Outcome("4", ["c"], frozenset({"c"})),
    ]
    found = measured(rows)
    assert (found.questions, found.recall[1], found.recall[10]) == (2, 0.5, 0.75)
    assert found.full[10] == 0.5
    assert found.reciprocal_rank == 0.75


def test_unanswerable_questions_stand_apart() -> None:
    rows = [
        Outcome("1", ["a"], frozenset("a")),
        Outcome("5", ["x"], frozenset("a"), answerable=False),
    ]
    summary = summarise(rows)
    assert summary.overall.recall[10] == 1.0
    assert summary.by_category["5"].recall[10] == 0.0


def test_the_area_under_the_curve_counts_won_pairs() -> None:
    assert area_under_curve([(0.9, True), (0.1, False)]) == 1.0
    assert area_under_curve([(0.1, True), (0.9, False)]) == 0.0
    assert area_under_curve([(0.5, True), (0.5, False)]) == 0.5
    assert area_under_curve([(0.5, True)]) == 0.5


def answered(conversation: str, gold: str) -> Answered:
    """A question where the signal `noise` leads and `sense` knows."""
    shown = [
        Candidate(f"{conversation}{n}", {"noise": 1.0 - n / 10, "sense": 0.0}) for n in range(5)
    ]
    shown.append(Candidate(gold, {"noise": 0.2, "sense": 0.3}))
    return Answered(conversation, "1", frozenset({gold}), tuple(shown))


def test_fitting_finds_the_signal_that_tells_and_leaves_the_asked_conversation_out() -> None:
    rows = [answered("x", "gx"), answered("y", "gy")]
    factors = fit(rows)
    assert factors["sense"] > 1 > factors["noise"]
    assert outcome_of(rows[0]).ranked[0] != "gx"
    assert [one.ranked[0] for one in fitted_outcomes(rows)] == ["gx", "gy"]
    assert without(rows, "noise")[0].ranked[0] == "gx"


def test_fitting_on_nothing_changes_nothing() -> None:
    assert fit([]) == {}


def test_evidence_is_read_however_it_was_written() -> None:
    said = [{"speaker": "A", "text": "x", "dia_id": f"D2:{n}"} for n in range(1, 7)]
    sample = {
        "sample_id": "s",
        "conversation": {"speaker_a": "A", "speaker_b": "B", "session_2": said},
        "qa": [
            {"question": q, "category": 1, "evidence": evidence}
            for q, evidence in (
                ("one", ["D2:1; D2:3"]),
                ("range", ["D2:3-D2:5"]),
                ("zero", ["D:2:06"]),
                ("none", ["D9:1"]),
                ("empty", []),
            )
        ],
    }
    found = {question.text: question.evidence for question in locomo_questions(sample)}
    assert found == {
        "one": {"D2:1", "D2:3"},
        "range": {"D2:3", "D2:4", "D2:5"},
        "zero": {"D2:6"},
    }


@pytest.mark.parametrize("cut", [1, 5])
def test_no_questions_measure_zero(cut: int) -> None:
    assert measured([]).recall[cut] == 0.0
