from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.times import asked_at, read_instant, read_window, shown_happening, time_words
from shared.errors import InvalidInput

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_a_date_as_an_end_lasts_to_the_end_of_its_day_in_the_zone() -> None:
    window = read_window("2026-04-01", "2026-04-01", timezone="Asia/Tokyo", pointer="/occurred")
    assert window is not None
    assert window.start == datetime(2026, 3, 31, 15, 0, tzinfo=UTC)
    assert window.end == datetime(2026, 4, 1, 14, 59, 59, 999_999, tzinfo=UTC)


def test_an_open_window_has_one_end_and_no_window_none() -> None:
    window = read_window(None, "2026-04-01T00:00:00Z", timezone=None, pointer="/mentioned")
    assert window is not None
    assert (window.start, window.end) == (None, datetime(2026, 4, 1, tzinfo=UTC))
    assert read_window(None, None, timezone=None, pointer="/mentioned") is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2026-02-30", "invalid_time"),
        ("2026-02-30T00:00:00Z", "invalid_time"),
        ("next week", "invalid_time"),
        ("2026-W01-1", "invalid_time"),
        ("", "invalid_time"),
        ("2026-04-01T10:00:00", "naive_time"),
        ("2026-04-01", "naive_time"),
    ],
)
def test_what_is_no_instant_is_refused_by_name(text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_instant(text, timezone=None, pointer="/at")
    assert (caught.value.code, caught.value.errors[0].pointer) == (code, "/at")


def test_an_inverted_window_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_window("2026-04-02", "2026-04-01", timezone="UTC", pointer="/occurred")
    assert caught.value.code == "inverted_window"


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_instant("2026-04-02", timezone="Mars/Base", pointer="/at")
    assert caught.value.code == "unknown_zone"


def test_a_question_without_a_zone_has_no_yesterday() -> None:
    assert asked_at(None, None, NOW) is None
    assert time_words("what did I do yesterday", None) == []
    asked = asked_at(None, "Asia/Tokyo", NOW)
    ((words, window),) = time_words("what did I do yesterday", asked)
    assert words == "yesterday"
    assert window.start == datetime(2026, 2, 28, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "precision", "zone", "shown"),
    [
        ("2026-03-09", "day", "Asia/Tokyo", "2026-03-09"),
        ("2026-03-09T23:30:00+00:00", "day", "Europe/London", "2026-03-09"),
        ("2026-03-09T23:30:00+00:00", "day", "Asia/Tokyo", "2026-03-10"),
        ("2026-03-09T23:30:00+00:00", "instant", "Asia/Tokyo", "2026-03-10T08:30:00+09:00"),
        (None, "unknown", "UTC", None),
    ],
)
def test_a_happening_is_shown_as_finely_as_it_is_known(
    text: str | None, precision: str, zone: str, shown: str | None
) -> None:
    assert shown_happening(text, precision, zone) == shown
