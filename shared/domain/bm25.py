"""BM25 in two forms: over documents in hand (section 14), and over statistics kept in SQL.

Both use idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which never turns negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.ordering import collation_key


@dataclass(frozen=True, slots=True)
class Bm25Stats:
    """What a collection says about itself: size, mean length in terms, documents per term."""

    document_count: int
    average_length: float
    document_frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Return how telling a term is: near 0 where every document holds it."""
        frequency = self.document_frequencies.get(term, 0)
        return inverse_document_frequency(self.document_count, frequency)


def inverse_document_frequency(document_count: int, document_frequency: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)); a df above N counts as N."""
    frequency = min(document_frequency, document_count)
    return math.log(1 + (document_count - frequency + 0.5) / (frequency + 0.5))


def bm25_scores(
    query_terms: Iterable[str],
    documents: Mapping[str, Sequence[str]],
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> dict[str, float]:
    """Score documents by their tokens; best first, ties by id, scores of 0 left out.

    Query terms count once. The mean length is taken over all documents.
    """
    terms = tuple(dict.fromkeys(query_terms))
    counts = {name: Counter(tokens) for name, tokens in documents.items()}
    lengths = {name: len(tokens) for name, tokens in documents.items()}
    stats = Bm25Stats(
        document_count=len(documents),
        average_length=sum(lengths.values()) / len(documents) if documents else 0.0,
        document_frequencies={t: sum(t in held for held in counts.values()) for t in terms},
    )
    weights = dict.fromkeys(terms, 1.0)
    scored = {
        name: score_document(held, lengths[name], stats=stats, query_weights=weights, k1=k1, b=b)
        for name, held in counts.items()
    }
    found = ((name, score) for name, score in scored.items() if score > 0)
    return dict(sorted(found, key=lambda pair: (-pair[1], collation_key(pair[0]))))


def score_document(
    term_frequencies: Mapping[str, float],
    length: float,
    *,
    stats: Bm25Stats,
    query_weights: Mapping[str, float],
    k1: float = 0.9,
    b: float = 0.4,
) -> float:
    """Return one document's score, 0 when it holds no asked term.

    `length` counts the document's terms; frequencies may be weighted by field, then they are
    fractions. The defaults suit short messages, where repetition and length say little.
    """
    relative_length = length / (stats.average_length or 1.0)
    damping = k1 * (1 - b + b * relative_length)
    score = 0.0
    for term, weight in query_weights.items():
        frequency = term_frequencies.get(term, 0)
        if frequency > 0 and weight > 0:
            saturated = frequency * (k1 + 1) / (frequency + damping)
            score += weight * stats.idf(term) * saturated
    return score


def weighted_tokens(fields: Iterable[tuple[Sequence[str], float]]) -> list[str]:
    """Join fields' tokens, each list repeated floor(weight) times and at least once.

    So a field's weight counts for the term frequency and for the document's length alike.
    """
    return [
        token
        for tokens, weight in fields
        for _ in range(max(1, math.floor(weight)))
        for token in tokens
    ]
