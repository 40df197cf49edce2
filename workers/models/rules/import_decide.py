"""What to do with an imported candidate, by the words that it shares with what is remembered.

Words tell repetition well and contradiction badly: where a value differs, a person decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared.domain.external_memory_decide import ImportAction
from shared.domain.search_terms import search_terms
from workers.models.inputs import ImportDecideInput, ImportMatch

_SURE: Final = 0.9
_FAIRLY_SURE: Final = 0.86
_DOUBTFUL: Final = 0.6
_IN_DOUBT: Final = 0.5
_SAME_WORDS: Final = 0.85
_CONTAINED: Final = 0.95
_SAME_SUBJECT: Final = 0.4
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|without|cannot|\w+n['’]t)\b|不|没|未|无|别", re.IGNORECASE
)
_VALUE: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How much a candidate and an event share: of both, of the candidate, of the event."""

    match: ImportMatch
    both: float
    of_candidate: float
    of_match: float
    denies: bool
    other_values: bool


def decide_import(material: ImportDecideInput) -> dict[str, object]:
    """Return the decision in the shape of a model's reply."""
    candidate = material.candidate
    words = f"{candidate.title} {candidate.summary}"
    found = [_likeness(words, match) for match in material.matches]
    best = max(found, key=lambda one: (one.both, one.of_candidate), default=None)
    if best is None:
        return _reply(ImportAction.ADD, _SURE, "nothing like it is remembered")
    if best.both >= _SAME_SUBJECT and best.denies:
        return _reply(ImportAction.CONFLICT, _IN_DOUBT, "one says what the other denies", best)
    if best.both >= _SAME_SUBJECT and best.other_values:
        return _reply(ImportAction.SUPERSEDE, _DOUBTFUL, "the same with another value", best)
    if best.both >= _SAME_WORDS:
        return _reply(ImportAction.IGNORE, _SURE, "the same in almost the same words", best)
    if best.of_candidate >= _CONTAINED:
        return _reply(ImportAction.IGNORE, _FAIRLY_SURE, "it says no more than this event", best)
    if best.of_match >= _CONTAINED:
        return _reply(ImportAction.MERGE, _FAIRLY_SURE, "it says all of this event and more", best)
    if best.both >= _SAME_SUBJECT:
        return _reply(ImportAction.SUPERSEDE, _IN_DOUBT, "the same subject in other words", best)
    return _reply(ImportAction.ADD, _SURE, "what is remembered is about something else")


def _likeness(words: str, match: ImportMatch) -> _Likeness:
    told = f"{match.title} {match.summary}"
    one, other = set(search_terms(words)), set(search_terms(told))
    shared = len(one & other)
    return _Likeness(
        match=match,
        both=shared / max(1, len(one | other)),
        of_candidate=shared / max(1, len(one)),
        of_match=shared / max(1, len(other)),
        denies=bool(_NEGATION.search(words)) != bool(_NEGATION.search(told)),
        other_values=set(_VALUE.findall(words)) != set(_VALUE.findall(told)),
    )


def _reply(
    action: ImportAction, confidence: float, reason: str, like: _Likeness | None = None
) -> dict[str, object]:
    return {
        "action": action.value,
        "existingEventIds": [] if like is None else [like.match.event_id],
        "confidence": confidence,
        "reason": reason,
        "mergedCandidate": None,
    }
