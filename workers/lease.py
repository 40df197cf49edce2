"""Keep the leases of running jobs alive: one thread a process renews all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
    now = time.monotonic()
    held = _Held(database, job, lease_s, until=now + longest_s, due=now + lease_s / 3)
    _keeper.hold(held)
    try:
        yield
    finally:
        _keeper.let_go(held)


@dataclass(slots=True, eq=False)
class _Held:
    """A lease to renew when it is `due`, but not beyond `until`; by the monotonic clock."""

    database: Database
    job: Job
    lease_s: float
    until: float
    due: float


class _Keeper:
    """The leases that this process holds, and the thread that renews them.

    The thread sleeps until the next lease is due and looks no earlier when a job begins or ends,
    so that short jobs cost it nothing. It ends when it finds none, and does not survive a fork.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: set[_Held] = set()
        self._wakes_at = 0.0
        self._thread: threading.Thread | None = None

    def hold(self, held: _Held) -> None:
        with self._changed:
            self._held.add(held)
            if self._thread is None or not self._thread.is_alive():
                self._wakes_at = held.due
                self._thread = threading.Thread(target=self._keep, daemon=True, name="lease")
                self._thread.start()
            elif held.due < self._wakes_at:
                self._changed.notify()

    def let_go(self, held: _Held) -> None:
        with self._changed:
            self._held.discard(held)

    def _keep(self) -> None:
        while True:
            with self._changed:
                if not self._held:
                    self._thread = None
                    return
                self._wakes_at = min(one.due for one in self._held)
                self._changed.wait(max(0.0, self._wakes_at - time.monotonic()))
                now = time.monotonic()
                due = [one for one in self._held if one.due <= now]
            for one in due:
                if not self._renew(one):
                    self.let_go(one)

    def _renew(self, held: _Held) -> bool:
        """Renew one lease; False when there is no use in doing so again."""
        job = held.job
        held.due = time.monotonic() + held.lease_s / 3
        if held.due - held.lease_s / 3 > held.until:
            _log.warning("lease_let_go", job_id=job.job_id, attempt=job.attempt)
            return False
        try:
            with held.database.write(job.tenant_id) as tx:
                is_ours = renew(tx, job, lease_s=held.lease_s)
        except Exception as error:  # noqa: BLE001 - a passing fault must not end the renewing
            _log.warning("lease_not_renewed", job_id=job.job_id, error=type(error).__name__)
            return True
        with self._changed:
            has_ended = held not in self._held
        if not is_ours and not has_ended:
            _log.warning("lease_lost", job_id=job.job_id, attempt=job.attempt)
        return is_ours


_keeper = _Keeper()
