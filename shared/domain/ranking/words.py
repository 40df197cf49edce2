"""BM25F over a message and what stands beside it: the neighbours' words count at a fraction.

An answer seldom repeats the words of its question, but the message before it often does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.bm25 import Bm25Stats
from shared.domain.ranking.said import Near, Said
from shared.domain.ranking.weights import K1, NAME, NEARNESS, B, Nearness
from shared.domain.search_terms import search_terms

_MOST: Final = K1 + 1
"""What a term's frequency saturates towards."""


@dataclass(frozen=True, slots=True)
class WordScorer:
    """Scores messages for one question; made once for all of them by `word_scorer`.

    `worth` is each asked term's weight times its rarity in the collection, `asked` their sum;
    `joined_length` is the mean length of a message with those beside it.
    """

    worth: Mapping[str, float]
    asked: float
    average_length: float
    joined_length: float
    nearness: Nearness = NEARNESS

    def own(self, said: Said) -> float:
        """Return BM25 of a message's own words."""
        return self._score(said.held, said.length / self.average_length) if said.held else 0.0

    def joined(self, said: Said, beside: Near) -> float:
        """Return BM25F of a message with its neighbours; its mean length grows by theirs."""
        previous, following, before_previous = beside
        weights = self.nearness
        length = said.length
        frequencies = said.held
        # Most messages hold no asked term, so nothing is copied before it must be.
        if previous is not None:
            length += weights.previous * previous.length
            if previous.held:
                frequencies = _lent(frequencies, previous.held, weights.previous)
        if following is not None:
            length += weights.following * following.length
            if following.held:
                frequencies = _lent(frequencies, following.held, weights.following)
        if before_previous is not None:
            length += weights.before_previous * before_previous.length
            if before_previous.held:
                frequencies = _lent(frequencies, before_previous.held, weights.before_previous)
        return self._score(frequencies, length / self.joined_length) if frequencies else 0.0

    def coverage(self, said: Said) -> float:
        """Return how much of the question a message's own words cover, from 0 to 1.

        Missing a rare word costs most; a word that no message holds is not asked of any.
        """
        if not said.held or self.asked <= 0:
            return 0.0
        worth = self.worth
        held = 0.0
        for term in said.held:
            if term in worth:
                held += worth[term]
        return held / self.asked

    def _score(self, held: Mapping[str, float], relative_length: float) -> float:
        damping = K1 * (1 - B + B * relative_length)
        worth = self.worth
        score = 0.0
        for term, frequency in held.items():
            if term in worth:
                score += worth[term] * frequency * _MOST / (frequency + damping)
        return score


def word_scorer(terms: Mapping[str, float], stats: Bm25Stats) -> WordScorer:
    """Return what scores messages by the terms of a question.

    `stats` are those of the messages' own words: nothing has to be rewritten for a message's
    neighbours when the next one arrives.
    """
    known = {t: w for t, w in terms.items() if stats.document_frequencies.get(t, 0) > 0}
    worth = {term: weight * stats.idf(term) for term, weight in known.items()}
    average = stats.average_length or 1.0
    joined = average * (1 + NEARNESS.total)
    return WordScorer(worth, sum(worth.values()), average, joined)


def with_names(terms: Mapping[str, float], messages: Iterable[Said]) -> list[Said]:
    """Return the messages with the name of their speaker, where it is asked for, as a word."""
    names: dict[str | None, list[str]] = {None: []}
    found: list[Said] = []
    for said in messages:
        if said.speaker not in names:
            names[said.speaker] = [t for t in search_terms(said.speaker or "") if t in terms]
        own = names[said.speaker]
        found.append(said._replace(held=_more(said.held, own)) if own else said)
    return found


def _more(held: Mapping[str, float], terms: Iterable[str]) -> Mapping[str, float]:
    return {**held, **{term: held.get(term, 0.0) + NAME for term in terms}}


def _lent(held: Mapping[str, float], lent: Mapping[str, float], weight: float) -> dict[str, float]:
    """Return frequencies with a neighbour's, which count `weight`."""
    joined = dict(held)
    for term, frequency in lent.items():
        joined[term] = joined.get(term, 0.0) + weight * frequency
    return joined
