from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.events import EventStatus
from shared.domain.supersession import (
    EventState,
    LinkRefusal,
    RefusedLink,
    StatusChange,
    applied,
    plan_links,
    plan_release,
    plan_restore,
    plan_set_aside,
    repeats,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEW = EventState("evt_new", EventStatus.ACTIVE, said_at=NOON, fingerprint="n\0n")
ACTIVE = EventState("evt_a", EventStatus.ACTIVE, said_at=NOON - timedelta(days=1))
OLD = EventState("evt_o", EventStatus.SUPERSEDED, superseded_by="evt_a")
FORGOTTEN = EventState("evt_f", EventStatus.FORGOTTEN, status_before=EventStatus.ACTIVE)
ARCHIVED = EventState("evt_r", EventStatus.ARCHIVED, status_before=EventStatus.ACTIVE)
STATES = {one.id: one for one in (ACTIVE, OLD, FORGOTTEN, ARCHIVED)}
OFFERED = frozenset({*STATES, "evt_gone", "evt_new"})


def plan(supersedes=(), conflicts=(), new=NEW, states=STATES, offered=OFFERED):  # type: ignore[no-untyped-def] # a test's shorthand
    return plan_links(new, states, supersedes=supersedes, conflicts=conflicts, offered=offered)


def test_an_offered_active_event_is_superseded_with_its_successor_named() -> None:
    result = plan(["evt_a"])
    assert result.changes == (StatusChange("evt_a", EventStatus.SUPERSEDED, "evt_new"),)
    assert result.supersedes == ("evt_a",)
    assert result.refused == ()


def test_a_superseded_event_is_handed_to_the_new_successor() -> None:
    result = plan(["evt_o"])
    assert result.changes == (StatusChange("evt_o", EventStatus.SUPERSEDED, "evt_new"),)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("evt_f", LinkRefusal.NOT_VISIBLE),
        ("evt_r", LinkRefusal.NOT_VISIBLE),
        ("evt_gone", LinkRefusal.UNKNOWN),
        ("evt_else", LinkRefusal.NOT_OFFERED),
        ("evt_new", LinkRefusal.ITSELF),
        ("1", LinkRefusal.NOT_OFFERED),
    ],
)
def test_nothing_else_is_touched_and_each_refusal_is_told(target: str, reason: LinkRefusal) -> None:
    for result in (plan([target]), plan([], [target])):
        assert result.changes == ()
        assert result.conflict_links == ()
        assert result.refused == (RefusedLink(target, reason),)


def test_an_existing_event_that_was_not_offered_to_the_call_is_left_alone() -> None:
    result = plan(["evt_a"], offered=frozenset())
    assert result.changes == ()
    assert result.refused == (RefusedLink("evt_a", LinkRefusal.NOT_OFFERED),)


def test_an_older_statement_that_arrives_late_does_not_replace_a_newer_one() -> None:
    late = EventState("evt_new", EventStatus.ACTIVE, said_at=NOON - timedelta(days=2))
    assert plan(["evt_a"], new=late).refused == (RefusedLink("evt_a", LinkRefusal.NEWER),)


def test_a_correction_of_the_same_message_supersedes() -> None:
    together = EventState("evt_a", EventStatus.ACTIVE, said_at=NOON)
    assert plan(["evt_a"], states={"evt_a": together}).supersedes == ("evt_a",)


def test_a_conflict_is_linked_both_ways() -> None:
    result = plan([], ["evt_a"])
    assert result.conflict_links == (("evt_new", "evt_a"), ("evt_a", "evt_new"))
    assert result.changes == ()


def test_what_supersedes_does_not_conflict_as_well() -> None:
    result = plan(["evt_a"], ["evt_a"])
    assert result.supersedes == ("evt_a",)
    assert result.conflict_links == ()


def test_the_same_statement_is_no_conflict_with_itself() -> None:
    same = EventState("evt_a", EventStatus.ACTIVE, fingerprint="n\0n")
    result = plan([], ["evt_a"], states={"evt_a": same})
    assert result.refused == (RefusedLink("evt_a", LinkRefusal.REPEATED),)


def test_a_repeated_statement_names_the_current_event_it_repeats() -> None:
    told = EventState("evt_a", EventStatus.ACTIVE, fingerprint="n\0n")
    gone = EventState("evt_b", EventStatus.SUPERSEDED, fingerprint="m\0m")
    states = [told, gone]
    assert repeats("n\0n", states) == "evt_a"
    assert repeats("m\0m", states) is None
    assert repeats("x\0x", states, same_event_id="evt_a", offered={"evt_a"}) == "evt_a"
    assert repeats("x\0x", states, same_event_id="evt_a") is None


@pytest.mark.parametrize("event", [ACTIVE, OLD])
@pytest.mark.parametrize("status", [EventStatus.FORGOTTEN, EventStatus.ARCHIVED])
def test_restoring_returns_the_status_an_event_had_before(
    event: EventState, status: EventStatus
) -> None:
    aside = applied(event, plan_set_aside(event, status))
    assert aside.status is status
    archived = applied(aside, plan_set_aside(aside, EventStatus.ARCHIVED))
    assert applied(archived, plan_restore(archived)) == event


def test_restoring_what_is_visible_changes_nothing() -> None:
    assert applied(OLD, plan_restore(OLD)) == OLD


def test_only_setting_aside_sets_aside() -> None:
    with pytest.raises(ValueError, match="set an event aside"):
        plan_set_aside(ACTIVE, EventStatus.SUPERSEDED)


def test_an_event_whose_successor_leaves_is_active_again() -> None:
    changes = plan_release({"evt_a"}, [OLD, ACTIVE], superseders={"evt_o": ["evt_a"]})
    assert changes == (StatusChange("evt_o", EventStatus.ACTIVE, None),)


def test_an_event_with_another_successor_is_handed_to_it() -> None:
    claims = {"evt_o": ["evt_x", "evt_a"]}
    changes = plan_release({"evt_a"}, [OLD], superseders=claims)
    assert changes == (StatusChange("evt_o", EventStatus.SUPERSEDED, "evt_x"),)


def test_a_forgotten_event_stays_forgotten_when_its_successor_leaves() -> None:
    aside = applied(OLD, plan_set_aside(OLD, EventStatus.FORGOTTEN))
    (change,) = plan_release({"evt_a"}, [aside], superseders={})
    after = applied(aside, change)
    assert after.status is EventStatus.FORGOTTEN
    assert applied(after, plan_restore(after)).status is EventStatus.ACTIVE
