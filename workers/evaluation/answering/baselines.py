"""The notes of the modes that need no memory service: plain search, grep, gold, full context, none.

All are made of the very messages that were loaded, by code that knows nothing of the product's
ranking beyond how text is cut into words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from shared.domain.bm25 import bm25_scores
from shared.domain.budget import estimate_tokens
from shared.domain.search_terms import query_terms, search_terms
from workers.evaluation.answering.note import Note, note_of
from workers.evaluation.question_set import Conversation, Question

_WORD: Final = re.compile(r"\w+")
_SHORTEST: Final = 4
"""Letters of a word that grep looks for: shorter ones stand in every message."""


def gold_notes(conversation: Conversation, question: Question) -> list[Note]:
    """Return the labelled evidence, in the order it was said.

    A question that cannot be answered has none, though the data set may name messages that
    mislead.
    """
    if not question.answerable:
        return []
    return [note_of(m) for m in conversation.messages if m.id in question.evidence]


def plain_notes(conversation: Conversation, question: Question, *, k: int) -> list[Note]:
    """Return the best k messages by BM25 (k1 1.2, b 0.75), best first."""
    documents = {m.id: search_terms(f"{m.name or ''} {m.text}") for m in conversation.messages}
    best = list(bm25_scores(query_terms(question.text), documents))[:k]
    held = {m.id: m for m in conversation.messages}
    return [note_of(held[name]) for name in best]


def grep_notes(conversation: Conversation, question: Question, *, k: int) -> list[Note]:
    """Return the first k messages that hold most of the question's words as they are written."""
    asked = {word for word in _words(question.text) if len(word) >= _SHORTEST}
    counted = [(len(asked & _words(m.text)), m) for m in conversation.messages]
    hits = sorted((pair for pair in counted if pair[0]), key=lambda pair: -pair[0])
    return [note_of(message) for _, message in hits[:k]]


def full_notes(conversation: Conversation, *, token_budget: int) -> list[Note]:
    """Return the newest messages that fit an estimated number of tokens, oldest first."""
    kept: list[Note] = []
    left = token_budget
    for note in reversed([note_of(m) for m in conversation.messages]):
        left -= estimate_tokens(note.text) + 1
        if left < 0:
            break
        kept.append(note)
    return kept[::-1]


def shown_ids(notes: Sequence[Note]) -> frozenset[str]:
    """Return the messages that notes rest on."""
    return frozenset().union(*(note.ids for note in notes))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
