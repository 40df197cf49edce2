"""The spend guard's pure rules: what a budget allows today, and what a batch run would cost.

A budget is a number of tokens, in and out, that model calls may cost in one UTC day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BUDGET_EXCEEDED: Final = "budget_exceeded"
"""Why a job waits that may not ask a model today."""

CALL_FRAME_TOKENS: Final = 1_200
"""What instructions and frame of one call cost beside its material, for want of measured calls."""

REPLY_TOKENS: Final = 700
"""What a reply costs, for want of measured ones."""


class BudgetScope(StrEnum):
    """Whose budget a stop is about."""

    NAMESPACE = "namespace"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Budgets:
    """Tokens a UTC day; None is without a limit, 0 allows no call at all."""

    namespace: int | None = None
    tenant: int | None = None

    @property
    def is_limited(self) -> bool:
        """Tell whether there is anything to check."""
        return self.namespace is not None or self.tenant is not None


@dataclass(frozen=True, slots=True)
class SpentToday:
    """Tokens that this UTC day's calls have cost, and the seconds until the next day begins."""

    namespace: int
    tenant: int
    day: str
    seconds_left: float


@dataclass(frozen=True, slots=True)
class BudgetStop:
    """A budget that is used up: no call before `resume_in_s` seconds have passed."""

    scope: BudgetScope
    budget: int
    spent: int
    day: str
    resume_in_s: float


def stop_of(budgets: Budgets, spent: SpentToday) -> BudgetStop | None:
    """Return the stop that holds, the namespace's before the tenant's; None when calls may go on.

    A call is stopped once the spend has reached the budget; calls that were under way then end,
    so the spend of a day may pass its budget by what those cost.
    """
    checked = (
        (BudgetScope.NAMESPACE, budgets.namespace, spent.namespace),
        (BudgetScope.TENANT, budgets.tenant, spent.tenant),
    )
    for scope, budget, used in checked:
        if budget is not None and used >= budget:
            return BudgetStop(scope, budget, used, spent.day, max(1.0, spent.seconds_left))
    return None


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one job of a step costs: tokens in beside the material, tokens out, and on how many
    measured jobs the figures rest (0: the constants of this file)."""

    frame_tokens: int = CALL_FRAME_TOKENS
    reply_tokens: int = REPLY_TOKENS
    measured_jobs: int = 0


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """What one step of a batch run would cost."""

    kind: str
    jobs: int
    calls: int
    input_tokens: int
    output_tokens: int
    measured_jobs: int


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a batch run would cost, step by step, and how many days its budget makes of it."""

    steps: tuple[StepEstimate, ...]
    budget: int | None = None

    @property
    def jobs(self) -> int:
        """Jobs in all."""
        return sum(step.jobs for step in self.steps)

    @property
    def tokens(self) -> int:
        """Tokens in all, in and out."""
        return sum(step.input_tokens + step.output_tokens for step in self.steps)

    @property
    def days(self) -> int | None:
        """UTC days that the run takes under the budget; None when it can never end."""
        if self.budget is None or self.tokens == 0:
            return 1
        return None if self.budget == 0 else -(-self.tokens // self.budget)


def estimate_run(
    materials: Mapping[str, Sequence[int]],
    costs: Mapping[str, StepCost],
    *,
    input_tokens_a_call: int,
    budget: int | None = None,
) -> RunEstimate:
    """Estimate a run from each step's materials: the tokens of each job's text.

    A text beyond `input_tokens_a_call` is split (D39), so its frame and reply are paid once a
    part. Repairs and retries are not foreseen.
    """
    steps = []
    for kind, sizes in materials.items():
        cost = costs.get(kind, StepCost())
        calls = sum(max(1, -(-size // input_tokens_a_call)) for size in sizes)
        steps.append(
            StepEstimate(
                kind=kind,
                jobs=len(sizes),
                calls=calls,
                input_tokens=sum(sizes) + calls * cost.frame_tokens,
                output_tokens=calls * cost.reply_tokens,
                measured_jobs=cost.measured_jobs,
            )
        )
    return RunEstimate(tuple(steps), budget)
