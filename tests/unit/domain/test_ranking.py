from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.blocks import rank_blocks
from shared.domain.ranking.messages import Ranked, rank_messages
from shared.domain.ranking.question import named_speakers, read_question, said_then
from shared.domain.ranking.said import Said, beside_each, sittings
from shared.domain.ranking.unanswerable import DOUBTFUL, doubt_of
from shared.domain.ranking.weights import SHIPPED, Signal
from shared.domain.ranking.wording import fullness, share_of_questions, tells_time
from shared.domain.search_terms import search_terms

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def message(
    name: str,
    content: str,
    turn: int = 1,
    *,
    position: int = 0,
    speaker: str | None = None,
    role: str = "user",
    said_at: datetime | None = NOON,
    events: float = 0.0,
) -> Said:
    counts = {term: float(count) for term, count in Counter(search_terms(content)).items()}
    length = sum(counts.values())
    place = (name, "main", turn, position, role, speaker, said_at, content)
    return Said(*place, counts, length, events)


def search(question: str, *messages: Said) -> list[Ranked]:
    asked = read_question(question)
    held = [
        Said(
            m.id,
            m.thread,
            m.turn,
            m.position,
            m.role,
            m.speaker,
            m.said_at,
            m.content,
            {t: n for t, n in m.held.items() if t in asked.terms},
            m.length,
            m.events,
        )
        for m in messages
    ]
    stats = Bm25Stats(
        document_count=len(held),
        average_length=sum(m.length for m in held) / len(held),
        document_frequencies=Counter(t for m in held for t in m.held),
    )
    return rank_messages(asked, held, stats=stats)


def order(question: str, *messages: Said) -> list[str]:
    return [one.said.id for one in search(question, *messages)]


def far(turn: int) -> datetime:
    """An instant that shares no sitting with another turn's."""
    return NOON + timedelta(days=turn)


def test_an_answer_is_found_by_the_words_of_the_question_before_it() -> None:
    found = search(
        "Where is the telescope?",
        message("asks", "Where is the telescope?", 1),
        message("answers", "In the attic, behind the boxes.", 1, position=1),
        message("later", "The boxes are heavy.", 5, said_at=far(5)),
    )
    assert {one.said.id for one in found} == {"asks", "answers"}
    answer = next(one for one in found if one.said.id == "answers")
    assert answer.signals[Signal.WORDS] > 0
    assert answer.signals[Signal.COVERAGE] == 0
    assert answer.signals[Signal.ANSWERS] == 1.0


def test_messages_over_six_hours_apart_lend_each_other_nothing() -> None:
    asks = message("asks", "Where is the telescope?", 1)
    late = NOON + timedelta(hours=6, seconds=1)
    assert order("telescope", asks, message("late", "In the attic.", 2, said_at=late)) == ["asks"]
    timely = message("timely", "In the attic.", 2, said_at=NOON + timedelta(hours=6))
    assert set(order("telescope", asks, timely)) == {"asks", "timely"}


def test_a_turn_that_is_not_loaded_is_no_neighbour() -> None:
    [sitting] = sittings([message("a", "One.", 1), message("b", "Two.", 3)])
    assert beside_each(sitting)[0].following is None
    [sitting] = sittings([message("a", "One.", 1), message("b", "Two.", 2), message("c", "3", 3)])
    assert beside_each(sitting)[2].before_previous == sitting[0]


def test_the_one_before_the_previous_lends_less_than_the_previous() -> None:
    found = search(
        "telescope",
        message("hit", "The telescope came.", 1),
        message("next", "It is heavy indeed.", 2),
        message("after", "It is heavy indeed.", 3),
        message("last", "It is heavy indeed.", 4),
    )
    words = {one.said.id: one.signals[Signal.WORDS] for one in found}
    assert words["hit"] > words["next"] > words["after"] > 0
    assert "last" not in words


