"""Doubt that memory holds an answer: the asked person's best hit falls behind somebody else's,
or names, numbers and times of the question are nowhere among the hits (D24).

A score's height tells little, for a wrong hit may hold many of the question's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.questions import contains_term, named_terms
from shared.domain.ranking.messages import Ranked
from shared.domain.ranking.question import Asked, named_speakers
from shared.domain.ranking.weights import SHIPPED, Signal

DOUBTFUL: Final = 0.1
"""From here on an answer is unlikely; measured in docs/evaluation/retrieval.md."""

_LOOKED_AT: Final = 10
_MISSING: Final = 0.2
"""What doubt grows by where every name and number of a question is missing."""

_OTHER_TIME: Final = 0.1
"""What it grows by where no hit was said in or right after the month or year asked for."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """How much speaks against an answer, above `DOUBTFUL` a lot, and why.

    `margin` is how far the named person's best hit leads the others' best, from -1 (only others
    have hits) to 1; 0 where nobody or everybody is named. `missing` are names and numbers that
    no hit holds.
    """

    score: float
    margin: float
    missing: tuple[str, ...]
    is_other_time: bool

    @property
    def is_likely_unanswerable(self) -> bool:
        """Tell whether an agent should be warned."""
        return self.score >= DOUBTFUL


def doubt_of(question: str, asked: Asked, ranked: Sequence[Ranked]) -> Doubt:
    """Return the doubt that these hits, best first, answer a question.

    No hits at all are no doubt but a certainty, which an empty reply tells: the score is 1.
    """
    if not ranked:
        return Doubt(1.0, 0.0, (), is_other_time=False)
    best = ranked[:_LOOKED_AT]
    terms = named_terms(question)
    texts = [f"{one.said.speaker or ''}\n{one.said.content}" for one in best]
    missing = tuple(term for term in terms if not contains_term(texts, term))
    dated = bool(asked.months or asked.years)
    other_time = dated and not any(one.signals.get(Signal.SAID_THEN) for one in best)
    margin = _margin(asked, ranked)
    score = -margin + _OTHER_TIME * other_time
    if missing:
        score += _MISSING * len(missing) / len(terms)
    return Doubt(score, margin, missing, other_time)


def _margin(asked: Asked, ranked: Sequence[Ranked]) -> float:
    named = named_speakers(asked, {one.said.speaker for one in ranked if one.said.speaker})
    if not named:
        return 0.0
    own, other = 0.0, 0.0
    for one in ranked:
        # Being the one asked about is what is in question, so it must not count as evidence.
        speaker = SHIPPED[Signal.SPEAKER] * one.signals.get(Signal.SPEAKER, 0.0)
        if one.said.speaker in named:
            own = max(own, one.score - speaker)
        else:
            other = max(other, one.score - speaker)
    return (own - other) / max(own, other) if max(own, other) > 0 else 0.0
