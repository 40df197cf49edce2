from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from shared.domain.temporal import Basis, Precision, TemporalStatus, TimeExpression, resolve

WEDNESDAY = datetime(2025, 9, 17, 10, 0, tzinfo=UTC)


def only(text: str, at: datetime = WEDNESDAY, zone: str = "UTC") -> TimeExpression:
    found = resolve(text, at, zone)
    assert len(found) == 1, [f.original_text for f in found]
    return found[0]


DAYS = [
    ("I tuned the piano yesterday.", "yesterday", "2025-09-16"),
    ("We sailed the day before yesterday.", "the day before yesterday", "2025-09-15"),
    ("The plumber comes the day after tomorrow.", "the day after tomorrow", "2025-09-19"),
    ("Nine days ago the fence fell over.", "Nine days ago", "2025-09-08"),
    ("She repainted the shed yesterday evening.", "yesterday evening", "2025-09-16"),
    ("The cat came home last night.", "last night", "2025-09-16"),
    ("The ferry ran aground this morning.", "this morning", "2025-09-17"),
    ("I heard an owl the night before last.", "the night before last", "2025-09-15"),
    ("Last Thursday we pressed the cider.", "Last Thursday", "2025-09-11"),
    ("Last Wednesday the choir sang.", "Last Wednesday", "2025-09-10"),
    ("The auction is next Wednesday.", "next Wednesday", "2025-09-24"),
    ("This Friday we harvest the plums.", "This Friday", "2025-09-19"),
    ("I broke a mug on Monday.", "Monday", "2025-09-15"),
    ("I'll mend the gate on Monday.", "Monday", "2025-09-22"),
    ("The report is due by Tuesday.", "Tuesday", "2025-09-23"),
    ("The lease began on 4 March 2019.", "4 March 2019", "2019-03-04"),
    ("They married on October 12th, 2014.", "October 12th, 2014", "2014-10-12"),
    ("The kiln arrives on the 3rd of November 2026.", "3rd of November 2026", "2026-11-03"),
    ("Her visa expired 2025-02-28.", "2025-02-28", "2025-02-28"),
    ("The deed says 23/11/2021.", "23/11/2021", "2021-11-23"),
    ("The American form says 11/23/2021.", "11/23/2021", "2021-11-23"),
    ("We picked the grapes on the 2nd.", "the 2nd", "2025-09-02"),
    ("I'll return the ladder on the 25th.", "the 25th", "2025-09-25"),
    ("I paid it on the 9th of last month.", "the 9th of last month", "2025-08-09"),
    ("Tuesday of last week we lost the keys.", "Tuesday of last week", "2025-09-09"),
    (
        "We planted bulbs the day after Halloween 2023.",
        "the day after Halloween 2023",
        "2023-11-01",
    ),
    ("It rained on the last Sunday of June 2024.", "the last Sunday of June 2024", "2024-06-30"),
    ("Thanksgiving 2022 was at my aunt's.", "Thanksgiving 2022", "2022-11-24"),
    ("Easter 2024 was early.", "Easter 2024", "2024-03-31"),
    ("Last Christmas the oven broke.", "Last Christmas", "2024-12-25"),
    ("A week from Friday I fly to Oslo.", "A week from Friday", "2025-09-26"),
    ("The hearing is on Thursday.", "Thursday", "2025-09-18"),
    ("I haven't slept well since Sunday.", "Sunday", "2025-09-14"),
    ("The bakery opens on October 4th.", "October 4th", "2025-10-04"),
    ("Two Fridays ago the band played.", "Two Fridays ago", "2025-09-05"),
]


@pytest.mark.parametrize(("text", "words", "day"), DAYS)
def test_a_day_is_resolved_to_that_day(text: str, words: str, day: str) -> None:
    found = only(text)
    assert (found.original_text, found.start, found.end) == (
        words,
        date.fromisoformat(day),
        date.fromisoformat(day),
    )
    assert found.precision is Precision.DAY


