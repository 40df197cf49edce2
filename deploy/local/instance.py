"""One data folder, one instance: where its files lie, who holds it, and what is known of it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deploy.local.faults import FolderInUse, LocalFault
from deploy.local.file_lock import FileLock
from deploy.local.private_files import read_state, write_state


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process that cannot be mistaken for a later one of the same number."""

    pid: int
    created: float


@dataclass(frozen=True, slots=True)
class InstanceState:
    """What other processes may know of an instance; the URLs hold passwords."""

    status: str
    supervisor_pid: int
    api_url: str = ""
    retrieval_url: str = ""
    flower_url: str = ""
    console_url: str = ""
    database_url: str = ""
    broker_url: str = ""
    moved_to: str = ""
    metrics_urls: dict[str, str] = field(default_factory=dict)
    processes: dict[str, ProcessMark] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InstanceFolder:
    """The layout of a data folder."""

    root: Path

    @property
    def lock_file(self) -> Path:
        """Locked by the one process that runs this instance, for as long as it runs."""
        return self.root / "instance.lock"

    @property
    def state_file(self) -> Path:
        """What `down` and other processes read; private, as its URLs hold passwords."""
        return self.root / "instance.json"

    @property
    def postgres(self) -> Path:
        """The database's folder."""
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        """The broker's folder."""
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        """One file a process."""
        return self.root / "logs"

    @property
    def key_file(self) -> Path:
        """The first API key, shown by the command line once and kept here for its owner."""
        return self.root / "keys" / "api.key"

    @property
    def flower_file(self) -> Path:
        """User and password of Flower, as `user:password`."""
        return self.root / "keys" / "flower.auth"

    @property
    def ports_file(self) -> Path:
        """The ports of the last run, kept over restarts where they are free."""
        return self.root / "ports.json"

    def create(self) -> None:
        """Make the folders; keys and logs are for their owner alone.

        The root may be passed through by others, because the database's account must. Raises
        LocalFault when the place cannot be written to.
        """
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            self.root.mkdir(mode=mode, parents=True, exist_ok=True)
            for private in (self.logs, self.key_file.parent):
                private.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise LocalFault(
                f"The data folder {self.root} cannot be made: {error.strerror} ({error.filename}). "
                "Choose another with --data."
            ) from error

    def read(self) -> InstanceState | None:
        """Return what the last run wrote; None when the folder never held one."""
        raw = read_state(self.state_file)
        return None if raw is None else _state(raw)

    def write(self, state: InstanceState) -> None:
        """Record what is known now."""
        write_state(self.state_file, asdict(state))

    def is_running(self) -> bool:
        """Tell whether a live process holds the folder."""
        lock = FileLock(self.lock_file)
        if not self.root.is_dir():
            return False
        free = lock.try_acquire()
        lock.release()
        return not free


def acquire(folder: InstanceFolder) -> FileLock:
    """Take the folder. Raises FolderInUse, with what to do, when another process has it."""
    lock = FileLock(folder.lock_file)
    if lock.try_acquire():
        return lock
    state = folder.read()
    who = f" by process {state.supervisor_pid}" if state is not None else ""
    where = f" Its API is at {state.api_url}." if state is not None and state.api_url else ""
    raise FolderInUse(
        f"The data folder {folder.root} is in use{who}.{where} "
        f"Stop it with: python3 -m deploy down --data {folder.root}, or choose another --data."
    )


def _state(raw: dict[str, Any]) -> InstanceState:
    known = {name: raw[name] for name in InstanceState.__slots__ if name in raw}
    marks = {name: ProcessMark(**mark) for name, mark in known.pop("processes", {}).items()}
    return InstanceState(**known, processes=marks)
