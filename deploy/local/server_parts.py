"""The two embedded servers as parts of a stack: they outlive us when we are killed, and the
next start joins them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from deploy.local.faults import ServerFailed, log_tail


class Server(Protocol):
    """What both embedded servers offer."""

    @property
    def url(self) -> str:
        """Where it answers, password included."""
        ...

    @property
    def log_path(self) -> Path:
        """Where it writes its log."""
        ...

    def pid(self) -> int | None:
        """Return its process id, None when it does not run."""
        ...

    def is_ready(self) -> bool:
        """Tell whether it answers."""
        ...

    def stop(self) -> None:
        """End it cleanly."""
        ...

    def kill(self) -> None:
        """End it as a crash would."""
        ...


S = TypeVar("S", bound=Server)


class ServerPart(Generic[S]):
    """One embedded server; `start` runs it or joins it."""

    def __init__(self, name: str, run: Callable[[], S]) -> None:
        self.name = name
        self._run = run
        self._server: S | None = None

    @property
    def server(self) -> S:
        """The running server. Raises ServerFailed before the first start."""
        if self._server is None:
            raise ServerFailed(f"{self.name} was not started.")
        return self._server

    def start(self) -> None:
        """Start or join it; a server on another port than before would be unreachable."""
        before = self._server
        self._server = self._run()
        if before is not None and before.url != self._server.url:
            raise ServerFailed(
                f"{self.name} lost its port to another process. Run: python3 -m deploy up again."
            )

    def is_running(self) -> bool:
        """Tell whether its process lives."""
        return self.server.pid() is not None

    def is_ready(self) -> bool:
        """Tell whether it answers."""
        return self.server.is_ready()

    def answers(self) -> bool:
        """A server is never ended for its silence: a busy database recovers by itself."""
        return True

    def how_it_ended(self) -> str:
        """Return its end in words; its exit code went to whoever started it."""
        return "is gone"

    def last_lines(self) -> str:
        """Return the end of its log."""
        log = self.server.log_path
        text = log.read_text(encoding="utf-8", errors="replace")
        return log_tail(str(log), text.splitlines())

    def stop(self, *, hurry: threading.Event | None = None) -> None:
        """End it cleanly; it takes a fraction of a second, so there is nothing to hurry."""
        if self._server is not None:
            self._server.stop()

    def kill(self) -> None:
        """End it as a crash would."""
        self.server.kill()
