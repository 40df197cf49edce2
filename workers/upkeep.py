"""Keep order: free expired leases, prune old jobs, begin what retention asks, sample the ledger.

Any number may run; each pass is a few short transactions and says what it changed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.errors import Unavailable
from shared.logs import get_logger
from shared.metrics import JOBS_LIVE, JOBS_RESCUED, OLDEST_DUE_SECONDS
from shared.settings import QUEUES, Settings
from shared.store.database import Database, QueueDatabase
from shared.store.exports import expire_exports
from shared.store.job_pruning import prune_ended, tenants_with_old_jobs
from shared.store.job_queue import Depth, rescue_expired, sample_depth
from workers.retention import retain
from workers.sampling import sample_ledger

_LIVE: Final = ("available", "running", "retryable")
_PRUNE_EVERY: Final = 12
_MOST_EXPIRED: Final = 100
_log = get_logger("workers.upkeep")


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass changed and found."""

    retryable: int = 0
    dead: int = 0
    pruned: int = 0
    retained: int = 0
    depth: tuple[Depth, ...] = field(default=())

    @property
    def has_changed(self) -> bool:
        """Tell whether the pass did anything worth a line."""
        return bool(self.retryable or self.dead or self.pruned or self.retained)


def upkeep_once(
    queue: QueueDatabase, database: Database, settings: Settings, *, prune: bool = True
) -> Pass:
    """Rescue and sample; unless told not to, prune, retain and count all; each on its own."""
    with queue.transaction() as tx:
        rescued = rescue_expired(tx)
    with queue.transaction() as tx:
        depth = sample_depth(tx)
    _measure(depth)
    dead = sum(state == "dead" for _, _, state in rescued)
    for _, _, state in rescued:
        JOBS_RESCUED.labels(state).inc()
    pruned = retained = 0
    if prune:
        pruned = _prune(queue, database, settings)
        retained = retain(queue, database, settings)
        with queue.transaction() as tx:
            expire_exports(tx, most=_MOST_EXPIRED)
        sample_ledger(queue)
    return Pass(len(rescued) - dead, dead, pruned, retained, tuple(depth))


def run_upkeep(
    queue: QueueDatabase, database: Database, settings: Settings, *, stop: threading.Event
) -> None:
    """Make a pass every `upkeep_interval_s` until `stop` is set; prune in every twelfth."""
    number = 0
    while not stop.is_set():
        try:
            done = upkeep_once(queue, database, settings, prune=number % _PRUNE_EVERY == 0)
        except Unavailable as error:
            _log.warning("database_away", code=error.code)
        else:
            number += 1
            if done.has_changed:
                counts = {
                    "retryable": done.retryable,
                    "dead": done.dead,
                    "pruned": done.pruned,
                    "retained": done.retained,
                }
                _log.info("upkeep", **counts)
        stop.wait(settings.upkeep_interval_s)


def _prune(queue: QueueDatabase, database: Database, settings: Settings) -> int:
    well_s, failed_s = float(settings.keep_succeeded_s), float(settings.keep_failed_s)
    with queue.transaction() as tx:
        tenants = tenants_with_old_jobs(tx, well_s=well_s, failed_s=failed_s)
    pruned = 0
    for tenant_id in tenants:
        with database.write(tenant_id) as tx:
            pruned += prune_ended(tx, well_s=well_s, failed_s=failed_s)
    return pruned


def _measure(depth: Sequence[Depth]) -> None:
    """Set every gauge, also to zero: a queue that is empty now must not show its last figure."""
    counts = {(one.queue, one.state): one.count for one in depth}
    for queue in QUEUES:
        oldest = max((one.oldest_due_s for one in depth if one.queue == queue), default=0.0)
        OLDEST_DUE_SECONDS.labels(queue).set(oldest)
        for state in _LIVE:
            JOBS_LIVE.labels(queue, state).set(counts.get((queue, state), 0))
