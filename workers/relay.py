"""Ring the doorbell of due jobs, fair between tenants; several relays may run.

A pass takes due jobs in one short transaction, commits, and only then publishes: a dead broker
blocks no transaction. What could not be rung is due again at once, and the relay slows down.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.errors import Unavailable
from shared.logs import get_logger
from shared.settings import Settings
from shared.store.database import QueueDatabase
from shared.store.job_queue import Caps, Ring, take_due, unring

RingBell = Callable[[str, str, str], bool]
_OF_IDLE: Final = 0.1
_log = get_logger("workers.relay")


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass did: bells rung, and bells that could not be rung."""

    rung: int
    failed: int


@dataclass(slots=True)
class Pauses:
    """How long the relay rests between passes, in seconds: 50 ms to 1 s by default.

    A tenth of the time since it last rang: a job waits little beside the pause before it, and a
    system at rest is asked once a second. While the broker is away the pause doubles.
    """

    shortest: float
    longest: float
    _idle: float = 0.0
    _last: float = 0.0

    def after(self, done: Pass) -> float:
        """Return the pause after a pass."""
        if done.failed:
            pause = self._last * 2
        elif done.rung:
            self._idle, pause = 0.0, self.shortest
        else:
            self._idle += self._last
            pause = self._idle * _OF_IDLE
        self._last = min(self.longest, max(self.shortest, pause))
        return self._last


def relay_once(queue: QueueDatabase, settings: Settings, ring: RingBell) -> Pass:
    """Ring one batch of due jobs. `ring(queue, tenant_id, job_id)` returns whether it worked."""
    with queue.statement() as tx:
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
    """Ring due jobs until `stop` is set, resting between passes as `Pauses` has it."""
    pauses = Pauses(settings.relay_poll_min_ms / 1000, settings.relay_poll_max_ms / 1000)
    while not stop.is_set():
        try:
            done = relay_once(queue, settings, ring)
        except Unavailable as error:
            _log.warning("database_away", code=error.code)
            done = Pass(rung=0, failed=1)
        if done.rung or done.failed:
            level = logging.WARNING if done.failed else logging.DEBUG
            _log.log(level, "relayed", rung=done.rung, failed=done.failed)
        stop.wait(pauses.after(done))


def _publish(due: list[Ring], ring: RingBell) -> tuple[int, list[Ring]]:
    """Ring in order; after the first failure the rest is left, for the broker is away."""
    for index, one in enumerate(due):
        if not ring(one.queue, one.tenant_id, one.job_id):
            return index, due[index:]
    return len(due), []
