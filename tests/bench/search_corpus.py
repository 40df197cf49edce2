"""Synthetic memories: namespaces of skewed size, words as often as in speech, English and Chinese.

Everything comes from a seed, so that two runs, and two ways of writing, hold the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate

from shared.domain.search_terms import search_terms

START = datetime(2025, 1, 1, tzinfo=UTC)
TOKENS = 60
"""Words of an English message; a Chinese one has as many characters."""

_VOCABULARY = 60_000
_HAN_VOCABULARY = 12_000
_ENGLISH_STOP = ("the", "a", "of", "and", "to", "in", "is", "was", "it", "that", "on", "for")
_SHARE_OF_STOPS = 0.35
_TERMS_OF_TWO_CHARACTERS = 3
_TELLING = "海鲜"
_EVERY_CHINESE = 5
"""Every fifth namespace speaks Chinese."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message: its place, its text, and the terms it is found by."""

    message_id: str
    turn_id: str
    thread_id: str
    turn: int
    position: int
    at: datetime
    content: str
    frequencies: Counter[str]


@dataclass(frozen=True, slots=True)
class Namespace:
    """One namespace of a synthetic database, with a tenant of its own."""

    number: int
    messages: int

    @property
    def tenant_id(self) -> str:
        """The tenant's id."""
        return f"ten_{self.number:032x}"

    @property
    def name(self) -> str:
        """The namespace's name."""
        return f"project:n{self.number}"

    @property
    def is_chinese(self) -> bool:
        """Tell which language is spoken."""
        return self.number % _EVERY_CHINESE == _EVERY_CHINESE - 1


def namespaces_of(messages: int, count: int) -> list[Namespace]:
    """Share messages out: the largest namespace gets about 13 %, the last ones 160 of 10⁶."""
    shares = [1 / (place + 0.1) ** 0.98 for place in range(1, count + 1)]
    total = sum(shares)
    sizes = [max(2, round(messages * share / total) // 2 * 2) for share in shares]
    return [Namespace(number, size) for number, size in enumerate(sizes)]


class Speech:
    """Draws words by Zipf's law; one for all namespaces, as it knows each word's terms."""

    def __init__(self) -> None:
        chance = random.Random(7)  # noqa: S311 - repeatable speech
        self._known = {False: _english_words(chance), True: _han_words(chance)}
        self._bounds = {
            language: list(accumulate(1 / (place + 2.0) for place in range(len(words))))
            for language, words in self._known.items()
        }
        self._terms: dict[str, tuple[str, ...]] = {}

    def words(self, chance: random.Random, count: int, *, chinese: bool) -> list[str]:
        """Return words that are no function words, as often as speech has them."""
        return chance.choices(self._known[chinese], cum_weights=self._bounds[chinese], k=count)

    def message(
        self, chance: random.Random, *, chinese: bool, tokens: int = TOKENS
    ) -> tuple[str, Counter[str]]:
        """Return a text of `tokens` words (or characters), and the terms it is indexed under."""
        if chinese:
            words = self.words(chance, tokens // 3, chinese=True)
            return "，".join(words), self._counted(words)
        told = self.words(chance, round(tokens * (1 - _SHARE_OF_STOPS)), chinese=False)
        words = told + chance.choices(_ENGLISH_STOP, k=tokens - len(told))
        chance.shuffle(words)
        return " ".join(words), self._counted(told)

    def question(self, chance: random.Random, kind: str, *, chinese: bool) -> str:
        """Return a question of five words: `common` ones alone, or `mixed` as speech has them."""
        if kind == "mixed":
            words = self.words(chance, 5, chinese=chinese)
        else:
            words = chance.sample(self._known[chinese][:60], 5)
        return ("，" if chinese else " ").join(words)

    def _counted(self, words: list[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for word in words:
            terms = self._terms.get(word)
            if terms is None:
                terms = self._terms[word] = tuple(search_terms(word))
            for term in terms:
                counts[term] += 1
        return counts


@cache
def speech() -> Speech:
    """Return the one speech of this process: it takes a second to learn."""
    return Speech()


def said_in(namespace: Namespace, words: Speech, *, tokens: int = TOKENS) -> Iterator[Said]:
    """Return a namespace's messages in order: two a turn, threads of two hundred turns."""
    chance = random.Random(namespace.number)  # noqa: S311 - repeatable speech
    for number in range(namespace.messages):
        turn = number // 2
        content, frequencies = words.message(chance, chinese=namespace.is_chinese, tokens=tokens)
        yield Said(
            message_id=f"msg_{namespace.number:08x}{number:024x}",
            turn_id=f"trn_{namespace.number:08x}{turn:024x}",
            thread_id=f"t{turn // 200}",
            turn=turn % 200 + 1,
            position=number % 2,
            at=START + timedelta(minutes=7 * turn),
            content=content,
            frequencies=frequencies,
        )


def _english_words(chance: random.Random) -> list[str]:
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < _VOCABULARY:
        word = "".join(chance.choices(syllables, k=chance.choice((2, 3, 3, 4)))) + "k"
        found[word] = None
    return list(found)


def _han_words(chance: random.Random) -> list[str]:
    characters = [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]
    weights = [1 / (place + 5) for place in range(len(characters))]
    found: dict[str, None] = {}
    while len(found) < _HAN_VOCABULARY:
        word = "".join(chance.choices(characters, weights=weights, k=2))
        # A word of function words alone is a term of its own only where it stands alone.
        if len(search_terms(f"{word}，{_TELLING}")) == 2 * _TERMS_OF_TWO_CHARACTERS:
            found[word] = None
    return list(found)
