"""One tenant's memory under every mishap: what happens to its jobs, one step at a time.

Time is never waited for: leases and schedules are moved instead. A killed worker is an exception
that nothing catches, so its row stays exactly as a SIGKILL would leave it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import text

from ingest.schemas.turns import TurnIn
from ingest.sealing import seal_now
from ingest.turns import commit_turn, prepare_turn
from shared.clock import FixedClock
from shared.domain.jobs import FailureClass
from shared.errors import Conflict
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase, WriteTx
from shared.store.job_queue import rescue_expired
from shared.store.jobs import cancel_by_hand, retry_by_hand
from shared.store.namespaces import (
    ensure_namespace,
    get_namespace,
    lock_thread,
    policy_defaults,
    save_policy,
)
from workers.models.port import ModelError, ModelReply, ModelTask, Usage
from workers.models.scripted import ScriptedModel
from workers.process import STEPS
from workers.relay import relay_once
from workers.runner import Deps, JobDied, JobRetried, run_job
from workers.step import SOURCE_ERASED, Step

NAMESPACE = "project:ledger"
BLOCK_SIZE = 2
LATE = " zombie"
THREADS = ("main", "aside")
Bell = tuple[str, str, str]


class Killed(BaseException):
    """The worker is gone: no handler of the code under test may stop this."""


class Fate(StrEnum):
    """What becomes of one delivery of a job."""

    WELL = "well"
    TRANSIENT = "transient"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    ERASED = "erased"
    KILLED_LOADING = "killed_loading"
    KILLED_THINKING = "killed_thinking"
    KILLED_STORING = "killed_storing"
    KILLED_RINGING = "killed_ringing"
    OVERTAKEN = "overtaken"
    OVERTAKEN_MIDWAY = "overtaken_midway"
    CANCELLED = "cancelled"
    DELIVERED_TWICE = "delivered_twice"


_ERRORS = {
    Fate.TRANSIENT: (FailureClass.TRANSIENT, "http_503", None),
    Fate.REFUSED: (FailureClass.REFUSED, "refused", None),
    Fate.RATE_LIMITED: (FailureClass.TRANSIENT, "http_429", 30.0),
}

_MEANWHILE = {
    Fate.OVERTAKEN,
    Fate.OVERTAKEN_MIDWAY,
    Fate.CANCELLED,
    Fate.DELIVERED_TWICE,
}


@dataclass
class LedgerWorld:
    """A tenant, its namespace, and the hands that move its jobs."""

    settings: Settings
    database: Database
    queue: QueueDatabase
    tenant_id: str
    clock: FixedClock
    bells: list[Bell] = field(default_factory=list)
    said: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in THREADS})
    broker_is_up: bool = True
    fate: Fate = Fate.WELL
    retried: Counter[str] = field(default_factory=Counter)
    overtaken: Counter[str] = field(default_factory=Counter)
    deps: Deps = field(init=False)

    def __post_init__(self) -> None:
        kinds = ("summarize", "extract", "project")
        model = ScriptedModel(behaviours=dict.fromkeys(kinds, self._answer))
        self.deps = Deps(
            database=self.database,
            model=model,
            settings=self.settings,
            clock=self.clock,
            jitter=lambda: 0.0,
            steps={kind: self._fated(step) for kind, step in STEPS.items()},
            ring=self._ring,
        )
        with self.database.write(self.tenant_id) as tx:
            ensure_namespace(tx, NAMESPACE)
            save_policy(tx, NAMESPACE, {"block_turn_size": BLOCK_SIZE})

    # What clients do

    def say(self, thread_id: str) -> None:
        number = sum(map(len, self.said.values())) + 1
        words = f"Item{number} is in room {number}."
        body = TurnIn.model_validate(
            {
                "thread_id": thread_id,
                "receipt_id": f"r{number}",
                "occurred_at": "2026-03-01T10:00:00Z",
                "messages": [{"role": "user", "content": words}],
            }
        )
        for _ in range(2):  # the second time is a client's retry
            with self.database.write(self.tenant_id) as tx:
                turn = prepare_turn(body, self.clock.now())
                commit_turn(tx, NAMESPACE, turn, settings=self.settings)
        self.said[thread_id].append(words)

    def seal(self, thread_id: str) -> None:
        with self.database.write(self.tenant_id) as tx:
            defaults = policy_defaults(self.settings)
            policy = get_namespace(tx, NAMESPACE, defaults=defaults).policy
            thread = lock_thread(tx, NAMESPACE, thread_id)
            seal_now(tx, NAMESPACE, thread, policy=policy, settings=self.settings)

    def retry(self, job_id: str) -> bool:
        is_done = self._by_hand(lambda tx: retry_by_hand(tx, job_id))
        self.retried[job_id] += is_done
        return is_done

    def cancel(self, job_id: str) -> bool:
        return self._by_hand(lambda tx: cancel_by_hand(tx, job_id, reason="by hand"))

    def _by_hand(self, act: Callable[[WriteTx], object]) -> bool:
        try:
            with self.database.write(self.tenant_id) as tx:
                act(tx)
        except Conflict:
            return False
        return True

    # What time and the machines do

    def relay(self) -> None:
        def ring(*bell: str) -> bool:
            return self._ring(*bell)

        relay_once(self.queue, self.settings, ring)

    def lose_broker(self) -> None:
        """Empty the broker; what had been rung is due to be rung again after a while."""
        self.bells.clear()
        self._change("UPDATE jobs SET rung_at = rung_at - interval '1 h' WHERE rung_at IS NOT NULL")

    def hurry(self) -> None:
        """Let every pause pass."""
        self._change("UPDATE jobs SET scheduled_at = now() WHERE scheduled_at > now()")

    def expire(self) -> None:
        """Let every lease run out, and rescue."""
        self._change("UPDATE jobs SET lease_until = now() - interval '1 s' WHERE state = 'running'")
        with self.queue.transaction() as tx:
            rescue_expired(tx)

    def deliver(self, bell: Bell, fate: Fate) -> str:
        """Let a worker answer one bell; returns how it went, `killed` for a killed worker."""
        self.fate = fate
        _, tenant_id, job_id = bell
        try:
            return run_job(tenant_id, job_id, self.deps)
        except (JobRetried, JobDied) as error:
            return type(error).__name__
        except Killed:
            return "killed"
        finally:
            self.fate = Fate.WELL

    def rows(self, query: str, **values: object) -> list[Any]:
        with self.database.read(self.tenant_id) as tx:
            return list(tx.connection.execute(text(query), values))

    def _change(self, query: str) -> None:
        with self.database.write(self.tenant_id) as tx:
            tx.connection.execute(text(query))

    def _ring(self, *bell: str) -> bool:
        if self.fate is Fate.KILLED_RINGING:
            raise Killed
        if self.broker_is_up:
            self.bells.append(bell)  # type: ignore[arg-type] # always three
        return self.broker_is_up

    # What happens inside an attempt

    def _fated(self, step: Step[Any, Any]) -> Step[Any, Any]:
        def load(tx: Any, job: Any, context: Any) -> Any:
            if self.fate is Fate.KILLED_LOADING:
                raise Killed
            if self.fate is Fate.ERASED:
                return SOURCE_ERASED
            return step.load(tx, job, context)

        def think(loaded: Any, asker: Any) -> Any:
            return step.think(loaded, asker)

        def store(tx: Any, job: Any, draft: Any, context: Any) -> Any:
            outcome = step.store(tx, job, draft, context)
            if self.fate is Fate.KILLED_STORING:
                raise Killed
            return outcome

        return replace(step, load=load, think=think, store=store)

    def _answer(self, task: ModelTask[Any]) -> ModelReply:
        fate = self.fate
        if fate is Fate.KILLED_THINKING:
            raise Killed
        if fate in _ERRORS:
            failure_class, code, wait_s = _ERRORS[fate]
            raise ModelError(failure_class, code, "as fated", retry_after_s=wait_s)
        if fate is Fate.MALFORMED:
            return ModelReply("no object", "scripted", Usage(3, 2))
        if fate is Fate.TRUNCATED:
            return ModelReply('{"cut', "scripted", Usage(3, 2), "length")
        if fate in _MEANWHILE:
            self._meanwhile(fate, self._running())
        late = LATE if fate in (Fate.OVERTAKEN, Fate.OVERTAKEN_MIDWAY, Fate.CANCELLED) else ""
        return ModelReply(_reply(task, late), "scripted", Usage(3, 2))

    def _meanwhile(self, fate: Fate, job_id: str) -> None:
        bell = ("", self.tenant_id, job_id)
        if fate is Fate.OVERTAKEN_MIDWAY:
            # The other attempt is not over when this one wants to finish.
            self.expire()
            self.overtaken[job_id] += 1
            self.deliver(bell, Fate.KILLED_THINKING)
        if fate is Fate.OVERTAKEN:
            self.expire()
            self.overtaken[job_id] += 1
            self.deliver(bell, Fate.WELL)
        if fate is Fate.CANCELLED:
            self.cancel(job_id)
        if fate is Fate.DELIVERED_TWICE:
            assert self.deliver(bell, Fate.WELL) == "duplicate_delivery"

    def _running(self) -> str:
        newest = "SELECT job_id FROM jobs WHERE state = 'running' ORDER BY lease_until DESC"
        return str(self.rows(newest)[0].job_id)


def _reply(task: ModelTask[Any], late: str) -> dict[str, Any]:
    """Say what a good model would, marked where the attempt has lost its job meanwhile."""
    material = task.input
    if task.kind.value == "project":
        return {
            "reason": "named",
            "nodes": [_node(one, late) for one in material.events],
            "edges": [],
        }
    words = next(one for one in material.messages if one.role == "user")
    if task.kind.value == "summarize":
        return {
            "title": f"Items and rooms{late}",
            "tags": ["rooms"],
            "summary": words.content,
            "keypoints": [words.content],
            "shouldExtract": True,
        }
    event = {
        "title": f"{words.content}{late}",
        "summary": words.content,
        "sourceMessageIds": [words.id],
        "scope": "user",
        "criticality": "routine",
        "tags": ["rooms"],
        "quotes": [],
        "temporal": {"eventType": "other", "participants": []},
    }
    return {"shouldExtract": True, "reason": "a fact", "events": [event]}


def _node(event: Any, late: str) -> dict[str, Any]:
    return {
        "ref": event.event_id,
        "name": event.title.split()[0],
        "type": "tool",
        "aliases": [],
        "tags": [late.strip()] if late else [],
        "metadataProvenance": {
            "name": [event.event_id],
            "aliases": [],
            "tags": [event.event_id] if late else [],
        },
        "sourceEventIds": [event.event_id],
        "facts": [],
    }
