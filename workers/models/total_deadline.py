"""A total deadline for one HTTP exchange: at its end the connection is cut, however it drips.

A read timeout starts anew with every byte, so a slow drip would never meet it. Here a watchdog
shuts the socket down, which also tells the provider to stop.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Watchdog:
    """Knows the sockets of an exchange and whether its time is up."""

    seconds: float
    is_over: bool = False
    _sockets: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of a new connection; to be given to httpx as its `trace` extension."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        found = info["return_value"].get_extra_info("socket")
        with self._lock:
            if isinstance(found, socket.socket):
                self._sockets.append(found)
            is_late = self.is_over
        if is_late:
            self.cut()

    def cut(self) -> None:
        """End the exchange: whoever reads from its sockets wakes up."""
        with self._lock:
            self.is_over = True
            for one in self._sockets:
                # It may have ended by itself in this very moment.
                with suppress(OSError, ValueError):
                    one.shutdown(socket.SHUT_RDWR)


@contextmanager
def total_deadline(seconds: float) -> Iterator[Watchdog]:
    """Watch one exchange for at most `seconds`."""
    watchdog = Watchdog(seconds)
    timer = threading.Timer(seconds, watchdog.cut)
    timer.daemon = True
    timer.start()
    try:
        yield watchdog
    finally:
        timer.cancel()
