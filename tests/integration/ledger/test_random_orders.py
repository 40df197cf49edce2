"""Every mishap in every order: a state machine drives the ledger, and its invariants hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from shared.clock import FixedClock
from shared.domain.jobs import RETRYABLE_BY_HAND
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from shared.store.namespaces import save_policy
from tests.integration.ledger import invariants
from tests.integration.ledger.world import BLOCK_SIZE, NAMESPACE, THREADS, Fate, LedgerWorld
from tests.support.databases import clone_database, drop_database, new_tenant, settings_for

IS_FULL = bool(os.environ.get("STRATAGATE_TEST_FULL"))
THOROUGH = settings(
    max_examples=300 if IS_FULL else 7,
    stateful_step_count=60 if IS_FULL else 20,
    derandomize=not IS_FULL,
    # What fails is told as it happened at once; finding its shortest form is for the long run.
    phases=tuple(Phase) if IS_FULL else (Phase.explicit, Phase.generate),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
_DRAIN_ROUNDS = 25
_places = st.integers(min_value=0, max_value=10_000)
_LIVE = "SELECT count(*) AS n FROM jobs WHERE state IN ('available', 'running', 'retryable')"


@dataclass
class Opened:
    """The database that the machine's examples share; each has a tenant of its own."""

    settings: Settings
    database: Database
    queue: QueueDatabase


@contextmanager
def _opened() -> Iterator[Opened]:
    url = clone_database()
    chosen = settings_for(url)
    database, queue = Database(chosen), QueueDatabase(chosen)
    yield Opened(chosen, database, queue)
    database.close()
    queue.close()
    drop_database(url)


class Ledger(RuleBasedStateMachine):
    """Clients, people, workers, the relay, the broker and time, in any order."""

    opened: Opened

    def __init__(self) -> None:
        super().__init__()
        made = self.opened
        tenant = new_tenant(made.settings, made.database)
        clock = FixedClock(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        self.world = LedgerWorld(made.settings, made.database, made.queue, tenant.tenant_id, clock)

    @rule(thread_id=st.sampled_from(THREADS))
    def say(self, thread_id: str) -> None:
        self.world.say(thread_id)

    @rule(thread_id=st.sampled_from(THREADS))
    def say_a_whole_block(self, thread_id: str) -> None:
        for _ in range(BLOCK_SIZE):
            self.world.say(thread_id)

    @rule(thread_id=st.sampled_from(THREADS))
    def seal(self, thread_id: str) -> None:
        if self.world.said[thread_id]:
            self.world.seal(thread_id)

    @rule()
    def relay(self) -> None:
        self.world.relay()

    @precondition(lambda self: self.world.bells)
    @rule(place=_places, fate=st.sampled_from(Fate), is_redelivered=st.booleans())
    def deliver(self, place: int, fate: Fate, is_redelivered: bool) -> None:
        """A worker answers any bell, not the oldest; the broker may bring it again."""
        bells = self.world.bells
        bell = bells[place % len(bells)]
        if not is_redelivered:
            bells.remove(bell)
        self.world.deliver(bell, fate)

    @precondition(lambda self: self.world.bells)
    @rule(place=_places)
    def deliver_well(self, place: int) -> None:
        bells = self.world.bells
        self.world.deliver(bells.pop(place % len(bells)), Fate.WELL)

    @rule(fates=st.lists(st.sampled_from(Fate), min_size=2, max_size=5))
    def walk_a_block(self, fates: list[Fate]) -> None:
        """One block far along the walk, through several mishaps."""
        world = self.world
        world.broker_is_up = True
        self.say_a_whole_block("main")
        for fate in fates:
            world.hurry()
            world.relay()
            if world.bells:
                world.deliver(world.bells.pop(), fate)
                invariants.check(world)
            world.expire()

    @rule()
    def a_worker_takes_what_nobody_rang(self) -> None:
        """A stray message: an id that is known, whatever its job's state."""
        for job in self._jobs()[-1:]:
            self.world.deliver(("", self.world.tenant_id, job.job_id), Fate.WELL)

    @rule()
    def let_pauses_pass(self) -> None:
        self.world.hurry()

    @rule()
    def let_leases_expire(self) -> None:
        self.world.expire()

    @rule(is_up=st.booleans())
    def lose_broker(self, is_up: bool) -> None:
        self.world.lose_broker()
        self.world.broker_is_up = is_up

    @rule(place=_places)
    def retry_by_hand(self, place: int) -> None:
        jobs = self._jobs()
        if jobs:
            job = jobs[place % len(jobs)]
            if self.world.retry(job.job_id):
                assert job.state in {state.value for state in RETRYABLE_BY_HAND}

    @rule(place=_places)
    def cancel_by_hand(self, place: int) -> None:
        jobs = self._jobs()
        if jobs:
            self.world.cancel(jobs[place % len(jobs)].job_id)

    @rule(extract=st.booleans(), project=st.booleans())
    def switch_stages(self, extract: bool, project: bool) -> None:
        self._policy(extract=extract, project=project)

    @invariant()
    def everything_holds(self) -> None:
        invariants.check(self.world)

    def teardown(self) -> None:
        """Heal everything: then every block becomes ready, by retries alone, and all work ends."""
        self.world.broker_is_up = True
        self._policy(extract=True, project=True)
        for _ in range(_DRAIN_ROUNDS):
            if self._drained():
                break
        invariants.check(self.world)
        [left] = self.world.rows(_LIVE)
        assert left.n == 0
        [unready] = self.world.rows(
            "SELECT count(*) AS n FROM block_states WHERE status <> 'ready'"
        )
        assert unready.n == 0

    def _drained(self) -> bool:
        world = self.world
        world.expire()
        world.lose_broker()
        world.hurry()
        world.relay()
        for bell in list(world.bells):
            world.deliver(bell, Fate.WELL)
        [live] = world.rows(_LIVE)
        if live.n:
            return False
        ended = {state.value for state in RETRYABLE_BY_HAND}
        retried = [world.retry(one.job_id) for one in self._newest() if one.state in ended]
        return not any(retried)

    def _newest(self) -> list:
        return self.world.rows(
            "SELECT DISTINCT ON (kind, subject) job_id, state FROM jobs "
            "ORDER BY kind, subject, job_id DESC"
        )

    def _jobs(self) -> list:
        return self.world.rows("SELECT job_id, state FROM jobs ORDER BY job_id")

    def _policy(self, **stages: bool) -> None:
        with self.world.database.write(self.world.tenant_id) as tx:
            save_policy(tx, NAMESPACE, {"block_turn_size": BLOCK_SIZE, "stages": stages})


@pytest.mark.timeout(3_600 if IS_FULL else 180)
def test_no_order_of_mishaps_loses_or_doubles_anything() -> None:
    with _opened() as opened:
        Ledger.opened = opened
        run_state_machine_as_test(Ledger, settings=THOROUGH)
