"""What a person answers to the decisions of an import, checked against what was shown (D26).

Only events that the decider was shown are legal targets, for people as for models.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from shared.domain.external_memory import Candidate
from shared.domain.external_memory_decide import (
    NEEDS_TARGET,
    Decision,
    ImportAction,
)
from shared.errors import Conflict, FieldError, InvalidInput

_UNANSWERED = "left unanswered, and ignored as asked"


@dataclass(frozen=True, slots=True)
class Answer:
    """One decision of a person: about the candidate at `position`, counted from 0."""

    position: int
    action: ImportAction
    existing_event_ids: tuple[str, ...] = ()
    merged: Candidate | None = None


def final_decisions(
    proposed: Sequence[Decision],
    answers: Sequence[Answer],
    *,
    shown: Sequence[Collection[str]],
    ignore_unanswered: bool,
) -> tuple[Decision, ...]:
    """Return what is done with each candidate; an answer overrules what was proposed.

    `shown` names, for each candidate, the events that its decider was shown. A doubtful one
    without an answer is ignored only when `ignore_unanswered` says so. Raises InvalidInput for
    an answer that cannot hold, Conflict (`confirmation_required`) naming what is unanswered.
    """
    by_position = _checked(answers, shown)
    unanswered = [
        position
        for position, decision in enumerate(proposed)
        if decision.requires_confirmation and position not in by_position
    ]
    if unanswered and not ignore_unanswered:
        raise Conflict(
            f"{len(unanswered)} candidate(s) wait for a person: answer them, or send "
            "ignore_unanswered to leave them out",
            code="confirmation_required",
            errors=tuple(
                FieldError(
                    f"/candidates/{position}",
                    "confirmation_required",
                    f"proposed {proposed[position].action.value}",
                )
                for position in unanswered
            ),
        )
    return tuple(
        _final(decision, by_position.get(position), is_left=position in unanswered)
        for position, decision in enumerate(proposed)
    )


def _final(decision: Decision, answer: Answer | None, *, is_left: bool) -> Decision:
    if answer is not None:
        as_proposed = decision.merged if answer.action is decision.action else None
        return replace(
            decision,
            action=answer.action,
            confidence=1.0,
            requires_confirmation=False,
            existing_event_ids=answer.existing_event_ids,
            merged=answer.merged or as_proposed,
        )
    if is_left:
        return replace(
            decision,
            action=ImportAction.IGNORE,
            requires_confirmation=False,
            existing_event_ids=(),
            reason=_UNANSWERED,
        )
    return decision


def _checked(answers: Sequence[Answer], shown: Sequence[Collection[str]]) -> Mapping[int, Answer]:
    by_position: dict[int, Answer] = {}
    for number, answer in enumerate(answers):
        at = f"/decisions/{number}"
        if answer.position >= len(shown):
            raise InvalidInput.at(
                f"{at}/candidate_index", "there is no such candidate", "unknown_candidate"
            )
        if answer.position in by_position:
            raise InvalidInput.at(
                f"{at}/candidate_index", "this candidate is answered twice", "repeated_candidate"
            )
        _check_targets(answer, shown[answer.position], at)
        by_position[answer.position] = answer
    return by_position


def _check_targets(answer: Answer, shown: Collection[str], at: str) -> None:
    pointer = f"{at}/existing_event_ids"
    needs = answer.action in NEEDS_TARGET
    if needs and not answer.existing_event_ids:
        raise InvalidInput.at(
            pointer, f"{answer.action.value} needs the event(s) it is about", "target_required"
        )
    if not needs and answer.existing_event_ids:
        raise InvalidInput.at(
            pointer, f"{answer.action.value} is about no existing event", "target_not_allowed"
        )
    for number, event_id in enumerate(answer.existing_event_ids):
        if event_id not in shown:
            raise InvalidInput.at(
                f"{pointer}/{number}", "not among this candidate's matches", "illegal_target"
            )
