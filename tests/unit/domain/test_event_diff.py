from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.event_diff import ToldEvent, diff_events


def _told(event_id: str, *sources: str, block: str = "b1") -> ToldEvent:
    return ToldEvent(event_id, block, f"title of {event_id}", frozenset(sources))


def test_events_with_one_id_are_carried_whatever_else_there_is() -> None:
    found = diff_events([_told("a", "m1"), _told("b", "m2")], [_told("a", "m1"), _told("c", "m3")])
    assert found.carried == 1
    assert [one.event_id for one in found.added] == ["c"]
    assert [one.event_id for one in found.gone] == ["b"]
    assert found.changed == ()


def test_equal_sources_in_one_block_are_a_change_of_words() -> None:
    found = diff_events([_told("a", "m1", "m2")], [_told("z", "m2", "m1")])
    assert [(one.before.event_id, one.after.event_id) for one in found.changed] == [("a", "z")]
    assert (found.added, found.gone) == ((), ())


def test_equal_sources_in_other_blocks_are_none() -> None:
    found = diff_events([_told("a", "m1")], [_told("z", "m1", block="b2")])
    assert (len(found.added), len(found.changed), len(found.gone)) == (1, 0, 1)


EVENTS = st.lists(
    st.builds(
        lambda n, s, b: _told(f"e{n}", *s, block=b),
        st.integers(0, 12),
        st.sets(st.sampled_from(["m1", "m2", "m3"]), min_size=1),
        st.sampled_from(["b1", "b2"]),
    ),
    unique_by=lambda one: one.event_id,
)


@given(EVENTS, EVENTS)
def test_every_event_is_told_exactly_once(before: list[ToldEvent], after: list[ToldEvent]) -> None:
    found = diff_events(before, after)
    assert found.carried + len(found.changed) + len(found.gone) == len(before)
    assert found.carried + len(found.changed) + len(found.added) == len(after)


@given(EVENTS, EVENTS)
def test_the_way_back_tells_the_opposite(before: list[ToldEvent], after: list[ToldEvent]) -> None:
    there, back = diff_events(before, after), diff_events(after, before)
    assert len(there.added) == len(back.gone)
    assert len(there.changed) == len(back.changed)
