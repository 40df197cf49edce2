from __future__ import annotations

import time
from datetime import UTC, date, datetime

import pytest

from shared.domain.temporal import (
    Basis,
    CitedText,
    Precision,
    TemporalClaim,
    TemporalStatus,
    TimeExpression,
    check_claim,
    reading,
    resolve,
)

PARIS = datetime.fromisoformat("2024-05-20T18:00:00+02:00")
POTTERY = CitedText("Yesterday I finished the pottery course.", PARIS, "Europe/Paris")


def test_a_model_that_counted_from_its_own_clock_is_corrected() -> None:
    claim = TemporalClaim("2026-08-31", precision="day", original_text="Yesterday")
    checked = check_claim(claim, [POTTERY])
    assert (checked.start, checked.end) == (date(2024, 5, 19), date(2024, 5, 19))
    assert (checked.precision, checked.basis) == (Precision.DAY, Basis.RELATIVE)
    assert checked.original_text == "Yesterday"
    assert "replaced" in checked.notes
    assert checked.zone == "Europe/Paris"


def test_a_right_claim_passes_without_a_note() -> None:
    claim = TemporalClaim("2024-05-19", "2024-05-19", "day", "relative", "yesterday", "occurred")
    checked = check_claim(claim, [POTTERY])
    assert (checked.start, checked.notes) == (date(2024, 5, 19), ())
    assert checked.status is TemporalStatus.OCCURRED


def test_a_date_without_words_for_it_becomes_unknown() -> None:
    plain = CitedText("I finished the pottery course.", PARIS, "Europe/Paris")
    checked = check_claim(TemporalClaim("2024-05-20", precision="day"), [plain])
    assert (checked.start, checked.end, checked.precision) == (None, None, Precision.UNKNOWN)
    assert checked.notes == ("not_derivable",)


def test_words_that_give_no_date_are_kept() -> None:
    vague = CitedText("I finished it recently.", PARIS, "Europe/Paris")
    claim = TemporalClaim("2024-05-01", precision="month", original_text="recently")
    checked = check_claim(claim, [vague])
    assert (checked.start, checked.precision) == (None, Precision.UNKNOWN)
    assert checked.original_text == "recently"
    assert checked.notes == ("not_derivable",)


def test_wording_foreign_to_the_source_does_not_make_a_date() -> None:
    plain = CitedText("I finished the pottery course.", PARIS, "Europe/Paris")
    claim = TemporalClaim("2024-05-19", precision="day", original_text="the day before")
    checked = check_claim(claim, [plain])
    assert (checked.start, checked.original_text) == (None, "the day before")
    assert checked.notes == ("wording_not_in_source", "not_derivable")


def test_foreign_wording_for_a_date_that_the_source_gives_is_replaced_by_its_words() -> None:
    claim = TemporalClaim("2024-05-19", precision="day", original_text="the day before")
    checked = check_claim(claim, [POTTERY])
    assert (checked.start, checked.original_text) == (date(2024, 5, 19), "Yesterday")
    assert "wording_not_in_source" in checked.notes


def test_no_claim_and_no_wording_stays_unknown_even_beside_a_date() -> None:
    checked = check_claim(TemporalClaim(), [POTTERY])
    assert (checked.start, checked.precision, checked.notes) == (None, Precision.UNKNOWN, ())


def test_among_several_expressions_the_claimed_one_is_taken() -> None:
    said = CitedText(
        "Last week I sailed; on Friday it stormed.", datetime(2026, 3, 2, 8, tzinfo=UTC)
    )
    checked = check_claim(TemporalClaim("2026-02-27", precision="day"), [said])
    assert (checked.start, checked.original_text) == (date(2026, 2, 27), "Friday")
    week = check_claim(TemporalClaim("2026-02-23", "2026-03-01", "range"), [said])
    assert (week.start, week.end, week.precision) == (
        date(2026, 2, 23),
        date(2026, 3, 1),
        Precision.RANGE,
    )


def test_the_cited_message_that_holds_the_words_sets_the_clock() -> None:
    later = CitedText("Right, yesterday.", datetime(2024, 6, 1, 9, tzinfo=UTC))
    claim = TemporalClaim("2024-05-31", original_text="yesterday")
    assert check_claim(claim, [later, POTTERY]).start == date(2024, 5, 31)


INVERTED = TemporalClaim("2026-05-10", "2026-05-01", "day", "explicit", "10 to 1 May")


