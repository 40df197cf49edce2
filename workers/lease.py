"""Keep a job's lease alive while its step runs, from a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from shared.domain.jobs import Job
from shared.logs import get_logger
from shared.store.database import Database
from shared.store.job_leases import renew

_log = get_logger("workers.lease")


@contextmanager
def renewed_lease(
    database: Database, job: Job, *, lease_s: float, longest_s: float
) -> Iterator[None]:
    """Renew the lease every third of its life until the block ends, or for `longest_s` seconds.

    The bound frees a job whose step hangs where no time limit reaches it.

    A lease that is lost, or that cannot be renewed because the database is away, simply runs
    out: the finish is fenced by its token.
    """
    stop = threading.Event()
    thread = threading.Thread(
        target=_renew_until,
        args=(stop, database, job, lease_s, longest_s),
        daemon=True,
        name="lease",
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=lease_s)


def _renew_until(
    stop: threading.Event, database: Database, job: Job, lease_s: float, longest_s: float
) -> None:
    deadline = time.monotonic() + longest_s
    while not stop.wait(lease_s / 3):
        if time.monotonic() > deadline:
            _log.warning("lease_let_go", job_id=job.job_id, attempt=job.attempt)
            return
        try:
            with database.write(job.tenant_id) as tx:
                is_ours = renew(tx, job, lease_s=lease_s)
        except Exception as error:  # noqa: BLE001 - a passing fault must not end the renewing
            _log.warning("lease_not_renewed", job_id=job.job_id, error=type(error).__name__)
            continue
        if not is_ours:
            _log.warning("lease_lost", job_id=job.job_id, attempt=job.attempt)
            return
