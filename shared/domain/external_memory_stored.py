"""Candidates and decisions as plain values to keep beside an import, and back again.

Everything that a reader or a model may see of them is redacted before it is kept (D38).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.domain.external_memory import (
    Candidate,
    CandidateTime,
    normalise_candidate,
    storable,
)
from shared.domain.external_memory_decide import Decision, ImportAction
from shared.domain.redaction import redact, redact_value


def redacted_candidate(candidate: Candidate) -> Candidate:
    """Return the candidate as readers may see it: no secret in any of its words."""
    told = candidate_from_json(redact_value(candidate_to_json(candidate)))
    return candidate if told is None else told


def redacted_decision(decision: Decision) -> Decision:
    """Return the decision without secrets in the words of the decider."""
    return replace(
        decision,
        reason=None if decision.reason is None else _told(decision.reason),
        merged=None if decision.merged is None else redacted_candidate(decision.merged),
        proposed=None if decision.proposed is None else _told(decision.proposed),
        rejected_event_ids=tuple(_told(one) for one in decision.rejected_event_ids),
    )


def _told(text: str) -> str:
    return redact(storable(text))


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate in the keys of the import format; what is absent is left out."""
    values = {
        "title": candidate.title,
        "summary": candidate.summary,
        "memoryKind": candidate.memory_kind and candidate.memory_kind.value,
        "category": candidate.category and candidate.category.value,
        "narrative": candidate.narrative,
        "tags": list(candidate.tags),
        "quotes": list(candidate.quotes),
        "scope": candidate.scope and candidate.scope.value,
        "criticality": candidate.criticality and candidate.criticality.value,
        "confidence": candidate.confidence,
        "temporal": candidate.temporal and _time_to_json(candidate.temporal),
        "provenance": candidate.provenance,
    }
    return {key: value for key, value in values.items() if value not in (None, [])}


def candidate_from_json(value: object) -> Candidate | None:
    """Return the candidate that `candidate_to_json` wrote; None for anything else."""
    candidate = normalise_candidate(value)
    if candidate is None or not isinstance(value, Mapping):
        return None
    label = value.get("provenance")
    return replace(candidate, provenance=label if isinstance(label, str) else None)


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain values."""
    return {
        "action": decision.action.value,
        "confidence": decision.confidence,
        "requires_confirmation": decision.requires_confirmation,
        "existing_event_ids": list(decision.existing_event_ids),
        "reason": decision.reason,
        "merged": decision.merged and candidate_to_json(decision.merged),
        "proposed": decision.proposed,
        "rejected_event_ids": list(decision.rejected_event_ids),
    }


def decision_from_json(value: Mapping[str, Any]) -> Decision:
    """Return the decision that `decision_to_json` wrote."""
    return Decision(
        action=ImportAction(value["action"]),
        confidence=float(value["confidence"]),
        requires_confirmation=bool(value["requires_confirmation"]),
        existing_event_ids=tuple(value["existing_event_ids"]),
        reason=value["reason"],
        merged=candidate_from_json(value["merged"]),
        proposed=value["proposed"],
        rejected_event_ids=tuple(value["rejected_event_ids"]),
    )


def _time_to_json(time: CandidateTime) -> dict[str, Any]:
    values = {
        "mentionedAt": time.mentioned_at,
        "happenedStart": time.happened_start,
        "happenedEnd": time.happened_end,
        "originalText": time.original_text,
        "precision": time.precision and time.precision.value,
        "basis": time.basis and time.basis.value,
        "status": time.status and time.status.value,
        "eventType": time.event_type,
        "participants": list(time.participants) if time.participants else None,
    }
    return {key: value for key, value in values.items() if value is not None}
