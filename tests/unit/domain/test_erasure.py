from __future__ import annotations

import pytest

from shared.domain.erasure import (
    CitingEvent,
    Source,
    Wording,
    fate_of,
    label_of,
    phrases_of,
    texts_of,
    words_of,
)
from shared.domain.events import Quote

HERE, THERE = "blk_here", "blk_there"


def event(*sources: Source) -> CitingEvent:
    quotes = tuple(Quote(one.message_id, "words") for one in sources)
    return CitingEvent("evt", HERE, sources, quotes)


def test_an_event_goes_with_a_source_in_its_own_block_even_if_that_has_another() -> None:
    gone, left = Source("m1", HERE, True), Source("m2", HERE, False)
    assert fate_of(event(gone)) is None
    assert fate_of(event(gone, left)) is None
    assert fate_of(event(left)) is not None


def test_an_event_that_another_block_repeats_moves_there_with_that_quote_alone() -> None:
    kept = fate_of(event(Source("m1", HERE, True), Source("m9", THERE, False)))
    assert kept is not None
    assert (kept.block_id, kept.message_id) == (THERE, "m9")
    assert [quote.message_id for quote in kept.quotes] == ["m9"]


def test_an_event_that_loses_a_repetition_stays_where_it_is() -> None:
    kept = fate_of(event(Source("m1", HERE, False), Source("m9", THERE, True)))
    assert kept is not None
    assert (kept.block_id, kept.message_id) == (HERE, "m1")
    assert [quote.message_id for quote in kept.quotes] == ["m1"]


def test_an_event_without_any_source_goes() -> None:
    assert fate_of(event()) is None


def test_texts_are_found_however_deep_with_their_keys() -> None:
    assert set(texts_of([{"a": ["b", {"c": 1, "d": None}]}, "e", 5, True])) == set("abcde")


def test_wording_is_recognised_as_a_term_or_as_a_phrase() -> None:
    wording = Wording(frozenset(words_of(["Quuxville"])), frozenset({"order-4711"}))
    assert wording.is_in({"query": "where is QUUXVILLE?"})
    assert wording.is_in(["see ORDER-4711b"])
    assert not wording.is_in("nothing of it", None, 4711)
    assert not Wording().is_in("Quuxville")


def test_only_telling_texts_count_as_phrases() -> None:
    said = ["web", "telegram", "order-4711", "a-long-name-of-a-customer", "a1"]
    assert phrases_of(said) == {"order-4711", "a-long-name-of-a-customer"}


def test_joined_wording_keeps_the_longest() -> None:
    joined = Wording(frozenset({"aaa", "b"})).joined(Wording(frozenset({"cc"})), most=2)
    assert joined.words == {"aaa", "cc"}
    assert joined.probes(1) == ("aaa",)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a=b", ("a", "b")), ("a=", ("a", "")), ("a=b=c", ("a", "b=c")), ("=b", None), ("a", None)],
)
def test_a_label_is_written_with_its_value(value: str, expected: tuple[str, str] | None) -> None:
    assert label_of(value) == expected
