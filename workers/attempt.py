"""One attempt of one job: load, think, store and finish in one transaction, ring what follows.

What the job's step does is its own; here is what holds for every kind: budgets, calls, failures,
waits and follow-ups. An attempt that fails is recorded before its error is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from shared.clock import Clock
from shared.domain.jobs import (
    BACKFILL,
    Cancel,
    Done,
    Failure,
    FailureClass,
    FollowUp,
    JobKind,
    JobState,
    Outcome,
    Snooze,
    backoff_s,
    ceiling_s,
    longest_wait_s,
    may_ask,
    may_snooze,
    may_try_again,
)
from shared.domain.model_json import UnreadableReply
from shared.domain.tenancy import Policy
from shared.errors import Unavailable
from shared.logs import get_logger
from shared.metrics import JOBS_FINISHED
from shared.settings import Settings
from shared.store import job_leases
from shared.store.database import Database, ReadTx, WriteTx
from shared.store.job_calls import answered_calls
from shared.store.job_claims import Claimed
from shared.store.job_endings import finish
from shared.store.job_queue import Ring
from shared.store.job_rings import unmark_rung
from workers.attempt_failures import failure_of_model, failure_of_reply, failure_unexpected
from workers.call_ledger import CallLedger
from workers.models.asking import CALLS_AN_ATTEMPT, Asker
from workers.models.port import Model, ModelError
from workers.spend_guard import SpendGuard
from workers.step import Step, StepContext, aimed
from workers.traced_model import TracedModel

SNOOZED: Final = "snoozed"
_CALL_LIMIT: Final = "call_limit"
_log = get_logger("workers")


class JobRetried(Exception):
    """An attempt failed and is recorded; the job will be tried again."""


class JobDied(Exception):
    """The last attempt failed and is recorded; the job is dead."""


@dataclass(frozen=True, slots=True)
class Deps:
    """What running jobs needs, built once a process.

    `jitter` gives a number in [-1, 1]; `ring` returns whether the bell was rung; `model_of`
    builds the model that a policy names.
    `time_limits` are the errors by which the process's own time limit interrupts a step.
    """

    database: Database
    model: Model
    settings: Settings
    clock: Clock
    jitter: Callable[[], float]
    steps: Mapping[JobKind, Step[Any, Any]]
    ring: Callable[[str, str, str], bool] = lambda _queue, _tenant_id, _job_id: False
    model_of: Callable[[str, str], Model] | None = None
    time_limits: tuple[type[BaseException], ...] = ()


@dataclass(frozen=True, slots=True)
class _Material:
    """What one attempt has to think about, and under which rules."""

    step: Step[Any, Any]
    context: StepContext
    loaded: Any


class Attempt:
    """One attempt of one job, from its claim to its end.

    `ready` is what was loaded, or how the attempt ends without thinking; `broken` is what
    loading it raised.
    """

    ready: _Material | Outcome
    broken: BaseException | None = None

    def __init__(self, claimed: Claimed, deps: Deps) -> None:
        self.job = job = claimed.job
        self.claimed = claimed
        self.deps = deps
        self.ledger = CallLedger(deps.database, job)
        self.guard = SpendGuard(deps.database, job)
        self.asker: Asker | None = None
        self.prompt_version: str | None = None

    def run(self) -> str:
        """Work, and end the job; returns the state it is left in.

        Raises JobRetried or JobDied once a failure is recorded, LeaseLost and Unavailable.
        """
        try:
            outcome = self._work()
        except (job_leases.LeaseLost, Unavailable):
            raise
        except ModelError as error:
            outcome = failure_of_model(error)
        except UnreadableReply as error:
            outcome = failure_of_reply(error)
        except self.deps.time_limits as error:
            outcome = Failure(FailureClass.TRANSIENT, "time_limit", type(error).__name__)
        except Exception as error:  # noqa: BLE001 - the edge of a job: nothing may be lost
            outcome = failure_unexpected(error)
        return outcome if isinstance(outcome, str) else self._end(outcome)

    def load(self, tx: ReadTx) -> None:
        """Read what the attempt needs, or find out that it ends without thinking."""
        step = self.deps.steps.get(self.job.kind)
        if step is None:
            detail = f"no step runs {self.job.kind.value}"
            self.ready = Failure(FailureClass.PERMANENT, "unknown_kind", detail)
            return
        context = self._context()
        self.guard.take(context.policy)
        waiting = self.guard.waiting(tx) if self._asks(step, context.policy) else None
        loaded = waiting or step.load(tx, self.job, context)
        if isinstance(loaded, Done | Cancel | Snooze):
            self.ready = loaded
        else:
            self.ready = self._spent(tx, loaded) or _Material(step, context, loaded)

    def _work(self) -> Outcome | str:
        """Think and store. Returns the final state once it is stored, else an outcome."""
        if self.broken is not None:
            raise self.broken
        if not isinstance(self.ready, _Material):
            return self.ready
        step, context = self.ready.step, self.ready.context
        self.prompt_version = step.prompt_version
        self.asker = self._new_asker(context.policy)
        draft = step.think(self.ready.loaded, self.asker)
        with self.deps.database.write(self.job.tenant_id) as tx:
            outcome = step.store(tx, self.job, draft, context)
            if not isinstance(outcome, Done):
                return outcome
            rings = self._finish(tx, outcome)
        return self._ring(outcome, rings)

    def _end(self, outcome: Outcome) -> str:
        if isinstance(outcome, Failure) and outcome.retry_after_s is not None:
            outcome = Snooze(max(1.0, outcome.retry_after_s), outcome.code)
        if isinstance(outcome, Snooze):
            outcome = self._bounded(outcome)
        if isinstance(outcome, Failure):
            self._fail(outcome)
        if isinstance(outcome, Done):
            with self.deps.database.write(self.job.tenant_id) as tx:
                rings = self._finish(tx, outcome)
            return self._ring(outcome, rings)
        with self.deps.database.write(self.job.tenant_id) as tx:
            if isinstance(outcome, Snooze):
                job_leases.snooze(tx, self.job, outcome)
            else:
                job_leases.cancel(tx, self.job, outcome)
            self._settle(tx)
        state = SNOOZED if isinstance(outcome, Snooze) else JobState.CANCELLED.value
        self._tell(state, outcome.reason)
        return state

    def _finish(self, tx: WriteTx, done: Done) -> list[Ring]:
        """End the job well and enqueue what follows, on the transaction of its effects."""
        queue = BACKFILL if self.job.queue == BACKFILL else None
        rings = finish(
            tx,
            self.job,
            done,
            follow_ups=tuple(_on_queue(one, queue) for one in done.follow_ups),
            max_attempts=self.deps.settings.max_attempts,
            costs=self.ledger.costs(self.asker, self.prompt_version),
        )
        self.guard.settle(tx)
        return rings

    def _fail(self, failure: Failure) -> NoReturn:
        retry_in_s = None
        if may_try_again(self.job, failure):
            base_s = self.deps.settings.backoff_base_s
            retry_in_s = backoff_s(self.job.attempt, base_s=base_s, jitter=self.deps.jitter())
        with self.deps.database.write(self.job.tenant_id) as tx:
            job_leases.fail(tx, self.job, failure, retry_in_s=retry_in_s)
            self._settle(tx)
        state = "dead" if retry_in_s is None else "retryable"
        told = {"failure_class": failure.failure_class.value, "code": failure.code}
        JOBS_FINISHED.labels(self.job.kind.value, state).inc()
        _log.warning("job_failed", state=state, attempt=self.job.attempt, **told, **self._names)
        words = f"{self.job.kind.value} {self.job.job_id}: {failure.code}"
        raise JobDied(words) if retry_in_s is None else JobRetried(words)

    def _bounded(self, snooze: Snooze) -> Snooze | Failure:
        """Let a job wait, but not for ever (D36)."""
        most_s = longest_wait_s(self.job.kind, most_s=self.deps.settings.snooze_max_wait_s)
        if may_snooze(self.job, snooze.delay_s, max_wait_s=most_s):
            return snooze
        waited = f"waited {self.job.snoozed_s} s for: {snooze.reason}"
        return Failure(FailureClass.PERMANENT, "waited_too_long", waited)

    def _settle(self, tx: WriteTx) -> None:
        if self.asker is not None:
            self.ledger.settle(tx, self.asker)
        self.guard.settle(tx)

    def _ring(self, done: Done, rings: list[Ring]) -> str:
        """Ring the follow-ups, after the commit; what cannot be rung is left to the relay."""
        silent = [
            one.job_id for one in rings if not self.deps.ring(one.queue, one.tenant_id, one.job_id)
        ]
        if silent:
            with self.deps.database.write(self.job.tenant_id) as tx:
                unmark_rung(tx, silent)
        self._tell(done.state.value, done.reason)
        return done.state.value

    def _tell(self, state: str, reason: str | None) -> None:
        JOBS_FINISHED.labels(self.job.kind.value, state).inc()
        _log.info("job_ended", state=state, reason=reason, **self._names)

    def _context(self) -> StepContext:
        row = self.claimed.namespace
        plain = StepContext(
            self.deps.settings,
            row.policy,
            row.derivation_version,
            self.deps.clock.now(),
            live_graph_version_id=row.graph_version_id,
            block=self.claimed.block,
        )
        return aimed(plain, self.job)

    def _asks(self, step: Step[Any, Any], policy: Policy) -> bool:
        """Tell whether this attempt may ask a model: not when its stage is switched off."""
        is_on: bool = getattr(policy.stages, self.job.kind.value, True)
        return step.prompt_version is not None and is_on

    def _spent(self, tx: ReadTx, loaded: object) -> Failure | None:
        """Refuse an attempt that could pass the calls of a job and part (D36).

        Attempts alone keep to it; a snooze gives its attempt back, though not its calls.
        """
        if not self.job.snoozed_s:
            return None
        parts = len(getattr(loaded, "parts", ())) or 1
        answered = answered_calls(tx, self.job.job_id) - self.job.calls_before
        if may_ask(answered, parts=parts, calls_an_attempt=CALLS_AN_ATTEMPT):
            return None
        detail = f"{answered} calls were answered before this attempt"
        return Failure(FailureClass.PERMANENT, _CALL_LIMIT, detail)

    def _new_asker(self, policy: Policy) -> Asker:
        model = self.deps.model
        if policy.provider and policy.model and self.deps.model_of:
            model = self.deps.model_of(policy.provider, policy.model)
        return Asker(
            model=TracedModel(model),
            attempt=self.job.attempt,
            model_deadline_s=self.deps.settings.model_deadline_s,
            step_deadline_s=ceiling_s(
                self.job.kind,
                most_s=self.deps.settings.step_deadline_s,
                scale=self.deps.settings.step_ceiling_scale,
            ),
            note=self.ledger.note,
            permit=self.guard.permit,
        )

    @property
    def _names(self) -> dict[str, str]:
        return {"job_id": self.job.job_id, "kind": self.job.kind.value}


def _on_queue(follow_up: FollowUp, queue: str | None) -> FollowUp:
    """Keep a backfill's follow-ups on its queue, where they starve no live work."""
    return replace(follow_up, queue=queue) if queue else follow_up
