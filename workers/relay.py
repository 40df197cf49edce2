"""Ring the doorbell of due jobs, fair between tenants; several relays may run.

A pass takes due jobs in one short transaction, commits, and only then publishes: a dead broker
blocks no transaction. What could not be rung is due again at once, and the relay slows down.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from shared.errors import Unavailable
from shared.logs import get_logger
from shared.settings import Settings
from shared.store.database import QueueDatabase
from shared.store.job_queue import Caps, Ring, take_due, unring

RingBell = Callable[[str, str, str], bool]
_log = get_logger("workers.relay")


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did: bells rung, and bells that could not be rung."""

    rung: int
    failed: int


def relay_once(queue: QueueDatabase, settings: Settings, ring: RingBell) -> Pass:
    """Ring one batch of due jobs. `ring(queue, tenant_id, job_id)` returns whether it worked."""
    with queue.transaction() as tx:
        due = take_due(
            tx,
            batch=settings.relay_batch,
            caps=Caps(
                tenant=settings.in_flight_per_tenant,
                queue=settings.in_flight_per_queue,
                backfill=settings.in_flight_backfill,
            ),
            ring_again_after_s=settings.ring_again_after_s,
        )
    rung, failed = _publish(due, ring)
    if failed:
        with queue.transaction() as tx:
            unring(tx, failed)
    return Pass(rung=rung, failed=len(failed))


def run_relay(
    queue: QueueDatabase, settings: Settings, ring: RingBell, *, stop: threading.Event
) -> None:
    """Ring due jobs until `stop` is set; rests 50 ms after a full pass, up to 1 s when idle."""
    shortest, longest = settings.relay_poll_min_ms / 1000, settings.relay_poll_max_ms / 1000
    pause = shortest
    while not stop.is_set():
        try:
            done = relay_once(queue, settings, ring)
        except Unavailable as error:
            _log.warning("database_away", code=error.code)
            done = Pass(rung=0, failed=1)
        is_busy = done.rung > 0 and not done.failed
        pause = shortest if is_busy else min(longest, pause * 2)
        if done.rung or done.failed:
            level = logging.WARNING if done.failed else logging.DEBUG
            _log.log(level, "relayed", rung=done.rung, failed=done.failed)
        stop.wait(pause)


def _publish(due: list[Ring], ring: RingBell) -> tuple[int, list[Ring]]:
    """Ring in order; after the first failure the rest is left, for the broker is away."""
    for index, one in enumerate(due):
        if not ring(one.queue, one.tenant_id, one.job_id):
            return index, due[index:]
    return len(due), []