def test_the_named_speaker_is_favoured_and_nobody_where_all_are_named() -> None:
    both = (
        message("ann", "The comet was bright.", 1, speaker="Ann", said_at=far(1)),
        message("bo", "The comet was bright.", 9, speaker="Bo", said_at=far(9)),
    )
    assert order("What did Ann see of the comet?", *both) == ["ann", "bo"]
    assert order("What did Bo see of the comet?", *both) == ["bo", "ann"]
    asked = read_question("Did Ann and Bo see it?")
    assert named_speakers(asked, {"Ann", "Bo"}) == frozenset()
    assert named_speakers(asked, {"Ann", "Bo", "Cy"}) == {"Ann", "Bo"}


def test_unnamed_sides_are_told_by_i_and_you() -> None:
    both = (
        message("said", "A cactus needs sun.", 1, said_at=far(1)),
        message("told", "A cactus needs sun.", 9, role="assistant", said_at=far(9)),
    )
    assert order("What did I say about my cactus?", *both) == ["said", "told"]
    assert order("What did you recommend about the cactus?", *both) == ["told", "said"]
    assert read_question("你推荐了什么？").role == "assistant"
    assert read_question("我的仙人掌").role == "user"
    assert read_question("Which cactus?").role is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("I went there yesterday.", True),
        ("It was in March.", True),
        ("我们上周去了。", True),
        ("三月八日", True),
        ("The dog is brown.", False),
        ("狗是棕色的。", False),
    ],
)
def test_a_told_time_is_recognised(content: str, expected: bool) -> None:
    assert tells_time(content) is expected


def test_a_when_question_favours_a_message_that_tells_a_time() -> None:
    both = (
        message("plain", "We saw the comet there.", 9, said_at=far(9)),
        message("timed", "We saw the comet yesterday.", 1, said_at=far(1)),
    )
    assert order("When was the comet seen?", *both) == ["timed", "plain"]
    assert Signal.TELLS_TIME not in search("Who saw the comet?", *both)[0].signals


def test_the_month_and_year_asked_for_count_and_half_so_the_month_after() -> None:
    asked = read_question("What happened in March 2026?")
    assert (asked.months, asked.years) == ({3}, {2026})
    assert said_then(asked, datetime(2026, 3, 31, tzinfo=UTC)) == 1.0
    assert said_then(asked, datetime(2026, 4, 1, tzinfo=UTC)) == 0.5
    assert said_then(asked, datetime(2026, 5, 1, tzinfo=UTC)) == 0.0
    assert said_then(asked, datetime(2025, 3, 1, tzinfo=UTC)) == 0.0
    assert said_then(asked, None) == 0.0
    assert said_then(read_question("in December?"), datetime(2026, 1, 1, tzinfo=UTC)) == 0.5
    assert said_then(read_question("When?"), NOON) == 0.0


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("In May?", {5}),
        ("It may rain", set()),
        ("in june", {6}),
        ("2026年12月", {12}),
        ("十一月", {11}),
        ("三个月", set()),
    ],
)
def test_months_are_read_in_english_and_chinese(question: str, months: set[int]) -> None:
    assert read_question(question).months == months


def test_a_sitting_with_the_best_hits_speaks_for_its_messages() -> None:
    found = search(
        "telescope lens",
        message("rich", "The telescope lens is new.", 1, said_at=far(1)),
        message("richer", "The telescope lens is clean.", 2, said_at=far(1)),
        message("alone", "The telescope.", 9, said_at=far(9)),
    )
    sitting = {one.said.id: one.signals[Signal.SITTING] for one in found}
    assert sitting["rich"] == sitting["richer"] == 1.0 > sitting["alone"] > 0


def test_one_sitting_alone_says_nothing() -> None:
    found = search("telescope", message("a", "The telescope."), message("b", "Indeed.", 2))
    assert all(Signal.SITTING not in one.signals for one in found)


def test_a_message_that_only_asks_falls_behind_one_that_tells() -> None:
    assert share_of_questions("Really? Where? 真的吗？") == 1.0
    assert share_of_questions("Really? Yes.") == 0.5
    assert share_of_questions("no end") == 0.0
    assert order(
        "comet",
        message("asks", "A bright comet there?", 9, said_at=far(9)),
        message("tells", "A bright comet there.", 1, said_at=far(1)),
    ) == ["tells", "asks"]


