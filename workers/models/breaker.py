"""A circuit breaker a provider: after several failures in a row, calls wait instead of failing.

A job that meets an open circuit is put to sleep and keeps its attempt, so that an outage costs
time and not jobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from shared.domain.jobs import FailureClass
from workers.models.port import ModelError

BREAKER_OPEN: Final = "breaker_open"


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
    _is_probing: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Let a call pass, or raise ModelError (`breaker_open`) saying how long to wait.

        Who is let through tells how it went: `succeeded`, `failed` or `released`.
        """
        with self._lock:
            if self._failures < self.limit:
                return
            left = self._closed_until - self.monotonic()
            if left <= 0 and not self._is_probing:
                self._is_probing = True
                return
        raise ModelError(
            FailureClass.TRANSIENT,
            BREAKER_OPEN,
            "the provider failed several times in a row; its calls pause",
            retry_after_s=left if left > 0 else self.pause_s,
            is_sent=False,
        )

    def succeeded(self) -> None:
        """Note an answer, of whatever worth: the provider is there."""
        with self._lock:
            self._failures = 0
            self._is_probing = False

    def failed(self) -> None:
        """Note a transient failure."""
        with self._lock:
            self._failures += 1
            self._is_probing = False
            if self._failures >= self.limit:
                self._closed_until = self.monotonic() + self.pause_s

    def released(self) -> None:
        """Note that a call ended without telling anything about the provider."""
        with self._lock:
            self._is_probing = False
