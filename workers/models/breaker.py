"""A circuit breaker a provider: after several failures in a row, calls wait instead of failing.

A job that meets an open circuit is put to sleep and keeps its attempt, so that an outage costs
time and not jobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.domain.jobs import FailureClass
from workers.models.port import ModelError


@dataclass(slots=True)
class Breaker:
    """Opens for `pause_s` after `limit` transient failures in a row; one success closes it.

    Once the pause is over a single call is let through to see; others wait for its outcome.
    """

    limit: int = 5
    pause_s: float = 30.0
    monotonic: Callable[[], float] = time.monotonic
    _failures: int = 0
    _closed_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Let a call pass, or raise ModelError (`circuit_open`) saying how long to wait."""
        with self._lock:
            if self._failures < self.limit:
                return
            left = self._closed_until - self.monotonic()
            if left <= 0:
                self._closed_until = self.monotonic() + self.pause_s
                return
        raise ModelError(
            FailureClass.TRANSIENT,
            "circuit_open",
            "the provider failed several times in a row; its calls pause",
            retry_after_s=max(1.0, left),
        )

    def succeeded(self) -> None:
        """Note a reply, of whatever worth: the provider is there."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Note a transient failure."""
        with self._lock:
            self._failures += 1
            if self._failures >= self.limit:
                self._closed_until = self.monotonic() + self.pause_s