def test_length_counts_the_same_in_either_script() -> None:
    assert fullness("x" * 300) == fullness("字" * 100) == fullness("x" * 999) == 1.0
    assert fullness("x" * 150) == fullness("字" * 50) == 0.5


def test_coverage_counts_rare_words_most() -> None:
    found = search(
        "garden telescope",
        message("rare", "The telescope.", 1, said_at=far(1)),
        message("common", "The garden.", 3, said_at=far(3)),
        message("other", "A garden.", 5, said_at=far(5)),
    )
    covered = {one.said.id: one.signals[Signal.COVERAGE] for one in found}
    assert 1 > covered["rare"] > covered["common"] == covered["other"] > 0


def test_a_matching_event_makes_a_message_a_hit_though_it_shares_no_word() -> None:
    found = search(
        "telescope",
        message("taken", "I put it up there.", 1, events=2.0, said_at=far(1)),
        message("other", "The dog is brown.", 3, said_at=far(3)),
    )
    assert [one.said.id for one in found] == ["taken"]
    assert found[0].signals[Signal.EVENTS] == 1.0


def test_a_score_is_the_sum_of_its_weighted_signals() -> None:
    for one in search(
        "When did Ann see the comet in March?",
        message("a", "Which comet?", 1, speaker="Bo"),
        message("b", "The comet, yesterday.", 1, position=1, speaker="Ann"),
    ):
        assert one.score == pytest.approx(sum(SHIPPED[s] * v for s, v in one.signals.items()))
        assert all(0 <= value <= 1 for value in one.signals.values())


def test_equal_scores_put_the_later_message_first() -> None:
    older = message("older", "The comet.", 1, said_at=far(1))
    newer = message("newer", "The comet.", 9, said_at=far(9))
    assert order("comet", older, newer) == order("comet", newer, older) == ["newer", "older"]


def test_nothing_asked_or_found_ranks_nothing() -> None:
    assert search("???", message("a", "The comet.")) == []
    assert search("telescope", message("a", "The comet.")) == []


def test_a_block_is_worth_its_messages_together_and_one_answer_outweighs_many_weak_ones() -> None:
    ranked = search(
        "telescope attic key",
        message("full", "The telescope, the attic and the key.", 1, said_at=far(1)),
        *(message(f"weak{i}", "The key.", i, said_at=far(i)) for i in range(3, 13, 2)),
    )
    where = {one.said.id: "weak" for one in ranked} | {"full": "strong"}
    first, second = rank_blocks(ranked, where)
    assert (first.block_id, second.block_id) == ("strong", "weak")
    assert first.score == pytest.approx(1.0)
    assert [one.said.id for one in first.messages] == ["full"]
    assert len(second.messages) == 5
    assert rank_blocks(ranked, {}) == []


def test_doubt_grows_where_somebody_else_said_it() -> None:
    said = (
        message("ann", "My dog is brown.", 1, speaker="Ann", said_at=far(1)),
        message("bo", "My telescope has a new lens.", 9, speaker="Bo", said_at=far(9)),
        message("ann2", "A new one?", 9, position=1, speaker="Ann", said_at=far(9)),
    )
    wrong, right = "What lens has Ann's telescope?", "What lens has Bo's telescope?"
    doubts = [doubt_of(q, read_question(q), search(q, *said)) for q in (wrong, right)]
    assert doubts[0].score > DOUBTFUL > doubts[1].score
    assert doubts[0].margin < 0 < doubts[1].margin
    assert [doubt.is_likely_unanswerable for doubt in doubts] == [True, False]


def test_doubt_names_what_no_hit_holds() -> None:
    said = message("a", "The telescope is in the attic.", said_at=NOON)
    question = "Did Wanda sell the telescope in July?"
    doubt = doubt_of(question, read_question(question), search(question, said))
    assert "Wanda" in doubt.missing
    assert doubt.is_other_time
    assert doubt.is_likely_unanswerable
    plain = "Where is the telescope?"
    assert doubt_of(plain, read_question(plain), search(plain, said)).score == 0.0


def test_no_hits_at_all_are_full_doubt() -> None:
    assert doubt_of("comet", read_question("comet"), []).score == 1.0
