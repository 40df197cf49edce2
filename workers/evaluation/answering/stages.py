"""Where a wrong answer went wrong: the first step of the way that failed."""

from __future__ import annotations

from enum import StrEnum

from workers.evaluation.answering.answered import Answered, Mode


class Stage(StrEnum):
    """The steps at which an answer fails, in the order in which they are looked at."""

    MODEL_FAILED = "model failed or unreadable"
    NOT_RETRIEVED = "answered without retrieving"
    NEVER_FOUND = "evidence never found"
    SUFFICIENT_BUT_WRONG = "judged sufficient but wrong"
    FOUND_BUT_INSUFFICIENT = "evidence found, never judged sufficient"
    BUDGET_SPENT = "budget spent"
    SHOWN_BUT_WRONG = "evidence shown, answered wrong"
    MADE_UP = "answered what cannot be known"


def failed_at(answered: Answered) -> Stage:
    """Return the stage of an answer that was judged wrong.

    Each is given one stage. A question that cannot be answered has no evidence to be found;
    modes without a loop have no assessment and no budget.
    """
    has_evidence = answered.answerable and bool(answered.gold)
    if answered.error or answered.is_unreadable or not answered.answer:
        return Stage.MODEL_FAILED
    if answered.key.mode is Mode.NONE or (
        answered.key.mode is Mode.MEMORY and not answered.retrievals
    ):
        return Stage.NOT_RETRIEVED
    if has_evidence and not answered.finds_evidence:
        return Stage.NEVER_FOUND
    if answered.key.mode is not Mode.MEMORY:
        return Stage.SHOWN_BUT_WRONG if answered.answerable else Stage.MADE_UP
    if answered.is_sufficient:
        return Stage.SUFFICIENT_BUT_WRONG
    return Stage.FOUND_BUT_INSUFFICIENT if has_evidence else Stage.BUDGET_SPENT
