from __future__ import annotations

import pytest

from shared.domain.spend import (
    Budgets,
    BudgetScope,
    SpentToday,
    StepCost,
    estimate_run,
    stop_of,
)

DAY = "2026-03-02"


def _spent(namespace: int, tenant: int, seconds_left: float = 3_600.0) -> SpentToday:
    return SpentToday(namespace, tenant, DAY, seconds_left)


@pytest.mark.parametrize(
    ("budgets", "namespace", "tenant", "scope"),
    [
        (Budgets(), 10**9, 10**9, None),
        (Budgets(namespace=100), 99, 10**9, None),
        (Budgets(namespace=100), 100, 100, BudgetScope.NAMESPACE),
        (Budgets(namespace=0), 0, 0, BudgetScope.NAMESPACE),
        (Budgets(tenant=100), 0, 99, None),
        (Budgets(tenant=100), 0, 100, BudgetScope.TENANT),
        (Budgets(namespace=50, tenant=100), 60, 100, BudgetScope.NAMESPACE),
    ],
)
def test_calls_stop_when_the_spend_reaches_a_budget(
    budgets: Budgets, namespace: int, tenant: int, scope: BudgetScope | None
) -> None:
    stop = stop_of(budgets, _spent(namespace, tenant))
    assert (stop.scope if stop else None) == scope


def test_a_stop_lasts_to_the_days_end_and_at_least_a_second() -> None:
    for left, resumes in ((3_600.0, 3_600.0), (0.2, 1.0)):
        stop = stop_of(Budgets(namespace=1), _spent(1, 1, left))
        assert stop is not None
        assert stop.resume_in_s == resumes


def test_an_estimate_pays_frame_and_reply_once_a_part() -> None:
    cost = StepCost(frame_tokens=10, reply_tokens=3, measured_jobs=5)
    run = estimate_run(
        {"extract": [100, 250, 0]}, {"extract": cost}, input_tokens_a_call=100, budget=200
    )
    (step,) = run.steps
    assert (step.jobs, step.calls) == (3, 1 + 3 + 1)
    assert (step.input_tokens, step.output_tokens) == (350 + 5 * 10, 5 * 3)
    assert (run.tokens, run.days) == (415, 3)


def test_days_of_a_run_follow_from_its_budget() -> None:
    materials = {"summarize": [100]}
    cost = {"summarize": StepCost(0, 0)}
    days = {
        budget: estimate_run(materials, cost, input_tokens_a_call=1_000, budget=budget).days
        for budget in (None, 0, 1, 99, 100)
    }
    assert days == {None: 1, 0: None, 1: 100, 99: 2, 100: 1}
    assert estimate_run({}, {}, input_tokens_a_call=1_000, budget=0).days == 1
