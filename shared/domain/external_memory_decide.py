"""What becomes of a candidate: add, merge, supersede, conflict or ignore (D26).

Exact repetitions are settled without a model. A model's word is held to the events it was
shown; what is unsure, recovered or aims at anything else waits for a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.domain.external_memory import Candidate, confidence_of, normalise_candidate
from shared.domain.extraction_fields import fields_of

SURE: Final = 0.85
"""Below this confidence a decision waits for a person."""
UNSURE: Final = 0.5
_REASON = 500
_NO_LEGAL_TARGET = "the decision names no existing memory that it was shown"
_REPEATS_STORED = "word for word what is already remembered"
_REPEATS_FILE = "word for word an earlier candidate of this import"


class ImportAction(StrEnum):
    """What is done with a candidate."""

    ADD = "ADD"
    MERGE = "MERGE"
    SUPERSEDE = "SUPERSEDE"
    CONFLICT = "CONFLICT"
    IGNORE = "IGNORE"


NEEDS_TARGET: Final = frozenset({ImportAction.MERGE, ImportAction.SUPERSEDE, ImportAction.CONFLICT})
"""Actions that are about events which exist already."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The settled or proposed fate of one candidate.

    `existing_event_ids` are legal targets only. `proposed` is the action a model asked for,
    also where it was not followed; `rejected_event_ids` the ids it had no right to name.
    """

    action: ImportAction
    confidence: float
    requires_confirmation: bool
    existing_event_ids: tuple[str, ...] = ()
    reason: str | None = None
    merged: Candidate | None = None
    proposed: str | None = None
    rejected_event_ids: tuple[str, ...] = ()

    @property
    def adds_event(self) -> bool:
        """Tell whether an event is made; MERGE and SUPERSEDE both replace their targets."""
        return self.action is not ImportAction.IGNORE

    @property
    def supersedes(self) -> tuple[str, ...]:
        """Return the events that the new one replaces."""
        is_replacing = self.action in (ImportAction.MERGE, ImportAction.SUPERSEDE)
        return self.existing_event_ids if is_replacing else ()

    @property
    def conflicts_with(self) -> tuple[str, ...]:
        """Return the events that the new one contradicts."""
        return self.existing_event_ids if self.action is ImportAction.CONFLICT else ()


def settle_repeated(
    candidates: Sequence[Candidate], existing: Mapping[str, str], *, is_recovered: bool = False
) -> tuple[Decision | None, ...]:
    """Return a final IGNORE for each exact repetition, None where a decision is needed.

    `existing` maps the fingerprints of events that are not forgotten or archived to their ids.
    A candidate also repeats an earlier one of the same import. Recovered ones are read by a
    model, so that a person confirms even these.
    """
    seen: set[str] = set()
    settled: list[Decision | None] = []
    for candidate in candidates:
        key = candidate.fingerprint
        if key in existing:
            settled.append(_repeated(_REPEATS_STORED, (existing[key],), is_recovered))
        elif key in seen:
            settled.append(_repeated(_REPEATS_FILE, (), is_recovered))
        else:
            settled.append(None)
        seen.add(key)
    return tuple(settled)


def normalise_decision(
    reply: Mapping[str, object], *, matches: Sequence[str], is_recovered: bool = False
) -> Decision:
    """Turn a decider's reply into a decision held to `matches`, the ids it was shown.

    An unknown action is IGNORE. MERGE, SUPERSEDE and CONFLICT without a legal target become
    IGNORE with confidence 0.5. Missing confidence is 0.5, others are clamped to 0..1.
    """
    fields = fields_of(reply)
    word = fields.text("action", limit=40).upper()
    action = next((one for one in ImportAction if one.value == word), ImportAction.IGNORE)
    named = fields.texts("existingEventIds", count=100, limit=200)
    legal = tuple(one for one in named if one in matches)
    illegal = tuple(one for one in named if one not in matches)
    confidence = confidence_of(fields.get("confidence"))
    said = fields.get("reason")
    reason = said.strip()[:_REASON] or None if isinstance(said, str) else None
    sure = UNSURE if confidence is None else confidence
    if action in NEEDS_TARGET and not legal:
        action, sure, reason = ImportAction.IGNORE, UNSURE, _NO_LEGAL_TARGET
    return Decision(
        action=action,
        confidence=sure,
        requires_confirmation=sure < SURE or is_recovered or bool(illegal),
        existing_event_ids=legal,
        reason=reason,
        merged=normalise_candidate(fields.get("mergedCandidate")),
        proposed=word or None,
        rejected_event_ids=illegal,
    )


def undecided(reason: str) -> Decision:
    """Return the decision for a reply that cannot be read: a person decides, nothing is done."""
    return Decision(
        action=ImportAction.IGNORE,
        confidence=UNSURE,
        requires_confirmation=True,
        reason=reason[:_REASON],
    )


def repeated(event_id: str) -> Decision:
    """Return the decision for what is remembered word for word by now."""
    return _repeated(_REPEATS_STORED, (event_id,), False)


def _repeated(reason: str, existing: tuple[str, ...], is_recovered: bool) -> Decision:
    return Decision(
        action=ImportAction.IGNORE,
        confidence=1.0,
        requires_confirmation=is_recovered,
        existing_event_ids=existing,
        reason=reason,
    )
