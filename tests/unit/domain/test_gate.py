from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.advisories import AdvisoryCode, CitedItem, advise
from shared.domain.gate import (
    DEFAULT_MISSING,
    MAX_REFS,
    Assessment,
    Rejection,
    Strategy,
    Verdict,
    check_use,
    normalise_assessment,
)

REFS = [f"event:evt_{n}" for n in range(12)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RAW = st.fixed_dictionaries(
    {},
    optional={
        "verdict": st.sampled_from([*Verdict, "SUFFICIENT", ""]) | JSON,
        "evidence_refs": st.lists(st.sampled_from([*REFS, "raw:zz"]) | JSON, max_size=14) | JSON,
        "fit": st.text(max_size=300) | JSON,
        "missing": st.text(alphabet=" a\n", min_size=150, max_size=300) | JSON,
        "next_strategy": st.sampled_from([*Strategy]) | JSON,
        "surplus": JSON,
    },
)


def as_raw(made: Assessment) -> dict[str, Any]:
    return {
        "verdict": made.verdict,
        "evidence_refs": list(made.evidence_refs),
        "fit": made.fit,
        "missing": made.missing,
        "next_strategy": made.next_strategy,
    }


@given(RAW)
def test_any_json_is_normalised_and_twice_is_as_once(raw: dict[str, Any]) -> None:
    once = normalise_assessment(raw, REFS)
    twice = normalise_assessment(as_raw(once), REFS)
    assert as_raw(twice) == as_raw(once)
    assert twice.rejected == ()


@given(RAW)
def test_sufficient_always_has_evidence_and_answers_and_all_else_names_what_is_missing(
    raw: dict[str, Any],
) -> None:
    made = normalise_assessment(raw, REFS)
    assert set(made.evidence_refs) <= set(REFS)
    assert len(made.evidence_refs) <= MAX_REFS
    if made.verdict is Verdict.SUFFICIENT:
        assert made.evidence_refs
        assert (made.missing, made.next_strategy) == ("", Strategy.ANSWER)
    else:
        assert made.missing
        assert made.next_strategy is not Strategy.ANSWER


def test_each_rejected_ref_tells_its_place_and_reason() -> None:
    raw = {"evidence_refs": ["nope", REFS[0], REFS[0], "", None, "nope", {}]}
    made = normalise_assessment(raw, REFS)
    assert [(r.input_index, r.ref, r.reason) for r in made.rejected] == [
        (0, "nope", Rejection.NOT_IN_BATCH),
        (2, REFS[0], Rejection.DUPLICATE),
        (3, "", Rejection.INVALID_REF),
        (4, "null", Rejection.INVALID_REF),
        (5, "nope", Rejection.DUPLICATE),
        (6, "[object Object]", Rejection.INVALID_REF),
    ]
    assert all(r.detail for r in made.rejected)
    assert made.missing == DEFAULT_MISSING


def test_the_ninth_ref_is_one_too_many() -> None:
    made = normalise_assessment({"evidence_refs": [*REFS[:10], "nope", REFS[0]]}, REFS)
    assert made.evidence_refs == tuple(REFS[:8])
    assert [(r.input_index, r.reason) for r in made.rejected] == [
        (8, Rejection.LIMIT_EXCEEDED),
        (9, Rejection.LIMIT_EXCEEDED),
        (10, Rejection.NOT_IN_BATCH),
        (11, Rejection.DUPLICATE),
    ]


@pytest.mark.parametrize(
    ("verdict", "refs", "strategy", "expected"),
    [
        ("sufficient", [REFS[0]], "answer", ("sufficient", "answer")),
        ("sufficient", [], "answer", ("partial", "search_events")),
        ("sufficient", ["nope"], "answer", ("partial", "search_events")),
        ("sufficient", [REFS[0]], "expand_event", ("partial", "expand_event")),
        ("partial", [REFS[0]], "answer", ("partial", "search_events")),
    ],
)
def test_sufficient_needs_verdict_evidence_and_answer_together(
    verdict: str, refs: list[str], strategy: str, expected: tuple[str, str]
) -> None:
    raw = {"verdict": verdict, "evidence_refs": refs, "next_strategy": strategy, "missing": "x"}
    made = normalise_assessment(raw, REFS)
    assert (made.verdict, made.next_strategy) == expected
    assert made.missing == ("" if expected[0] == "sufficient" else "x")


def test_a_wrong_verdict_stays_wrong_whatever_it_would_do_next() -> None:
    raw = {"verdict": "wrong", "evidence_refs": [REFS[0]], "next_strategy": "answer"}
    made = normalise_assessment(raw, REFS)
    assert (made.verdict, made.next_strategy) == (Verdict.WRONG, Strategy.SEARCH_EVENTS)


def test_use_needs_adopted_refs_of_this_batch() -> None:
    refs = [f" {REFS[0]} ", REFS[0], "  ", "raw:zz", REFS[1], 7]
    check = check_use(refs, batch_refs=REFS, adopted_refs=[REFS[0]])
    assert check.refs == (REFS[0],)
    assert check.duplicates == (REFS[0],)
    assert [(i.input_index, i.ref, i.reason) for i in check.issues] == [
        (2, "  ", Rejection.INVALID_REF),
        (3, "raw:zz", Rejection.NOT_IN_BATCH),
        (4, REFS[1], Rejection.NOT_ADOPTED),
        (5, "7", Rejection.INVALID_REF),
    ]


def test_using_nothing_is_always_in_order() -> None:
    check = check_use([], batch_refs=[], adopted_refs=[])
    assert (check.refs, check.duplicates, check.issues) == ((), (), ())


def cited(text: str, **more: Any) -> CitedItem:
    return CitedItem(ref="event:evt_1", text=text, has_date=more.pop("has_date", False), **more)


def codes(question: str | None, *items: CitedItem, **more: Any) -> list[AdvisoryCode]:
    known: dict[str, Any] = {"pending_blocks": 0, "batch_refs": ["a"], "recent_batches": []}
    return [advisory.code for advisory in advise(question, items, **(known | more))]


@pytest.mark.parametrize(
    "question",
    [
        "When did the larch arrive?",
        "Do you know when it came?",
        "Which day was it?",
        "篱笆是什么时候修好的？",
        "How long ago was that?",
        "what is the delivery date",
    ],
)
def test_a_when_question_without_a_dated_citation_is_told(question: str) -> None:
    assert AdvisoryCode.NO_DERIVABLE_DATE in codes(question, cited("The larch arrived."))
    assert AdvisoryCode.NO_DERIVABLE_DATE not in codes(question, cited("x", has_date=True))


@pytest.mark.parametrize(
    "question", ["What did he say when the larch came?", "Who knows?", "为什么选落叶松？", None]
)
def test_other_questions_ask_for_no_date(question: str | None) -> None:
    assert AdvisoryCode.NO_DERIVABLE_DATE not in codes(question, cited("The larch arrived."))


def test_names_and_numbers_that_no_citation_holds_are_named() -> None:
    question = "Did Anna’s brother Tom order 13 posts for the Miller's fence?"
    (advisory,) = advise(
        question,
        [cited("anna ordered 113 posts for the millers")],
        pending_blocks=0,
        batch_refs=["a"],
        recent_batches=[],
    )
    assert advisory.code is AdvisoryCode.TERM_NOT_CITED
    assert advisory.terms == ("Tom", "Miller", "13")


def test_small_numbers_are_also_found_written_out_and_names_in_chinese_text() -> None:
    assert codes("Does Bob have 2 dogs?", cited("BOB has two dogs")) == []
    assert codes("请问Anna住在《远山》吗？", cited("Anna住在远山村")) == []
    assert codes("请问Anna住在哪？", cited("小王住在远山村")) == [AdvisoryCode.TERM_NOT_CITED]


def test_superseded_and_disputed_citations_and_pending_evidence_are_told() -> None:
    found = codes(
        None, cited("x", status="superseded"), cited("y", in_conflict=True), pending_blocks=2
    )
    assert found == [
        AdvisoryCode.CITED_SUPERSEDED,
        AdvisoryCode.CITED_CONFLICT,
        AdvisoryCode.EVIDENCE_PENDING,
    ]


def test_a_batch_that_adds_nothing_to_the_last_three_says_change_strategy() -> None:
    told = [AdvisoryCode.NO_NEW_REFS]
    assert codes(None, batch_refs=["a"], recent_batches=[["b"], ["a", "c"]]) == told
    assert codes(None, batch_refs=["a", "d"], recent_batches=[["b"], ["a", "c"]]) == []
    assert codes(None, batch_refs=["a"], recent_batches=[["b"], ["c"], ["d"], ["a"]]) == []
    assert codes(None, batch_refs=["a"], recent_batches=[]) == []