def test_an_inverted_range_loses_its_end() -> None:
    # date-10, where the source says it backwards as well
    said = CitedText("The fair ran from 10 to 1 May.", datetime(2026, 6, 1, 9, tzinfo=UTC))
    checked = check_claim(INVERTED, [said])
    assert (checked.start, checked.end) == (date(2026, 5, 10), None)
    assert "inverted_range" in checked.notes


def test_an_inverted_claim_without_support_is_unknown_and_noted() -> None:
    # date-10, where only the model said it
    said = CitedText("The fair was lovely.", datetime(2026, 6, 1, 9, tzinfo=UTC))
    checked = check_claim(INVERTED, [said])
    assert (checked.start, checked.end, checked.precision) == (None, None, Precision.UNKNOWN)
    assert "inverted_range" in checked.notes


@pytest.mark.parametrize("impossible", ["2024-02-30", "2023-02-29", "2024-13-01", "May-ish"])
def test_an_impossible_date_is_refused_and_never_rolled_over(impossible: str) -> None:
    plain = CitedText("The lease ends then.", PARIS, "Europe/Paris")
    checked = check_claim(TemporalClaim(impossible, precision="day"), [plain])
    assert checked.start is None
    assert "impossible_date" in checked.notes


def test_an_impossible_date_in_the_source_stays_unknown_with_its_words() -> None:
    said = CitedText("The lease ends on 30 February 2025.", PARIS, "Europe/Paris")
    claim = TemporalClaim("2025-03-02", original_text="30 February 2025")
    checked = check_claim(claim, [said])
    assert (checked.start, checked.original_text) == (None, "30 February 2025")
    assert "impossible_date" in checked.notes


def test_a_plan_stays_a_plan_and_the_future_has_not_occurred() -> None:
    said = CitedText("We will open the shop next month.", PARIS, "Europe/Paris")
    claim = TemporalClaim("2024-06-01", original_text="next month", status="occurred")
    assert check_claim(claim, [said]).status is TemporalStatus.PLANNED
    kept = CitedText("We meant to open last month.", PARIS, "Europe/Paris")
    plan = TemporalClaim("2024-04-01", original_text="last month", status="planned")
    assert check_claim(plan, [kept]).status is TemporalStatus.PLANNED


def test_wording_is_matched_after_nfkc_and_whitespace_folding() -> None:
    said = CitedText("We met  last\u00a0Friday　in Lyon.", PARIS, "Europe/Paris")
    checked = check_claim(TemporalClaim("2024-05-17", original_text="last Friday"), [said])
    assert checked.start == date(2024, 5, 17)


def test_chinese_wording_is_checked_the_same_way() -> None:
    said = CitedText("上周三我去了医院。", datetime(2026, 3, 18, 10, tzinfo=UTC), "Asia/Shanghai")
    checked = check_claim(TemporalClaim("2026-03-18", original_text="上周三"), [said])
    assert (checked.start, checked.notes) == (date(2026, 3, 11), ("replaced",))


def test_a_lasting_state_has_not_occurred_whatever_the_model_says() -> None:
    said = CitedText("I have been a nurse for ten years.", PARIS, "Europe/Paris")
    claim = TemporalClaim(original_text="for ten years", status="occurred")
    checked = check_claim(claim, [said])
    assert (checked.start, checked.precision) == (date(2014, 1, 1), Precision.YEAR)
    assert checked.status is TemporalStatus.ONGOING


def test_what_occurred_within_a_stretch_up_to_now_stays_occurred() -> None:
    said = CitedText("Over the past three weeks I read four novels.", PARIS, "Europe/Paris")
    claim = TemporalClaim(original_text="the past three weeks", status="occurred")
    assert check_claim(claim, [said]).status is TemporalStatus.OCCURRED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The picnic on Friday is cancelled.", "Friday"),
        ("They called off the concert on Saturday.", "Saturday"),
        ("Tomorrow's class isn't happening.", "Tomorrow"),
        ("周五的会取消了。", "周五"),
        ("明天的比赛不办了。", "明天"),
    ],
)
@pytest.mark.parametrize("status", ["cancelled", "canceled", " Cancelled "])
def test_cancelled_is_kept_when_the_source_says_so(text: str, words: str, status: str) -> None:
    claim = TemporalClaim(original_text=words, status=status)
    assert check_claim(claim, [CitedText(text, PARIS)]).status is TemporalStatus.CANCELLED


