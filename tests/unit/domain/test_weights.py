from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.events import Criticality, EventStatus
from shared.domain.weights import FLOORS, SUPERSEDED_CAP, event_weight

AGES = st.integers(-50, 2000)
MENTIONS = st.integers(-5, 500)
CRITICALITIES = st.sampled_from(Criticality)
STATUSES = st.sampled_from(EventStatus)


@given(AGES, MENTIONS, CRITICALITIES, STATUSES, st.booleans())
def test_a_weight_lies_between_none_and_full(
    age: int, mentions: int, criticality: Criticality, status: EventStatus, pinned: bool
) -> None:
    weight = event_weight(age, mentions, criticality=criticality, status=status, pinned=pinned)
    assert 0 <= weight <= 1
    if status is EventStatus.ACTIVE:
        assert weight >= FLOORS[criticality]


@given(AGES, MENTIONS, CRITICALITIES, STATUSES)
def test_a_weight_falls_with_age_and_rises_with_use_and_criticality(
    age: int, mentions: int, criticality: Criticality, status: EventStatus
) -> None:
    weight = event_weight(age, mentions, criticality=criticality, status=status)
    older = event_weight(age + 1, mentions, criticality=criticality, status=status)
    used = event_weight(age, mentions + 1, criticality=criticality, status=status)
    safety = event_weight(age, mentions, criticality=Criticality.SAFETY, status=status)
    assert older <= weight <= used
    assert weight <= safety


@pytest.mark.parametrize("mentions", [1, 3, 40])
def test_the_weight_is_the_formula_worked_by_hand(mentions: int) -> None:
    """Section 21: exp(-t * 0.15 / (1 + 1.5 ln n))."""
    weight = event_weight(7, mentions, criticality=Criticality.ROUTINE, status=EventStatus.ACTIVE)
    assert weight == pytest.approx(math.exp(-7 * 0.15 / (1 + 1.5 * math.log(mentions))), rel=1e-12)


@pytest.mark.parametrize("criticality", Criticality)
def test_a_superseded_event_weighs_a_tenth_at_most(criticality: Criticality) -> None:
    weight = event_weight(0, 9, criticality=criticality, status=EventStatus.SUPERSEDED)
    assert weight == 0.1


def test_case_gate_07_floors_caps_and_impossible_counts() -> None:
    def active(criticality: Criticality) -> float:
        return event_weight(60, 1, criticality=criticality, status=EventStatus.ACTIVE)

    assert active(Criticality.ROUTINE) == pytest.approx(0.000123, abs=1e-6)
    assert active(Criticality.PREFERENCE) == 0.3
    assert active(Criticality.IDENTITY) == 0.9
    assert active(Criticality.SAFETY) == 1.0
    superseded = event_weight(0, 9, criticality=Criticality.IDENTITY, status=EventStatus.SUPERSEDED)
    assert superseded <= SUPERSEDED_CAP
    for mentions in (0, -3):
        assert (
            event_weight(-5, mentions, criticality=Criticality.ROUTINE, status=EventStatus.ACTIVE)
            == 1.0
        )


@pytest.mark.parametrize("status", [EventStatus.FORGOTTEN, EventStatus.ARCHIVED])
def test_what_is_set_aside_weighs_nothing_even_when_pinned(status: EventStatus) -> None:
    weight = event_weight(0, 9, criticality=Criticality.SAFETY, status=status, pinned=True)
    assert weight == 0.0


def test_a_pin_outweighs_the_cap_of_a_superseded_event() -> None:
    weight = event_weight(
        900, 1, criticality=Criticality.ROUTINE, status=EventStatus.SUPERSEDED, pinned=True
    )
    assert weight == 1.0
