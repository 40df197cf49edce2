"""The pure rules of erasure: what may be selected, what becomes of events, which words tell of it.

An event that rests on erased words goes; one that another block says as well rests on that alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from shared.domain.events import Quote
from shared.domain.search_terms import search_terms

LABEL_SIGN: Final = "="
_TELLING_LENGTH: Final = 16
_SHORTEST_PHRASE: Final = 6


class SelectorKind(StrEnum):
    """What an erasure may select; `retention` is chosen by the upkeep alone."""

    TURN = "turn"
    THREAD = "thread"
    LABEL = "label"
    EVENT = "event"
    NAMESPACE = "namespace"
    RETENTION = "retention"


@dataclass(frozen=True, slots=True)
class Source:
    """A message that an event cites, with the block that holds it now and whether it goes."""

    message_id: str
    block_id: str | None
    is_erased: bool


@dataclass(frozen=True, slots=True)
class CitingEvent:
    """An event with what it rests on."""

    event_id: str
    block_id: str
    sources: tuple[Source, ...]
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """An event that stays: the block it belongs to now, one that it cites, and its quotes."""

    event_id: str
    block_id: str
    message_id: str
    quotes: tuple[Quote, ...]


def fate_of(event: CitingEvent) -> Kept | None:
    """Return how an event stays, or None when it goes.

    Its text was drawn from its own block; where that loses a source of it, only another block's
    repetition (D15) can carry it, since that says the same in words of its own.
    """
    left = [one for one in event.sources if not one.is_erased]
    has_lost_own = any(one.is_erased and one.block_id == event.block_id for one in event.sources)
    if has_lost_own:
        left = [one for one in left if one.block_id not in (None, event.block_id)]
    own = [one for one in left if one.block_id == event.block_id]
    carrier = next(iter(own or left), None)
    if carrier is None or carrier.block_id is None:
        return None
    cited = {one.message_id for one in left}
    quotes = tuple(quote for quote in event.quotes if quote.message_id in cited)
    return Kept(event.event_id, carrier.block_id, carrier.message_id, quotes)


def words_of(values: Iterable[object]) -> set[str]:
    """Return the search terms of every text in JSON values, however deep."""
    return {term for text in texts_of(values) for term in search_terms(text)}


def phrases_of(values: Iterable[object]) -> set[str]:
    """Return the texts that are telling as a whole: identifiers and long ones, lower-cased."""
    return {
        text.lower()
        for text in texts_of(values)
        if len(text) >= _SHORTEST_PHRASE
        and (len(text) >= _TELLING_LENGTH or any(sign.isdigit() for sign in text))
    }


def texts_of(values: Iterable[object]) -> Iterator[str]:
    """Give every text in JSON values, keys included."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from texts_of(value.keys())
            yield from texts_of(value.values())
        elif isinstance(value, Sequence):
            yield from texts_of(value)


@dataclass(frozen=True, slots=True)
class Wording:
    """Words and phrases that nothing which is left says: whoever holds one has it from there."""

    words: frozenset[str] = frozenset()
    phrases: frozenset[str] = frozenset()

    def is_in(self, *values: object) -> bool:
        """Tell whether any of the erased wording stands in JSON values."""
        if not (self.words or self.phrases):
            return False
        for text in texts_of(values):
            lowered = text.lower()
            if any(phrase in lowered for phrase in self.phrases):
                return True
            if not self.words.isdisjoint(search_terms(text)):
                return True
        return False

    def joined(self, other: Wording, *, most: int) -> Wording:
        """Return both together, the longest of each kind where there are more than `most`."""
        return Wording(
            frozenset(_longest(self.words | other.words, most)),
            frozenset(_longest(self.phrases | other.phrases, most)),
        )

    def probes(self, number: int) -> tuple[str, ...]:
        """Return the words to search for, to show that nothing is found: the most telling ones."""
        return tuple(_longest(self.words, number))


def label_of(value: str) -> tuple[str, str] | None:
    """Return the name and value of a label written `name=value`, or None when it is not."""
    name, sign, wanted = value.partition(LABEL_SIGN)
    return (name, wanted) if sign and name else None


def certified(
    counts: Mapping[str, int],
    hashes: Mapping[str, Mapping[str, Any]],
    probe: Mapping[str, Any],
    *,
    scrubbed: Mapping[str, int],
) -> dict[str, Any]:
    """Return what a certificate tells: rows that went, tombstones, and what a search finds.

    `scrubbed` counts the records that stay without the erased words.
    """
    return {
        "counts": dict(sorted(counts.items())),
        "hashes": {kind: dict(hashes[kind]) for kind in sorted(hashes)},
        "scrubbed": {name: number for name, number in sorted(scrubbed.items()) if number},
        "probe": dict(probe),
    }


def _longest(texts: Collection[str], number: int) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text), text))[:number]
