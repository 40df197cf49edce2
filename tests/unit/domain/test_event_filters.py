from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.event_filters import (
    EventFilter,
    FilterableEvent,
    TemporalIntent,
    Window,
    current_first,
    passes,
    structured_order,
)
from shared.domain.events import EventStatus, EventTime, EventType

MAY_1 = datetime(2026, 5, 1, tzinfo=UTC)
EVENT = FilterableEvent(
    id="evt_1",
    status=EventStatus.ACTIVE,
    event_type=EventType.MEETING,
    participants=("Ann Chen", "Bo Lin"),
    time=EventTime(mentioned_at=MAY_1, zone="Asia/Tokyo", happened_start=date(2026, 4, 30)),
    weight=0.5,
    created_at=MAY_1,
    updated_at=MAY_1,
)


def test_an_empty_filter_passes_what_is_visible_by_default() -> None:
    assert passes(EVENT, EventFilter())
    assert passes(replace(EVENT, status=EventStatus.SUPERSEDED), EventFilter())
    assert not EventFilter().narrows


@pytest.mark.parametrize("status", [EventStatus.FORGOTTEN, EventStatus.ARCHIVED])
def test_what_was_set_aside_never_passes_even_when_asked_for(status: EventStatus) -> None:
    wanted = EventFilter(statuses=frozenset(EventStatus))
    assert not passes(replace(EVENT, status=status), wanted)


def test_statuses_narrow() -> None:
    only_active = EventFilter(statuses=frozenset({EventStatus.ACTIVE}))
    assert only_active.narrows
    assert not passes(replace(EVENT, status=EventStatus.SUPERSEDED), only_active)


def test_any_type_will_do_but_all_participants_must_be_there() -> None:
    types = frozenset({EventType.MEETING, EventType.PLAN})
    assert passes(EVENT, EventFilter(event_types=types))
    assert not passes(EVENT, EventFilter(event_types=frozenset({EventType.PLAN})))
    assert passes(EVENT, EventFilter(participants=("ann", "BO")))
    assert not passes(EVENT, EventFilter(participants=("ann", "Dana")))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2026-04-30T14:59:59+00:00", None, True),  # the last second of the day in Tokyo
        ("2026-04-30T15:00:00+00:00", None, False),
        (None, "2026-04-29T15:00:00+00:00", True),  # its first instant
        (None, "2026-04-29T14:59:59+00:00", False),
        ("2026-04-01T00:00:00+09:00", "2026-04-30T00:00:00+09:00", True),
    ],
)
def test_a_day_is_the_day_of_the_events_own_zone(
    start: str | None, end: str | None, expected: bool
) -> None:
    window = Window(
        datetime.fromisoformat(start) if start else None,
        datetime.fromisoformat(end) if end else None,
    )
    assert passes(EVENT, EventFilter(occurred=window)) is expected


def test_an_unknown_time_is_in_no_window() -> None:
    unknown = replace(EVENT, time=EventTime(mentioned_at=None))
    assert not passes(unknown, EventFilter(occurred=Window(end=MAY_1)))
    assert not passes(unknown, EventFilter(mentioned=Window(end=MAY_1)))


@pytest.mark.parametrize("written", ["2026-05-01T00:00:00+00:00", "2026-05-01T02:00:00+02:00"])
def test_equal_instants_filter_equally_and_include_the_instant_itself(written: str) -> None:
    start = datetime.fromisoformat(written)  # date-09
    assert passes(EVENT, EventFilter(mentioned=Window(start=start)))
    later = Window(start=start + timedelta(microseconds=1))
    assert not passes(EVENT, EventFilter(mentioned=later))


def test_the_last_day_of_the_calendar_has_an_end() -> None:
    last = replace(EVENT, time=EventTime(mentioned_at=None, happened_start=date.max))
    assert passes(last, EventFilter(occurred=Window(start=MAY_1)))


def test_without_an_intent_the_heavier_and_then_the_later_changed_comes_first() -> None:
    events = [
        replace(EVENT, id="evt_3"),
        replace(EVENT, id="evt_2"),
        replace(EVENT, id="evt_4", updated_at=MAY_1 + timedelta(days=1)),
        replace(EVENT, id="evt_5", weight=1.0),
    ]
    assert [e.id for e in structured_order(events)] == ["evt_5", "evt_4", "evt_2", "evt_3"]


def test_an_intent_orders_by_source_time_and_not_by_arrival() -> None:
    happened = replace(EVENT, id="evt_1", time=EventTime(MAY_1, happened_start=date(2025, 1, 1)))
    mentioned = replace(EVENT, id="evt_2", time=EventTime(MAY_1 - timedelta(days=9)))
    stored = replace(EVENT, id="evt_3", time=EventTime(None))
    events = [stored, happened, mentioned]
    first = structured_order(events, intent=TemporalIntent.FIRST)
    latest = structured_order(events, intent=TemporalIntent.LATEST)
    assert [e.id for e in first] == ["evt_1", "evt_2", "evt_3"]
    assert [e.id for e in latest] == ["evt_3", "evt_2", "evt_1"]


@pytest.mark.parametrize(
    ("ranked", "expected"),
    [
        (["old", "x", "new"], ["x", "new", "old"]),
        (["new", "x", "old"], ["new", "x", "old"]),
        (["old", "x"], ["old", "x"]),
        (["oldest", "old", "new", "x"], ["new", "old", "oldest", "x"]),
        (["oldest", "new", "old"], ["new", "old", "oldest"]),
    ],
)
def test_the_current_event_stands_above_what_it_superseded(
    ranked: list[str], expected: list[str]
) -> None:  # conf-02
    assert current_first(ranked, {"old": "new", "oldest": "old"}) == expected


@given(
    st.lists(st.sampled_from("abcdef"), unique=True),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef")),
)
def test_reordering_loses_nothing_whatever_the_links(
    ranked: list[str], successors: dict[str, str]
) -> None:
    assert sorted(current_first(ranked, successors)) == sorted(ranked)
