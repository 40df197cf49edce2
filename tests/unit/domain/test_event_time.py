from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from shared.domain.event_time import derive_time
from shared.domain.events import EventTime
from shared.domain.extraction_fields import event_fields
from shared.domain.turns import Message, Role

SAID_AT = datetime(2026, 3, 11, 8, tzinfo=UTC)


def time_of(text: str, **fields: object) -> EventTime:
    source = Message(id="m1", role=Role.USER, content=text, occurred_at=SAID_AT, zone="UTC")
    time, _ = derive_time(event_fields(fields), [source], quotes=[], zone="UTC")
    return time


def test_a_cancelled_plan_keeps_its_date_and_is_cancelled() -> None:
    time = time_of(
        "Next Friday's dinner is cancelled.", originalText="Next Friday", status="cancelled"
    )
    assert (time.happened_start, time.status) == (date(2026, 3, 13), "cancelled")


@pytest.mark.parametrize("kind", ["cancellation", "取消"])
def test_an_event_that_is_a_cancellation_may_be_cancelled_in_other_words(kind: str) -> None:
    text = "Next Friday is out, we will skip it."
    time = time_of(text, originalText="Next Friday", status="cancelled", eventType=kind)
    assert time.status == "cancelled"


def test_a_cancellation_that_neither_type_nor_words_say_is_not_taken() -> None:
    text = "Next Friday we will dine out."
    time = time_of(text, originalText="Next Friday", status="cancelled", eventType="plan")
    assert time.status == "planned"


def test_a_moved_plan_is_planned_on_its_new_day() -> None:
    time = time_of("The dinner was moved to Friday.", originalText="Friday", status="occurred")
    assert (time.happened_start, time.status) == (date(2026, 3, 13), "planned")


def test_a_lasting_state_is_ongoing() -> None:
    text = "I have been a nurse for ten years."
    time = time_of(text, originalText="for ten years", status="occurred")
    assert (time.happened_start, time.precision, time.status) == (
        date(2016, 1, 1),
        "year",
        "ongoing",
    )
