"""Turns and jobs of one namespace at once: every lock is taken in the order that the store names.

What waits is read from the server, so that the three writers stand exactly where they would meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest
from sqlalchemy import text

from shared.settings import Settings
from shared.store.database import Database, WriteTx
from shared.store.event_writes import add_sources, lock_events
from shared.store.namespaces import lock_thread, next_namespace_turn
from tests.integration.ledger.world import BLOCK_SIZE, NAMESPACE, Fate, LedgerWorld
from tests.support.waiting import wait_until

_WAITING = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def waiting(own_settings: Settings) -> Iterator[Callable[[], int]]:
    """How many connections wait for a lock."""
    url = own_settings.database_url.get_secret_value().replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as watcher:

        def count() -> int:
            row = watcher.execute(_WAITING).fetchone()
            assert row is not None
            return int(row[0])

        yield count


def test_a_turn_an_extraction_and_the_first_projection_never_wait_in_a_circle(
    ledger_world: LedgerWorld, own_database: Database, waiting: Callable[[], int]
) -> None:
    """The turn holds its thread, the extraction the first block's event, and the projection the
    first graph of the namespace: each needs next what another one holds, unless all keep order."""
    world = ledger_world
    for _ in range(2 * BLOCK_SIZE):
        world.say("main")
    first, second = (job.job_id for job in world.rows("SELECT job_id FROM jobs ORDER BY job_id"))
    for kind, number in (("summarize", 2), ("extract", 1)):
        for job_id in _jobs(world, kind)[:number]:
            assert _run(world, job_id) == "succeeded"
    assert {first, second} == set(_jobs(world, "summarize"))
    [extraction], [projection] = _jobs(world, "extract")[1:], _jobs(world, "project")

    with ThreadPoolExecutor(2) as workers:
        with own_database.write(world.tenant_id) as turn:
            lock_thread(turn, NAMESPACE, "main")
            extracting = workers.submit(_run, world, extraction)
            wait_until(lambda: waiting() == 1, "the extraction waits for the thread")
            projecting = workers.submit(_run, world, projection)
            wait_until(lambda: projecting.done() or waiting() == 2, "the projection ends or waits")
            next_namespace_turn(turn, NAMESPACE)
        assert _ended(projecting) == "succeeded"
        assert _ended(extracting) == "succeeded"


def test_a_source_is_added_to_an_event_that_another_writer_has_locked(
    ledger_world: LedgerWorld, own_database: Database
) -> None:
    world = ledger_world
    for _ in range(BLOCK_SIZE):
        world.say("main")
    for kind in ("summarize", "extract"):
        assert _run(world, _jobs(world, kind)[0]) == "succeeded"
    [event] = world.rows("SELECT event_id FROM events")
    messages = [row.message_id for row in world.rows("SELECT message_id FROM messages")]
    with own_database.write(world.tenant_id) as one:
        lock_events(one, [event.event_id])
        with own_database.write(world.tenant_id) as other, _at_once(other):
            add_sources(other, event.event_id, messages)


def test_a_thread_that_a_turn_has_locked_takes_a_block_of_another_transaction(
    ledger_world: LedgerWorld, own_database: Database
) -> None:
    """A foreign key's check locks the row it names; it must not wait for the thread's counters."""
    world = ledger_world
    world.say("main")
    with own_database.write(world.tenant_id) as one:
        lock_thread(one, NAMESPACE, "main")
        with own_database.write(world.tenant_id) as other, _at_once(other):
            other.connection.execute(
                text(
                    "SELECT 1 FROM threads WHERE tenant_id = :tenant AND namespace = :namespace "
                    "AND thread_id = 'main' FOR KEY SHARE"
                ),
                {"tenant": world.tenant_id, "namespace": NAMESPACE},
            )


@contextmanager
def _at_once(tx: WriteTx) -> Iterator[None]:
    """Fail instead of waiting for a lock."""
    tx.connection.execute(text("SET LOCAL lock_timeout = '50ms'"))
    yield


def _jobs(world: LedgerWorld, kind: str) -> list[str]:
    found = world.rows("SELECT job_id FROM jobs WHERE kind = :kind ORDER BY job_id", kind=kind)
    return [row.job_id for row in found]


def _run(world: LedgerWorld, job_id: str) -> str:
    return world.deliver(("", world.tenant_id, job_id), Fate.WELL)


def _ended(job: Future[str]) -> str:
    return job.result(timeout=30)