SPANS = [
    ("Last week I sanded the floor.", "2025-09-08", "2025-09-14", Precision.RANGE),
    ("Next week the scaffolding goes up.", "2025-09-22", "2025-09-28", Precision.RANGE),
    ("Last weekend we camped.", "2025-09-13", "2025-09-14", Precision.RANGE),
    ("Three weekends ago we moved.", "2025-08-30", "2025-08-31", Precision.RANGE),
    ("Over the weekend I baked rye bread.", "2025-09-13", "2025-09-14", Precision.RANGE),
    ("Six weeks ago the roof leaked.", "2025-08-04", "2025-08-10", Precision.RANGE),
    ("A couple of months ago I quit.", "2025-07-01", "2025-07-31", Precision.MONTH),
    ("Last month we hired Ines.", "2025-08-01", "2025-08-31", Precision.MONTH),
    ("The audit was in late July.", "2025-07-21", "2025-07-31", Precision.RANGE),
    ("We open early next month.", "2025-10-01", "2025-10-10", Precision.RANGE),
    ("In November I will move.", "2025-11-01", "2025-11-30", Precision.MONTH),
    ("We met in March 2012.", "2012-03-01", "2012-03-31", Precision.MONTH),
    ("We flew to Lima in May last year.", "2024-05-01", "2024-05-31", Precision.MONTH),
    ("Last winter the pipes froze.", "2024-12-01", "2025-02-28", Precision.RANGE),
    ("The summer of 2018 was dry.", "2018-06-01", "2018-08-31", Precision.RANGE),
    ("Four years ago I learned to weld.", "2021-01-01", "2021-12-31", Precision.YEAR),
    ("Around a year ago the shop closed.", "2024-08-01", "2024-10-31", Precision.RANGE),
    ("A few weeks ago I sprained it.", "2025-08-11", "2025-09-07", Precision.RANGE),
    ("I saw him the other day.", "2025-09-10", "2025-09-16", Precision.RANGE),
    ("They lived there from 2009 to 2013.", "2009-01-01", "2013-12-31", Precision.RANGE),
    ("It ran from 6 to 9 May 2024.", "2024-05-06", "2024-05-09", Precision.RANGE),
    ("The week before 9 June 2023 we packed.", "2023-05-29", "2023-06-04", Precision.RANGE),
    ("Sales fell in the third quarter of 2024.", "2024-07-01", "2024-09-30", Precision.RANGE),
    ("Vinyl faded in the 1980s.", "1980-01-01", "1989-12-31", Precision.RANGE),
    ("I moved a year and a half ago.", "2024-03-01", "2024-03-31", Precision.MONTH),
    ("The past weekend was foggy.", "2025-09-13", "2025-09-14", Precision.RANGE),
    (
        "Here is a pic I snapped last week in the country.",
        "2025-09-08",
        "2025-09-14",
        Precision.RANGE,
    ),
    ("The archive covers 1998-2004 only.", "1998-01-01", "2004-12-31", Precision.RANGE),
    ("It's been three weeks since the flood.", "2025-08-25", "2025-08-31", Precision.RANGE),
    ("From Monday to Wednesday we were snowed in.", "2025-09-15", "2025-09-17", Precision.RANGE),
]


@pytest.mark.parametrize(("text", "first", "last", "precision"), SPANS)
def test_a_stretch_has_inclusive_ends(
    text: str, first: str, last: str, precision: Precision
) -> None:
    found = only(text)
    assert (str(found.start), str(found.end), found.precision) == (first, last, precision)


