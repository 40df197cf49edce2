from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from shared.domain.temporal import (
    Precision,
    expression_bounds,
    query_window,
    resolve,
    show_day,
    show_instant,
    show_time,
    utc_bounds,
)
from shared.errors import InvalidInput


def test_a_day_is_shown_in_its_source_zone_whoever_reads_it() -> None:
    # date-04: a reader in Tokyo does not move a London evening to the next day.
    stored = datetime.fromisoformat("2026-03-09T23:30:00+00:00")
    assert show_day(stored, "Europe/London") == "2026-03-09"
    assert show_time(stored, None, precision=Precision.DAY, zone="Europe/London") == "2026-03-09"
    assert show_day(date(2026, 3, 9), "Asia/Tokyo") == "2026-03-09"


def test_an_instant_is_shown_with_the_offset_it_was_given_in() -> None:
    at = datetime.fromisoformat("2026-12-01T04:40:00+00:00")
    assert show_instant(at, "-05:00") == "2026-11-30T23:40:00-05:00"
    assert show_instant(at, "America/Toronto") == "2026-11-30T23:40:00-05:00"
    assert show_instant(at, "UTC") == "2026-12-01T04:40:00+00:00"


@pytest.mark.parametrize(
    ("start", "end", "precision", "shown"),
    [
        (date(2024, 5, 1), date(2024, 5, 31), Precision.MONTH, "2024-05"),
        (date(2024, 1, 1), date(2024, 12, 31), Precision.YEAR, "2024"),
        (date(2024, 5, 6), date(2024, 5, 12), Precision.RANGE, "2024-05-06/2024-05-12"),
        (date(2024, 5, 6), None, Precision.RANGE, "2024-05-06"),
        (None, None, Precision.UNKNOWN, "unknown"),
    ],
)
def test_a_time_is_shown_no_finer_than_it_is_known(
    start: date | None, end: date | None, precision: Precision, shown: str
) -> None:
    assert show_time(start, end, precision=precision, zone="UTC") == shown


def test_a_question_about_yesterday_is_a_day_of_the_asker() -> None:
    # date-05
    asked = datetime.fromisoformat("2026-01-01T01:00:00+09:00")
    window = query_window("what did I do yesterday", asked, "Asia/Tokyo")
    assert window is not None
    assert window.start == datetime(2025, 12, 30, 15, tzinfo=UTC)
    assert window.until == datetime(2025, 12, 31, 15, tzinfo=UTC)
    assert window.expression.original_text == "yesterday"


def test_the_same_question_in_chinese_has_the_same_window() -> None:
    asked = datetime.fromisoformat("2026-01-01T01:00:00+09:00")
    chinese, english = (
        query_window(q, asked, "Asia/Tokyo") for q in ("我昨天做了什么", "what did I do yesterday")
    )
    assert chinese is not None
    assert english is not None
    assert (chinese.start, chinese.until) == (english.start, english.until)


@pytest.mark.parametrize("query", ["what does Ann like", "who is recently new", "该找谁"])
def test_a_question_without_a_date_has_no_window(query: str) -> None:
    assert query_window(query, datetime(2026, 1, 1, tzinfo=UTC), "UTC") is None


def test_bounds_cover_whole_local_days_across_a_change_of_offset() -> None:
    start, until = utc_bounds(date(2026, 3, 29), None, "Europe/Paris")
    assert (start, until) == (
        datetime(2026, 3, 28, 23, tzinfo=UTC),
        datetime(2026, 3, 29, 22, tzinfo=UTC),
    )


def test_an_instant_lies_within_its_own_bounds() -> None:
    at = datetime(2026, 4, 1, tzinfo=UTC)
    start, until = utc_bounds(at, at, "UTC")
    assert start <= at < until


def test_an_expression_without_a_date_has_no_bounds() -> None:
    (vague,) = resolve("soon", datetime(2026, 1, 1, tzinfo=UTC), "UTC")
    assert expression_bounds(vague, "UTC") is None


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_ends_of_the_calendar_have_bounds(day: date) -> None:
    for zone in ("Pacific/Auckland", "America/Toronto"):
        start, until = utc_bounds(day, day, zone)
        assert start < until


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+25:00", "../etc/passwd", "UTC+0x"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        resolve("yesterday", datetime(2026, 1, 1, tzinfo=UTC), zone)
    assert refused.value.code == "unknown_zone"


def test_a_naive_mention_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        resolve("yesterday", datetime(2026, 1, 1), "UTC")  # noqa: DTZ001 - what is refused
    assert refused.value.code == "naive_time"
