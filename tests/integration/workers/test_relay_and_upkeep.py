from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from shared.domain.jobs import FollowUp, JobKind
from shared.settings import Settings
from shared.store.database import Database, QueueDatabase
from shared.store.jobs import enqueue, get_job
from shared.store.namespaces import ensure_namespace
from tests.integration.workers.conftest import NAMESPACE
from tests.support.databases import new_tenant
from workers.relay import relay_once, run_relay
from workers.upkeep import upkeep_once

Bell = tuple[str, str, str]


@pytest.fixture
def queue(own_settings: Settings) -> Iterator[QueueDatabase]:
    opened = QueueDatabase(own_settings)
    yield opened
    opened.close()


def _tenant(settings: Settings, database: Database, *, jobs: int) -> str:
    tenant_id = new_tenant(settings, database).tenant_id
    with database.write(tenant_id) as tx:
        ensure_namespace(tx, NAMESPACE)
        for number in range(jobs):
            enqueue(tx, NAMESPACE, FollowUp(JobKind.SUMMARIZE, f"blk_{number}"))
    return tenant_id


def _states(database: Database, tenant_id: str) -> list[str]:
    with database.read(tenant_id) as tx:
        return list(tx.connection.execute(text("SELECT state FROM jobs ORDER BY job_id")).scalars())


def test_a_busy_tenant_does_not_starve_a_quiet_one(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    busy = _tenant(own_settings, own_database, jobs=20)
    quiet = _tenant(own_settings, own_database, jobs=2)
    rung: list[str] = []
    settings = own_settings.model_copy(update={"relay_batch": 6})
    relay_once(queue, settings, lambda _q, tenant_id, _j: not rung.append(tenant_id))
    assert rung == [busy, quiet, busy, quiet, busy, busy] or rung == [
        quiet,
        busy,
        quiet,
        busy,
        busy,
        busy,
    ]


def test_a_tenant_has_no_more_bells_rung_than_its_cap(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    _tenant(own_settings, own_database, jobs=10)
    settings = own_settings.model_copy(update={"in_flight_per_tenant": 3})
    rung: list[Bell] = []
    for _ in range(3):
        relay_once(queue, settings, lambda *bell: not rung.append(bell))
    assert len(rung) == 3


def test_a_rung_job_that_nobody_claims_is_rung_again_after_a_while(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    _tenant(own_settings, own_database, jobs=1)
    rung: list[Bell] = []
    assert relay_once(queue, own_settings, lambda *bell: not rung.append(bell)).rung == 1
    assert relay_once(queue, own_settings, lambda *bell: not rung.append(bell)).rung == 0
    impatient = own_settings.model_copy(update={"ring_again_after_s": 0.0001})
    assert relay_once(queue, impatient, lambda *bell: not rung.append(bell)).rung == 1
    assert rung[0] == rung[1]


def test_two_relays_never_ring_the_same_job_at_once(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    _tenant(own_settings, own_database, jobs=60)
    settings = own_settings.model_copy(update={"relay_batch": 5})
    other = QueueDatabase(own_settings)
    rung: list[Bell] = []

    def work(database: QueueDatabase) -> None:
        for _ in range(12):
            relay_once(database, settings, lambda *bell: not rung.append(bell))

    threads = [threading.Thread(target=work, args=(one,)) for one in (queue, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    assert len(rung) == len(set(rung)) == 60


def test_a_dead_broker_holds_no_transaction_and_leaves_every_job_due(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    tenant_id = _tenant(own_settings, own_database, jobs=4)
    held: list[int] = []

    def dead(*_bell: str) -> bool:
        held.append(queue.engine.pool.checkedout())  # type: ignore[attr-defined] # a queue pool
        return False

    done = relay_once(queue, own_settings, dead)
    assert (done.rung, done.failed) == (0, 4)
    assert held == [0]
    with own_database.read(tenant_id) as tx:
        rung_at = tx.connection.execute(text("SELECT count(rung_at) FROM jobs")).scalar_one()
    assert rung_at == 0
    assert relay_once(queue, own_settings, lambda *_: True).rung == 4


def test_the_relay_stops_at_once_when_told_to(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    _tenant(own_settings, own_database, jobs=1)
    stop = threading.Event()
    seen = threading.Event()

    def ring(*_bell: str) -> bool:
        seen.set()
        return True

    thread = threading.Thread(
        target=run_relay, args=(queue, own_settings, ring), kwargs={"stop": stop}
    )
    thread.start()
    assert seen.wait(5)
    began = time.monotonic()
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert time.monotonic() - began < 1.0


def test_an_expired_lease_is_freed_and_the_last_attempts_is_dead(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    tenant_id = _tenant(own_settings, own_database, jobs=3)
    with own_database.write(tenant_id) as tx:
        tx.connection.execute(
            text(
                "UPDATE jobs SET state = 'running', lease_token = 't', "
                "lease_until = now() - interval '1 s', "
                "attempt = CASE subject WHEN 'blk_0' THEN 3 ELSE 1 END WHERE subject <> 'blk_2'"
            )
        )
    done = upkeep_once(queue, own_database, own_settings)
    assert (done.dead, done.retryable) == (1, 1)
    assert _states(own_database, tenant_id) == ["dead", "retryable", "available"]
    with own_database.read(tenant_id) as tx:
        first = tx.connection.execute(text("SELECT min(job_id) FROM jobs")).scalar_one()
        assert get_job(tx, first)["errors"][0]["code"] == "lease_expired"
    again = upkeep_once(queue, own_database, own_settings)
    assert not again.has_changed


def test_only_jobs_that_ended_well_long_ago_are_pruned(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    tenant_id = _tenant(own_settings, own_database, jobs=4)
    ends = ["succeeded", "dead", "succeeded", "available"]
    ages = ["10 days", "10 days", "1 hour", "10 days"]
    with own_database.write(tenant_id) as tx:
        for number, (state, age) in enumerate(zip(ends, ages, strict=True)):
            tx.connection.execute(
                text(
                    "UPDATE jobs SET state = :state, finalized_at = CASE :state WHEN 'available' "
                    "THEN NULL ELSE now() - CAST(:age AS interval) END, "
                    "job_id = CASE WHEN :age = '1 hour' THEN job_id "
                    "ELSE 'job_00' || substr(job_id, 7) END WHERE subject = :subject"
                ),
                {"state": state, "age": age, "subject": f"blk_{number}"},
            )
    done = upkeep_once(queue, own_database, own_settings)
    assert done.pruned == 1
    assert sorted(_states(own_database, tenant_id)) == ["available", "dead", "succeeded"]


def test_depth_and_age_are_told_for_every_queue(
    own_settings: Settings, own_database: Database, queue: QueueDatabase
) -> None:
    from shared.metrics import render_metrics  # noqa: PLC0415 - read after the pass

    _tenant(own_settings, own_database, jobs=2)
    upkeep_once(queue, own_database, own_settings)
    told = render_metrics().decode()
    assert 'stratagate_jobs_live{queue="summarize",state="available"} 2.0' in told
    assert 'stratagate_jobs_live{queue="extract",state="available"} 0.0' in told
