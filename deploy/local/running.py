"""The handle of a stack that runs: where it is, how to disturb it in tests, how to end it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from deploy.local.instance import InstanceFolder, InstanceState
from deploy.local.processes import Child
from deploy.local.server_parts import ServerPart
from deploy.local.supervisor import Supervisor


class RunningStack:
    """A running stack; also a context manager that stops it."""

    def __init__(
        self,
        folder: InstanceFolder,
        state: InstanceState,
        supervisor: Supervisor,
        *,
        admin_key: str,
        release: Callable[[], None],
    ) -> None:
        self.folder = folder
        self.state = state
        self.admin_key = admin_key
        self._supervisor = supervisor
        self._release = release

    @property
    def api_url(self) -> str:
        """The API; of ingest alone when the services run apart."""
        return self.state.api_url

    @property
    def retrieval_url(self) -> str:
        """The API of retrieval; equal to `api_url` unless the services run apart."""
        return self.state.retrieval_url

    @property
    def flower_url(self) -> str:
        """Flower's page, empty when it was not wanted."""
        return self.state.flower_url

    @property
    def console_url(self) -> str:
        """The memory console's page, empty when it was not wanted."""
        return self.state.console_url

    @property
    def flower_auth(self) -> str:
        """Flower's `user:password`."""
        return self.folder.flower_file.read_text(encoding="ascii").strip()

    @property
    def database_url(self) -> str:
        """The migrating role's URL of the database."""
        return self.state.database_url

    @property
    def broker_url(self) -> str:
        """The URL of the broker."""
        return self.state.broker_url

    def pid_of(self, name: str) -> int | None:
        """Return the process id of one part, None when it does not run."""
        part = self._supervisor.part(name)
        if isinstance(part, Child):
            mark = part.mark()
            return None if mark is None else mark.pid
        pid: int | None = self._server(name).server.pid()
        return pid

    def hold(self, name: str) -> None:
        """Stop one part (`postgres`, `valkey`, `worker`, `relay`, …) and leave it down."""
        self._supervisor.hold(name)

    def release(self, name: str, *, limit_s: float = 60.0) -> None:
        """Start a held part again and wait until it does its work."""
        self._supervisor.release(name)
        self._supervisor.wait_ready(self._supervisor.part(name), limit_s=limit_s)

    def kill(self, name: str) -> None:
        """End one part as a crash would; it is started again soon."""
        part = self._supervisor.part(name)
        if isinstance(part, Child):
            part.kill()
        else:
            self._server(name).kill()

    def wait_for_end(self) -> None:
        """Return when the end was asked for by a signal."""
        self._supervisor.wait_for_end()

    def stop(self) -> None:
        """Stop everything in order and give the data folder back; all data stays."""
        try:
            self._supervisor.stop()
        finally:
            self.folder.write(replace(self.state, status="stopped", processes={}))
            self._release()

    def _server(self, name: str) -> ServerPart[Any]:
        part = self._supervisor.part(name)
        if not isinstance(part, ServerPart):
            raise TypeError(f"{name} is a process, not a server")
        return part

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
