from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from shared.domain.temporal import Precision, TimeExpression, resolve
from shared.domain.temporal.festivals import CHINESE, ENGLISH

PIECES = [
    "last", "next", "this", "the", "week", "weekend", "before", "after", "of", "Friday",
    "May",
    "march", "2024", "9999", "0001-01-02", "9999-12-31", "3", "99", "31st", "ago", "years",
    "days", "in", "from", "to", "and", "between", "yesterday", "tomorrow", "at", "5 pm", "25:61",
    "Christmas", "end of", "decade", "a few", "half", "since", "for", "now", "30 February",
    "上", "下", "个", "月", "周", "三", "十", "年", "前", "后", "初", "底", "号", "点", "半",
    "昨天",
    "春节", "正月", "到", "去年", "大", "几", "二〇二四年", "，", "。", "\n", "ſ", "３",
]  # fmt: skip

texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
)
instants = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - the zone is added below
    max_value=datetime(9998, 12, 1),  # noqa: DTZ001 - the zone is added below
    timezones=st.just(UTC),
)
zones = st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "+13:45", "-05:00"])


@given(texts, instants, zones)
@example(
    "0001-01-02 3 days before 0001-01-02 the week before last", datetime(2, 1, 1, tzinfo=UTC), "UTC"
)
def test_every_text_resolves_to_ordered_verbatim_bounded_expressions(
    text: str, at: datetime, zone: str
) -> None:
    found = resolve(text, at, zone)
    reached = 0
    for expression in found:
        begin, end = expression.span
        assert reached <= begin < end <= len(text)
        assert expression.original_text == text[begin:end]
        reached = end
        _assert_sound(expression)


def _assert_sound(expression: TimeExpression) -> None:
    start, end = expression.start, expression.end
    assert (start is None) == (expression.precision is Precision.UNKNOWN)
    if start is None:
        assert end is None
        return
    if expression.precision is Precision.INSTANT:
        assert isinstance(start, datetime)
        assert start.tzinfo is not None
    if end is not None:
        assert isinstance(start, datetime) == isinstance(end, datetime)
        assert start <= end
    else:
        assert expression.note == "inverted_range"


@given(st.dates(date(1900, 1, 1), date(2090, 12, 31)), instants)
def test_a_written_day_is_that_day_whenever_it_is_said(day: date, at: datetime) -> None:
    written = [
        day.isoformat(),
        f"{day.day} {calendar.month_name[day.month]} {day.year}",
        f"{calendar.month_name[day.month]} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ]
    for text in written:
        (found,) = resolve(f"({text})", at, "UTC")
        assert (found.start, found.end, found.original_text) == (day, day, text)


@given(st.integers(1, 999), st.dates(date(1900, 1, 1), date(2090, 12, 31)))
def test_days_ago_and_days_ahead_mirror_each_other(count: int, day: date) -> None:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    (ago,) = resolve(f"{count} days ago", at, "UTC")
    (ahead,) = resolve(f"{count} days from now", at, "UTC")
    assert ago.start == day - timedelta(days=count)
    assert ahead.start == day + timedelta(days=count)
    assert resolve(f"{count}天前", at, "UTC")[0].start == ago.start


@given(st.dates(date(1900, 1, 1), date(2090, 12, 31)), st.integers(0, 6))
def test_last_and_next_weekday_lie_within_a_week_on_either_side(day: date, weekday: int) -> None:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    name = calendar.day_name[weekday]
    (last,) = resolve(f"last {name}", at, "UTC")
    (ahead,) = resolve(f"next {name}", at, "UTC")
    assert isinstance(last.start, date)
    assert isinstance(ahead.start, date)
    assert timedelta(1) <= day - last.start <= timedelta(7)
    assert timedelta(1) <= ahead.start - day <= timedelta(7)
    assert last.start.weekday() == ahead.start.weekday() == weekday


def test_lunar_festivals_fall_in_their_season_every_year_of_the_table() -> None:
    bounds = {"春节": (1, 2), "端午": (5, 6), "中秋": (9, 10), "重阳": (10, 10), "清明": (4, 4)}
    for year in range(2010, 2041):
        for name, (first, last) in bounds.items():
            found = CHINESE[name](year)
            assert found is not None
            assert first <= found.start.month <= last


def test_computed_holidays_agree_with_known_years() -> None:
    known = {
        ("easter", 2024): date(2024, 3, 31),
        ("easter", 2025): date(2025, 4, 20),
        ("easter", 2038): date(2038, 4, 25),
        ("thanksgiving", 2023): date(2023, 11, 23),
        ("labor day", 2024): date(2024, 9, 2),
        ("memorial day", 2024): date(2024, 5, 27),
        ("chinese new year", 2026): date(2026, 2, 17),
    }
    for (name, year), day in known.items():
        found = ENGLISH[name](year)
        assert found is not None
        assert found.start == day
