"""What this process has learnt about endpoints: dialects, asked-for pauses, open circuits.

The dialect and the pause belong to a model at an endpoint, the circuit to the endpoint: where a
provider is away, it is away for all of its models.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.domain.jobs import FailureClass
from workers.models.breaker import Breaker
from workers.models.dialect import Dialect
from workers.models.port import ModelError


@dataclass(slots=True)
class Endpoint:
    """One model at one base URL, as far as it is known."""

    breaker: Breaker
    dialect: Dialect = field(default_factory=Dialect)
    monotonic: Callable[[], float] = time.monotonic
    _paused_until: float = 0.0
    _pause_code: str = ""

    def check(self) -> None:
        """Let a call pass, or raise ModelError: the provider asked to wait, or is away."""
        left = self._paused_until - self.monotonic()
        if left > 0:
            raise ModelError(
                FailureClass.TRANSIENT,
                self._pause_code,
                "the provider asked to wait; nothing was sent",
                retry_after_s=left,
                is_sent=False,
            )
        self.breaker.check()

    def pause(self, code: str, seconds: float) -> None:
        """Send nothing for so long: a limit holds for every job of the model."""
        self._pause_code = code
        self._paused_until = self.monotonic() + seconds


class Endpoints:
    """The endpoints of a process, shared by its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._breakers: dict[str, Breaker] = {}
        self._known: dict[tuple[str, str], Endpoint] = {}

    def of(self, base_url: str, model: str, *, limit: int, pause_s: float) -> Endpoint:
        """Return what is known of a model at a base URL; the first to ask sets the breaker."""
        with self._lock:
            breaker = self._breakers.setdefault(base_url, Breaker(limit, pause_s))
            return self._known.setdefault((base_url, model), Endpoint(breaker))

    def forget(self) -> None:
        """Begin anew, as after a restart."""
        with self._lock:
            self._breakers.clear()
            self._known.clear()


ENDPOINTS = Endpoints()
