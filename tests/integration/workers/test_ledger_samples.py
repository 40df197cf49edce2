"""What operators see of the ledger, on a database of the test's own: the queue sees all tenants."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from shared.domain.jobs import JobKind
from shared.metrics import REGISTRY
from shared.store.database import QueueDatabase
from shared.store.job_samples import LedgerHealth, Patience, ledger_health
from tests.integration.workers.conftest import SUMMARY, World, reply
from workers.models.port import Usage
from workers.runner import SNOOZED
from workers.sampling import sample_ledger

DOG = ("I have a dog called Rex.", "Noted.")


@pytest.fixture
def queue(own_world: World) -> Iterator[QueueDatabase]:
    opened = QueueDatabase(own_world.settings)
    yield opened
    opened.close()


def _health(queue: QueueDatabase, *, stuck_s: float = 30, tenant_cap: int = 64) -> LedgerHealth:
    with queue.transaction() as tx:
        return ledger_health(tx, Patience(stuck_s, 30, tenant_cap, 512, 1))


def _set(world: World, words: str) -> None:
    with world.database.write(world.tenant_id) as tx:
        tx.connection.execute(text(f"UPDATE jobs SET {words}"))  # noqa: S608 - fixed words


def test_due_jobs_that_were_never_rung_are_counted_with_their_age(
    own_world: World, queue: QueueDatabase
) -> None:
    own_world.say(DOG)
    assert _health(queue).unrung == 0
    _set(own_world, "scheduled_at = now() - interval '100 s'")
    health = _health(queue)
    assert (health.unrung, round(health.unrung_oldest_s)) == (1, 100)
    assert [(due.queue, due.count, round(due.oldest_s)) for due in health.due] == [
        ("summarize", 1, 100)
    ]
    assert _health(queue, tenant_cap=0).unrung == 0  # held back by its tenant's cap
    _set(own_world, "rung_at = now() - interval '90 s'")
    health = _health(queue)
    assert (health.unrung, health.due[0].unclaimed) == (0, 1)


def test_leases_that_expired_and_those_nobody_freed_are_told_apart(
    own_world: World, queue: QueueDatabase
) -> None:
    own_world.say(DOG)
    _set(
        own_world,
        "state = 'running', attempt = 1, lease_token = 'x', lease_until = now() - interval '60 s'",
    )
    health = _health(queue)
    assert (health.leases_unrescued, health.leases_expired_last_hour) == (1, 0)
    entry = (
        "jsonb_build_array("
        "jsonb_build_object('code', 'lease_expired', 'at', now() - interval '30 min'), "
        "jsonb_build_object('code', 'lease_expired', 'at', now() - interval '90 min'), "
        "jsonb_build_object('code', 'malformed', 'at', now()))"
    )
    _set(
        own_world,
        f"state = 'retryable', lease_token = NULL, lease_until = NULL, errors = {entry}",
    )
    health = _health(queue)
    assert (health.leases_unrescued, health.leases_expired_last_hour) == (0, 1)


def test_waits_and_deaths_are_told_by_reason_and_shown_as_gauges(
    own_world: World, queue: QueueDatabase
) -> None:
    own_world.policy(token_budget=10)
    own_world.script(summarize=lambda _task: reply(SUMMARY, usage=Usage(20, 5)))
    blocks = [own_world.say(DOG, thread_id=name) for name in ("a", "b", "c")]
    assert own_world.run(blocks[0], JobKind.SUMMARIZE) == "succeeded"
    assert own_world.run(blocks[1], JobKind.SUMMARIZE) == SNOOZED
    with own_world.database.write(own_world.tenant_id) as tx:
        tx.connection.execute(
            text(
                "UPDATE jobs SET state = 'dead', finalized_at = now(), "
                'errors = \'[{"code": "http_401"}]\' WHERE subject = :block'
            ),
            {"block": blocks[2].block_id},
        )
    health = _health(queue)
    assert [(one.reason, one.count, one.namespaces) for one in health.waiting] == [
        ("budget_exceeded", 1, 1)
    ]
    assert [(one.kind, one.code, one.count) for one in health.dead] == [
        ("summarize", "http_401", 1)
    ]
    sample_ledger(queue)
    assert _gauge("stratagate_jobs", kind="summarize", state="dead") == 1
    assert _gauge("stratagate_jobs", kind="summarize", state="succeeded") == 1
    assert _gauge("stratagate_jobs", kind="project", state="dead") == 0
    assert _gauge("stratagate_jobs_waiting", reason="budget_exceeded") == 1
    _set(own_world, "scheduled_at = now() - interval '1 s'")
    sample_ledger(queue)
    assert _gauge("stratagate_jobs_waiting", reason="budget_exceeded") is None


def _gauge(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)
