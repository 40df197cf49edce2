"""What people decide about events: reversible, and never more than they asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.curation import (
    Curated,
    CurationWish,
    plan_curation,
    plan_keep,
    plan_reopen,
)
from shared.domain.events import Criticality, EventStatus
from shared.domain.supersession import EventState, applied

SET_ASIDE = (EventStatus.FORGOTTEN, EventStatus.ARCHIVED)


def _event(status: EventStatus = EventStatus.ACTIVE, **fields: object) -> Curated:
    state = EventState("evt_a", status, **fields)  # type: ignore[arg-type] # fields by name
    return Curated(state, pinned=False, criticality=Criticality.ROUTINE)


@given(
    st.sampled_from([(EventStatus.ACTIVE, None), (EventStatus.SUPERSEDED, "evt_b")]),
    st.lists(st.sampled_from(SET_ASIDE), min_size=1, max_size=4),
)
def test_restoring_gives_back_the_status_before_however_often_it_was_set_aside(
    before: tuple[EventStatus, str | None], steps: list[EventStatus]
) -> None:
    event = first = _event(before[0], superseded_by=before[1])
    for step in steps:
        event = plan_curation(event, CurationWish(status=step))
        assert event.state.status is step
    assert plan_curation(event, CurationWish(status=EventStatus.ACTIVE)) == first


def test_what_is_not_named_stays_and_a_repeated_wish_changes_nothing() -> None:
    pinned = plan_curation(_event(), CurationWish(pinned=True))
    assert pinned == Curated(_event().state, pinned=True, criticality=Criticality.ROUTINE)
    assert plan_curation(pinned, CurationWish(pinned=True)) == pinned
    safe = plan_curation(pinned, CurationWish(criticality=Criticality.SAFETY))
    assert (safe.pinned, safe.criticality) == (True, Criticality.SAFETY)


def test_curation_cannot_call_an_event_superseded() -> None:
    with pytest.raises(ValueError, match="superseded"):
        plan_curation(_event(), CurationWish(status=EventStatus.SUPERSEDED))


def test_a_restored_superseded_event_is_no_more_active_than_before() -> None:
    event = _event(EventStatus.SUPERSEDED, superseded_by="evt_b")
    assert plan_curation(event, CurationWish(status=EventStatus.ACTIVE)) == event


def test_keeping_one_side_can_be_taken_back() -> None:
    kept, other = EventState("evt_a", EventStatus.ACTIVE), EventState("evt_b", EventStatus.ACTIVE)
    lost = applied(other, plan_keep(kept, other))
    assert (lost.status, lost.superseded_by) == (EventStatus.SUPERSEDED, "evt_a")
    (back,) = plan_reopen("evt_a", lost, successors=["evt_a"])
    assert applied(lost, back) == other


def test_another_successor_takes_over_when_a_decision_is_taken_back() -> None:
    lost = EventState("evt_b", EventStatus.SUPERSEDED, superseded_by="evt_a")
    (back,) = plan_reopen("evt_a", lost, successors=["evt_a", "evt_c"])
    assert (back.status, back.superseded_by) == (EventStatus.SUPERSEDED, "evt_c")
    replaced = EventState("evt_b", EventStatus.SUPERSEDED, superseded_by="evt_c")
    assert plan_reopen("evt_a", replaced, successors=["evt_a", "evt_c"]) == ()


def test_a_forgotten_side_stays_forgotten_and_comes_back_active() -> None:
    lost = EventState(
        "evt_b",
        EventStatus.FORGOTTEN,
        superseded_by="evt_a",
        status_before=EventStatus.SUPERSEDED,
    )
    (back,) = plan_reopen("evt_a", lost, successors=["evt_a"])
    assert (back.status, back.status_before) == (EventStatus.FORGOTTEN, EventStatus.ACTIVE)


@pytest.mark.parametrize("status", [*SET_ASIDE, EventStatus.SUPERSEDED])
def test_only_two_active_events_can_be_settled(status: EventStatus) -> None:
    standing, gone = EventState("evt_a", EventStatus.ACTIVE), EventState("evt_b", status)
    for pair in ((standing, gone), (gone, standing)):
        with pytest.raises(ValueError, match="open"):
            plan_keep(*pair)
