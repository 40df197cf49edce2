"""Everyday wordings in both languages, written as cases before the rules were tried on them."""

from __future__ import annotations

import csv
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from shared.domain.temporal import Precision, TemporalStatus, TimeExpression, resolve

TABLES = Path(__file__).parent / "temporal_cases"


class Case(NamedTuple):
    """A text, the words that carry its time ("" for none), and what they must give."""

    mention: str
    text: str
    words: str
    first: str
    last: str
    precision: str
    status: str


def table(name: str) -> list[Case]:
    with (TABLES / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Case(*row) for row in rows[1:]]


CASES = [*table("english"), *table("chinese")]
DATED = [c for c in CASES if c.first]
DATELESS = [c for c in CASES if not c.first]


def resolved(case: Case) -> list[TimeExpression]:
    at = datetime.fromisoformat(case.mention).replace(tzinfo=UTC)
    return resolve(case.text, at, "UTC")


def day_of(value: date | None) -> str:
    return "" if value is None else date(value.year, value.month, value.day).isoformat()


def test_the_tables_hold_both_kinds_in_both_languages() -> None:
    for name in ("english", "chinese"):
        rows = table(name)
        assert len([r for r in rows if r.first]) > 120
        assert len([r for r in rows if not r.first]) > 40


@pytest.mark.parametrize("case", DATED, ids=lambda c: c.text)
def test_the_words_that_carry_a_time_give_exactly_its_days(case: Case) -> None:
    begin = case.text.index(case.words)
    end = begin + len(case.words)
    here = [f for f in resolved(case) if f.span[0] < end and f.span[1] > begin]
    assert [(day_of(f.start), day_of(f.end), f.precision.value) for f in here] == [
        (case.first, case.last, case.precision)
    ]
    assert case.status in ("", here[0].status.value)


@pytest.mark.parametrize("case", DATELESS, ids=lambda c: c.text)
def test_what_carries_no_date_is_given_none(case: Case) -> None:
    assert [f.original_text for f in resolved(case) if f.start is not None] == []


WEDNESDAY = datetime(2026, 3, 11, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "The meeting is moved to Friday.",
        "The meeting was moved to Friday.",
        "The meeting has been postponed to Friday.",
        "It got pushed back from Thursday to Friday.",
        "They rescheduled it for Friday.",
        "I have a meeting on Friday.",
        "会议改到周五。",
        "会议改到了周五。",
        "会议从周四推迟到周五了。",
        "我们约好了周五见。",
    ],
)
def test_a_plan_that_is_set_or_moved_lies_ahead_whatever_its_tense(text: str) -> None:
    friday = [f for f in resolve(text, WEDNESDAY, "UTC") if f.start is not None]
    assert [(f.start, f.status) for f in friday] == [(date(2026, 3, 13), TemporalStatus.PLANNED)]


@pytest.mark.parametrize("text", ["We moved to Leeds on Friday.", "我们周五搬到了上海。"])
def test_moving_house_is_no_plan(text: str) -> None:
    (found,) = resolve(text, WEDNESDAY, "UTC")
    assert (found.start, found.status) == (date(2026, 3, 6), TemporalStatus.OCCURRED)


@pytest.mark.parametrize(
    "text",
    [
        "I was a nurse for ten years.",
        "I'd been a nurse for ten years.",
        "They have the hall for two weeks.",
        "By then we will have been married for ten years.",
        "他当了十年护士，后来改行了。",
    ],
)
def test_a_duration_that_is_over_or_to_come_is_no_date(text: str) -> None:
    assert [f.start for f in resolve(text, WEDNESDAY, "UTC") if f.start is not None] == []


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("2024年13月我来了。", "impossible_date"),
        ("13月5日我去了。", "impossible_date"),
        ("4/31/2024", "impossible_date"),
        ("05/06/2024", "ambiguous_order"),
    ],
)
def test_dates_that_no_calendar_has_or_that_read_two_ways_are_refused(text: str, note: str) -> None:
    assert [(f.start, f.note) for f in resolve(text, WEDNESDAY, "UTC")] == [(None, note)]


def test_a_clock_time_that_the_zone_skipped_leaves_the_day() -> None:
    at = datetime.fromisoformat("2026-03-30T12:00:00+02:00")
    (found,) = resolve("The alarm rang at 2:30 am yesterday.", at, "Europe/Paris")
    assert (found.start, found.precision) == (date(2026, 3, 29), Precision.DAY)
    assert found.note == "impossible_time"


def test_an_instant_has_the_offset_that_its_zone_keeps_on_that_day() -> None:
    at = datetime.fromisoformat("2026-03-28T12:00:00+01:00")
    (found,) = resolve("We meet tomorrow at 9 am", at, "Europe/Paris")
    assert isinstance(found.start, datetime)
    assert found.start.isoformat() == "2026-03-29T09:00:00+02:00"


def test_two_digits_of_a_year_belong_to_the_century_of_the_mention_or_the_one_before() -> None:
    years = {"'09": 2009, "'98": 1998, "'30": 2030, "'45": 1945}
    for said, year in years.items():
        (found,) = resolve(f"It dates back to the time in {said}.", WEDNESDAY, "UTC")
        assert found.start == date(year, 1, 1)