def test_cancelled_is_kept_without_a_date_too() -> None:
    checked = check_claim(TemporalClaim(status="cancelled"), [CitedText("It's cancelled.", PARIS)])
    assert (checked.start, checked.status) == (None, TemporalStatus.CANCELLED)


def test_cancelled_is_kept_when_the_event_is_a_cancellation() -> None:
    said = CitedText("Turns out Friday is a no-go, we will skip it.", PARIS)
    claim = TemporalClaim(original_text="Friday", status="cancelled", is_cancellation=True)
    assert check_claim(claim, [said]).status is TemporalStatus.CANCELLED


@pytest.mark.parametrize(
    "text", ["We will open the shop next month.", "The trip next month is not cancelled."]
)
def test_a_cancellation_that_nothing_says_is_dropped_and_noted(text: str) -> None:
    claim = TemporalClaim("2024-06-01", original_text="next month", status="cancelled")
    checked = check_claim(claim, [CitedText(text, PARIS)])
    assert checked.status is TemporalStatus.PLANNED
    assert "cancellation_not_in_source" in checked.notes


FILLER = "Then somebody said something ordinary about the garden. " * 20_000


def test_a_wording_deep_in_a_giant_message_still_gives_its_date_at_once() -> None:
    text = FILLER + "Yesterday I finished the pottery course. " + FILLER
    started = time.perf_counter()
    for _ in range(20):
        claim = TemporalClaim("2026-08-31", precision="day", original_text="Yesterday")
        checked = check_claim(claim, [CitedText(text, PARIS, "Europe/Paris")])
    # Read whole each time, the same takes minutes; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 30
    assert (checked.start, checked.status) == (date(2024, 5, 19), TemporalStatus.OCCURRED)


def test_without_a_wording_a_giant_message_is_read_at_its_beginning_alone() -> None:
    said = "Yesterday I finished the pottery course. "
    claim = TemporalClaim("2024-05-19", precision="day")
    at_once = check_claim(claim, [CitedText(said + FILLER, PARIS, "Europe/Paris")])
    assert at_once.start == date(2024, 5, 19)
    late = check_claim(claim, [CitedText(FILLER + said, PARIS, "Europe/Paris")])
    assert (late.start, late.precision) == (None, Precision.UNKNOWN)
    assert "not_derivable" in late.notes


@pytest.mark.parametrize("times", [1, 400])
def test_one_message_is_read_once_for_all_its_events(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counting(text: str, at: datetime, zone: str) -> list[TimeExpression]:
        read.append(text)
        return resolve(text, at, zone)

    monkeypatch.setattr(reading, "resolve", counting)
    source = CitedText(f"{times} times. Yesterday I won. " + "It rained. " * times, PARIS, "UTC")
    for _ in range(5):
        check_claim(TemporalClaim("2024-05-19", original_text="Yesterday"), [source])
    assert len(read) == 1


def test_what_stands_about_a_place_is_read_as_in_the_whole_text() -> None:
    said = "I met Ann on 3 May 2024 at noon. "
    text = FILLER[:30_000] + said + FILLER[:30_000]
    begin = text.index("3 May")
    found = reading.expressions_in(text, PARIS, "UTC", places=[(begin, begin + 5)])
    whole = [one for one in resolve(text, PARIS, "UTC") if one.start is not None]
    assert found == whole


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I bought a house in May 2020.", TemporalStatus.OCCURRED),
        ("I never bought a house in May 2020.", TemporalStatus.UNKNOWN),
        ("I never drove until May 2020.", TemporalStatus.OCCURRED),
        ("It never rained. I moved in May 2020.", TemporalStatus.OCCURRED),
        ("Maybe I moved in May 2020.", TemporalStatus.UNKNOWN),
        ("I moved in May 2020, but I'm not sure.", TemporalStatus.UNKNOWN),
        ("我可能在2020年5月搬了家。", TemporalStatus.UNKNOWN),
        ("我在2020年5月搬了家。", TemporalStatus.OCCURRED),
    ],
)
def test_what_is_denied_or_doubted_is_not_said_to_have_occurred(
    text: str, status: TemporalStatus
) -> None:
    claim = TemporalClaim("2020-05-01", precision="month", status="occurred")
    checked = check_claim(claim, [CitedText(text, PARIS, "Europe/Paris")])
    assert (checked.start, checked.status) == (date(2020, 5, 1), status)