def test_minutes_ago_are_an_instant_across_a_change_of_offset() -> None:
    at = datetime(2026, 11, 1, 6, 10, tzinfo=UTC)  # ten minutes after New York fell back
    found = only("The alarm rang half an hour ago.", at, "America/New_York")
    assert found.precision is Precision.INSTANT
    assert isinstance(found.start, datetime)
    assert found.start.astimezone(UTC) == datetime(2026, 11, 1, 5, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("Call me tomorrow at 3 pm.", "2025-09-18T15:00:00+00:00"),
        ("We set off at 6:45 am tomorrow.", "2025-09-18T06:45:00+00:00"),
        ("Dinner is tonight at 8.", "2025-09-17T20:00:00+00:00"),
        ("The train left at 14:05 on 2 June 2024.", "2024-06-02T14:05:00+00:00"),
    ],
)
def test_a_day_with_a_clock_time_is_an_instant(text: str, clock: str) -> None:
    found = only(text)
    assert found.precision is Precision.INSTANT
    assert found.start == found.end == datetime.fromisoformat(clock)


def test_the_local_day_of_the_mention_counts_not_the_utc_day() -> None:
    at = datetime.fromisoformat("2025-01-01T00:30:00+13:00")
    assert only("It broke yesterday.", at, "Pacific/Auckland").start == date(2024, 12, 31)


def test_a_stated_year_is_explicit_and_all_else_relative() -> None:
    assert only("Signed on 5 May 2020.").basis is Basis.EXPLICIT
    assert only("Signed on 5 May, we closed.").basis is Basis.RELATIVE
    assert only("Signed yesterday.").basis is Basis.RELATIVE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("We moved last month.", TemporalStatus.OCCURRED),
        ("We move next month.", TemporalStatus.PLANNED),
        ("I have played the cello for six years.", TemporalStatus.ONGOING),
        ("I've been vegan since 2019.", TemporalStatus.ONGOING),
        ("I'm going to cook tonight.", TemporalStatus.PLANNED),
        ("Remind me later today.", TemporalStatus.PLANNED),
        ("I lost my keys this week.", TemporalStatus.OCCURRED),
    ],
)
def test_the_status_is_seen_from_the_mention(text: str, status: TemporalStatus) -> None:
    assert only(text).status is status


def test_a_lasting_state_is_dated_by_the_year_in_which_it_began() -> None:
    found = only("I have played the cello for six years.")
    assert (found.start, found.end) == (date(2019, 1, 1), date(2019, 12, 31))
    assert only("We've known each other since 2019.").start == date(2019, 1, 1)


def test_a_weekday_follows_the_tense_of_its_own_clause() -> None:
    # date-06: both phrases are kept, and Friday is never a Friday still to come.
    at = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    week, friday = resolve("Last week I visited two lighthouses; on Friday it stormed.", at, "UTC")
    assert (week.original_text, week.start, week.end) == (
        "Last week",
        date(2026, 2, 23),
        date(2026, 3, 1),
    )
    assert (week.precision, friday.original_text) == (Precision.RANGE, "Friday")
    assert (friday.start, friday.basis) == (date(2026, 2, 27), Basis.RELATIVE)


def test_the_mention_dates_a_backfilled_message() -> None:
    # date-01: the resolver has no clock, so the year of processing cannot enter.
    at = datetime.fromisoformat("2024-05-20T18:00:00+02:00")
    found = only("Yesterday I finished the pottery course.", at, "Europe/Paris")
    assert (found.start, found.precision) == (date(2024, 5, 19), Precision.DAY)
    assert (found.basis, found.original_text) == (Basis.RELATIVE, "Yesterday")


def test_an_instant_keeps_the_offset_it_was_said_in() -> None:
    # date-03
    at = datetime.fromisoformat("2026-11-30T23:40:00-05:00")
    found = only("The power went out ten minutes ago.", at, "America/Toronto")
    assert isinstance(found.start, datetime)
    assert found.start.isoformat() == "2026-11-30T23:30:00-05:00"
    assert found.start.date() == date(2026, 11, 30)


def test_full_width_letters_and_digits_are_read_and_quoted_verbatim() -> None:
    found = only("It closed on ２０２４－０５－０３ in the end.")
    assert (found.start, found.original_text) == (date(2024, 5, 3), "２０２４－０５－０３")
