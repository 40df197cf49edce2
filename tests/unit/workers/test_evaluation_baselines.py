"""The baselines, the intervals and what a context holds, on conversations made up here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workers.evaluation.ablation_effects import effects_of, flat_doubt
from workers.evaluation.ablation_orders import (
    by_words_alone,
    events_reordered,
    without_meaning,
    worth_of_words,
    worth_without_meaning,
    worth_without_weight,
)
from workers.evaluation.abstention import Judged, abstention, doubt_of_reply
from workers.evaluation.asking import Answers
from workers.evaluation.baselines import bm25_of_terms, bm25_of_words, grep, newest, plain_words
from workers.evaluation.baselines_postgres import NoPostgres, local_database, postgres_ranking
from workers.evaluation.bootstrap import Resamples
from workers.evaluation.cells import ALL, Scored, System, cells_of, differences_of
from workers.evaluation.context_evidence import covered, given_by_context, in_context
from workers.evaluation.fitting import Answered, Candidate
from workers.evaluation.measures import Outcome, scores
from workers.evaluation.question_set import (
    Conversation,
    Message,
    Question,
    QuestionSet,
    Turn,
)

SAID = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
LINES = (
    ("Ana", "I painted the kitchen yellow last weekend."),
    ("Ben", "Which colour did you pick?"),
    ("Ana", "My sister moved to Lisbon."),
    ("Ben", "小猫叫小白，很可爱。"),
)
MESSAGES = [
    Message(f"m{n}", "1", "user" if name == "Ana" else "assistant", name, text, SAID)
    for n, (name, text) in enumerate(LINES)
]


def talk(*questions: Question) -> Conversation:
    turns = [Turn({}, MESSAGES[:2], ends_session=False), Turn({}, MESSAGES[2:], ends_session=True)]
    return Conversation("c", turns, questions)


@pytest.mark.parametrize("ranker", [bm25_of_terms, bm25_of_words, grep])
def test_each_baseline_finds_the_message_that_shares_the_telling_words(ranker: Any) -> None:
    ranked = ranker(MESSAGES)
    assert ranked("Where did the sister of Ana move to, Lisbon?")[0] == "m2"
    assert ranked("小白是谁？")[0] == "m3"
    assert ranked("zebra") == []


def test_only_stems_bridge_a_word_s_forms() -> None:
    assert bm25_of_terms(MESSAGES)("Did anybody paint?") == ["m0"]
    assert bm25_of_words(MESSAGES)("Anybody paint") == []


def test_words_are_lower_case_and_han_stands_by_the_character() -> None:
    assert plain_words("Ana's 小猫 CAT") == ["ana", "s", "小", "猫", "cat"]


def test_the_newest_messages_are_taken_until_one_does_not_fit() -> None:
    assert newest(MESSAGES, 10_000).told == {"m0", "m1", "m2", "m3"}
    few = newest(MESSAGES, 25)
    assert few.told == {"m2", "m3"}
    assert few.tokens <= 25
    assert newest(MESSAGES, 1).told == frozenset()


def test_recall_gain_and_rank_count_new_evidence_only() -> None:
    gold = frozenset({"a", "b"})
    events = {"e1": frozenset({"a", "x"}), "e2": frozenset({"a"}), "e3": frozenset({"b"})}
    found = scores(Outcome("1", ["e1", "e2", "e3"], gold, holds=events))
    assert (found["R@1"], found["R@5"], found["full@1"], found["full@5"]) == (0.5, 1.0, 0.0, 1.0)
    assert found["MRR"] == 1.0
    assert found["nDCG@10"] == pytest.approx((1 + 0.5) / (1 + 1 / 1.584962500721156))
    nothing = scores(Outcome("1", [], gold))
    assert {*nothing.values()} == {0.0}


def test_intervals_are_the_same_each_time_and_hold_the_mean() -> None:
    values = [float(n % 3 == 0) for n in range(60)]
    conversations = ["x"] * 30 + ["y"] * 30
    one, again = (Resamples(conversations).interval(values) for _ in range(2))
    assert one == again
    assert one.low < one.mean < one.high
    assert one.low_by_conversation is not None
    assert Resamples(["x"] * 60).interval(values).low_by_conversation is None
    assert Resamples([]).interval([]).mean == 0.0


def test_conversations_that_differ_make_the_wider_interval() -> None:
    values = [1.0] * 30 + [0.0] * 30
    found = Resamples(["x"] * 30 + ["y"] * 30).interval(values)
    assert (found.low_by_conversation, found.high_by_conversation) == (0.0, 1.0)
    assert found.low > 0.3


def rows(*values: float, answerable: bool = True, category: str = "1") -> list[Scored]:
    return [
        Scored(f"q{category}{n}", "c", category, answerable, {"R@10": value})
        for n, value in enumerate(values)
    ]


def test_cells_keep_unanswerable_questions_out_of_the_whole() -> None:
    mixed = [*rows(1.0, 0.0), *rows(1.0, answerable=False, category="5")]
    cells = {c.category: c for c in cells_of([System("s", "messages", mixed)])}
    assert (cells[ALL].mean, cells[ALL].questions) == (0.5, 2)
    assert cells["5"].mean == 1.0
    assert [c.category for c in cells_of([System("s", "messages", mixed, by_category=False)])] == [
        ALL
    ]


def test_differences_are_paired_so_that_a_constant_lead_has_no_width() -> None:
    one, other = System("one", "m", rows(1.0, 0.6)), System("other", "m", rows(0.9, 0.5))
    (found,) = differences_of([(one, other)])
    assert found.mean == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    (effect,) = effects_of("x", {"m": other}, {"m": one})
    assert (effect.whole, effect.without, effect.change) == pytest.approx((0.7, 0.8, 0.1))


def judged(*told: tuple[float, bool]) -> list[Judged]:
    return [
        Judged(str(n), "c", answerable, doubt, warned=doubt >= 0.1)
        for n, (doubt, answerable) in enumerate(told)
    ]


def test_abstention_tells_the_area_and_what_the_gate_warned_of() -> None:
    found = abstention(judged((0.5, False), (0.0, False), (-0.4, True), (0.2, True)))
    assert found is not None
    assert (found.area, found.unanswerable, found.agreement) == (0.75, 2, 1.0)
    assert (found.unanswerable_warned, found.answerable_warned) == (0.5, 0.5)
    assert abstention(judged((0.5, True))) is None


def test_without_a_gate_nothing_is_told_apart() -> None:
    area, caught, alarm = flat_doubt("no-gate", judged((0.5, False), (-0.4, True)))
    assert (area.measure, area.whole, area.without, area.change) == ("area", 1.0, 0.5, -0.5)
    assert (caught.whole, caught.change, alarm.change) == (1.0, -1.0, 0.0)
    assert flat_doubt("no-gate", judged((0.5, True))) == []


def hit(name: str, score: float, speaker: float) -> dict[str, Any]:
    card = {"turn": 1, "content": "We went to Lisbon."}
    signals = {"words": score - speaker, "speaker": speaker}
    return {
        "message_id": name,
        "thread_id": "main",
        "role": "user",
        "name": name,
        "message": card,
        "signals": signals,
        "rank_score": score,
    }


def test_doubt_is_worked_out_from_a_reply_as_the_gate_does() -> None:
    behind = [hit("Ben", 0.9, 0.0), hit("Ana", 0.8, 0.35)]
    assert doubt_of_reply("What did Ana see in Lisbon?", behind) == pytest.approx(0.5)
    assert doubt_of_reply("What did Ana see in Lisbon?", []) == 1.0


def test_a_context_holds_what_its_text_its_tail_and_its_events_tell() -> None:
    reply = {
        "blocks": [
            {
                "turn_range": [1, 1],
                "content": "Ana painted the kitchen yellow last weekend",
                "tokens": 10,
                "header": "h",
            }
        ],
        "open_tail": [
            {"metadata": {"dia_id": "m2"}, "name": None, "role": "user", "content": "My sister"}
        ],
        "activated": {"text": 'see {"id":"evt_1a-2b"}', "tokens": 5},
    }
    given = given_by_context(reply, talk(), {"evt_1a-2b": frozenset({"m3"})})
    assert given.told == {"m0", "m2", "m3"}
    assert given.tokens > 15
    found = in_context(given, frozenset({"m0", "m1"}))
    assert (found["evidence"], found["full"]) == (0.5, 0.0)


def test_events_name_their_messages_once_in_their_order() -> None:
    sources = {"e1": frozenset({"b"}), "e2": frozenset({"a", "b"})}
    assert covered(["e1", "unknown", "e2"], sources) == ["b", "a"]


def test_a_database_that_is_not_there_is_a_reason_and_no_failure() -> None:
    with pytest.raises(NoPostgres, match=r"."):
        postgres_ranking("postgresql://nobody@127.0.0.1:1/none", QuestionSet("x", "0", [talk()]))


def test_the_local_stack_s_database_is_found_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert local_database("postgresql://else") == "postgresql://else"
    state = tmp_path / ".stratagate" / "instance.json"
    state.parent.mkdir()
    state.write_text('{"status": "ready", "database_url": "postgresql://here"}', "utf-8")
    assert local_database("postgresql://else") == "postgresql://here"
    state.write_text('{"status": "stopped", "database_url": "postgresql://here"}', "utf-8")
    assert local_database("postgresql://else") == "postgresql://else"


def test_an_order_without_vectors_drops_what_only_they_found() -> None:
    found = (
        Candidate("alike", {"meaning": 0.4, "speaker": 0.35}),
        Candidate("said", {"words": 0.5, "meaning": 0.1}),
        Candidate("told", {"events": 0.15, "speaker": 0.35, "meaning": 0.2}),
    )
    one = Answered("c", "1", frozenset({"said"}), found)
    assert without_meaning(one).ranked == ["said", "told"]
    assert by_words_alone(one).ranked[0] == "said"


def test_events_are_put_in_another_order_by_their_signals() -> None:
    cards = [
        {"event_id": "heavy", "signals": {"words": 0.5, "weight": 0.1}},
        {"event_id": "alike", "signals": {"meaning": 0.4, "weight": 0.1}},
        {"event_id": "light", "signals": {"words": 0.55}},
    ]
    outcome = Outcome("1", ["heavy", "light", "alike"], frozenset({"m"}))
    answers = Answers(events=[outcome], event_cards=[cards])
    (lighter,) = events_reordered(answers, worth_without_weight)
    assert lighter.ranked == ["light", "heavy", "alike"]
    (unlike,) = events_reordered(answers, worth_without_meaning)
    assert unlike.ranked == ["heavy", "light"]
    (worded,) = events_reordered(answers, worth_of_words)
    assert worded.ranked == ["light", "heavy", "alike"]
