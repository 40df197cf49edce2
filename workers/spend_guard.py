"""Stop model calls once a budget of the day is used up, and let the job wait for the next one.

Asked before an attempt and again before each of its calls; turns are accepted all the while.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.domain.jobs import FailureClass, Job, Snooze
from shared.domain.spend import BUDGET_EXCEEDED, Budgets, BudgetStop, stop_of
from shared.domain.tenancy import Policy
from shared.logs import get_logger
from shared.metrics import BUDGET_STOPS
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.spend import audit_stop, spent_today
from workers.models.port import ModelError

_log = get_logger("workers.spend")


@dataclass(slots=True)
class SpendGuard:
    """The budgets under which one attempt may ask a model."""

    database: Database
    job: Job
    budgets: Budgets = field(default_factory=Budgets)
    stop: BudgetStop | None = None

    def take(self, policy: Policy) -> None:
        """Take the budgets of the policy that holds for this attempt."""
        self.budgets = Budgets(policy.token_budget, policy.tenant_token_budget)

    def waiting(self, tx: ReadTx) -> Snooze | None:
        """Return how long the job is to wait, or None when it may begin."""
        stop = self._look(tx)
        return Snooze(stop.resume_in_s, BUDGET_EXCEEDED) if stop else None

    def permit(self) -> None:
        """Let one call pass, or raise ModelError (`budget_exceeded`) with the wait.

        Calls that others have under way are not waited for: a day's spend may pass its budget by
        what those cost.
        """
        if not self.budgets.is_limited:
            return
        with self.database.read(self.job.tenant_id) as tx:
            stop = self._look(tx)
        if stop:
            raise ModelError(
                FailureClass.TRANSIENT,
                BUDGET_EXCEEDED,
                f"the {stop.scope.value}'s budget of {stop.budget} tokens a day is used up",
                retry_after_s=stop.resume_in_s,
            )

    def settle(self, tx: WriteTx) -> None:
        """Audit a stop that this attempt met, in the transaction of its end."""
        if self.stop is not None and audit_stop(tx, self.job.namespace, self.stop):
            BUDGET_STOPS.labels(self.stop.scope.value).inc()
            _log.warning(
                "budget_stop",
                namespace=self.job.namespace,
                scope=self.stop.scope.value,
                budget=self.stop.budget,
                spent=self.stop.spent,
            )

    def _look(self, tx: ReadTx) -> BudgetStop | None:
        if not self.budgets.is_limited:
            return None
        whole_tenant = self.budgets.tenant is not None
        spent = spent_today(tx, self.job.namespace, whole_tenant=whole_tenant)
        self.stop = stop_of(self.budgets, spent)
        return self.stop
