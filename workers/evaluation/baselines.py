"""What memory has to beat, on the same messages without any model: BM25, grep, the newest text.

Every document is `name: text`, since any system sees who speaks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from shared.domain.bm25 import Bm25Stats, score_document
from shared.domain.budget import estimate_tokens
from shared.domain.search_terms import query_terms, search_terms
from shared.domain.stop_words import ENGLISH
from workers.evaluation.context_evidence import Given
from workers.evaluation.question_set import Message

KEPT: Final = 100
"""How many ids a baseline ranks at most."""

_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

Ranker = Callable[[str], list[str]]
"""Takes a question and returns the ids of messages, best first."""


def document(message: Message) -> str:
    """Return a message as a line of a transcript."""
    return f"{message.name}: {message.text}" if message.name else message.text


def bm25_of_terms(messages: Sequence[Message]) -> Ranker:
    """BM25 (k1 .9, b .4) over the product's terms: stems, n-grams of East Asian scripts."""
    index = _Index(messages, search_terms)
    return lambda question: index.ranked(query_terms(question), k1=0.9, b=0.4)


def bm25_of_words(messages: Sequence[Message]) -> Ranker:
    """BM25 as libraries have it (k1 1.2, b .75) over lower-case words, Han by the character."""
    index = _Index(messages, plain_words)
    return lambda question: index.ranked(dict.fromkeys(plain_words(question), 1.0), k1=1.2, b=0.75)


def grep(messages: Sequence[Message]) -> Ranker:
    """How many of the question's telling words a message holds, in any case; then by order."""
    held = [(message.id, frozenset(plain_words(document(message)))) for message in messages]

    def ranked(question: str) -> list[str]:
        asked = frozenset(plain_words(question))
        telling = asked - ENGLISH or asked
        counts = [(name, len(words & telling)) for name, words in held]
        found = sorted((one for one in counts if one[1]), key=lambda one: -one[1])
        return [name for name, _ in found[:KEPT]]

    return ranked


def newest(messages: Sequence[Message], budget: int) -> Given:
    """Return which of the newest messages fit a budget of estimated tokens.

    The whole conversation where it fits; a message that does not fit ends it.
    """
    taken: list[str] = []
    tokens = 0
    for message in reversed(messages):
        cost = estimate_tokens(document(message) + "\n")
        if tokens + cost > budget:
            break
        taken.append(message.id)
        tokens += cost
    told = frozenset(taken)
    return Given(told, told, tokens)


def plain_words(text: str) -> list[str]:
    """Return lower-case words; characters of scripts without spaces one by one."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        found += list(word) if _UNSPACED.search(word) else [word]
    return found


class _Index:
    """Documents cut into terms, with what BM25 needs of them."""

    def __init__(self, messages: Sequence[Message], cut: Callable[[str], list[str]]) -> None:
        self._ids = [message.id for message in messages]
        self._counts = [Counter(cut(document(message))) for message in messages]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._holding: dict[str, list[int]] = {}
        for place, counts in enumerate(self._counts):
            for term in counts:
                self._holding.setdefault(term, []).append(place)

    def ranked(self, asked: Mapping[str, float], *, k1: float, b: float) -> list[str]:
        stats = Bm25Stats(
            document_count=len(self._ids),
            average_length=sum(self._lengths) / len(self._ids),
            document_frequencies={term: len(self._holding.get(term, ())) for term in asked},
        )
        scored = {
            place: score_document(
                self._counts[place],
                self._lengths[place],
                stats=stats,
                query_weights=asked,
                k1=k1,
                b=b,
            )
            for place in sorted({p for term in asked for p in self._holding.get(term, ())})
        }
        best = sorted(scored, key=lambda place: (-scored[place], place))
        return [self._ids[place] for place in best[:KEPT]]
