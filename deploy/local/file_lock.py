"""An advisory lock on a file that dies with its process, so that a crash never leaves it held."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.faults import FolderInUse

_POLL_S = 0.05


class FileLock:
    """One holder a file; the descriptor is not inherited by children, so they never keep it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free; True when this object holds it afterwards."""
        if self._descriptor is not None:
            return True
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back; the file stays, because removing it would let two hold it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


@contextmanager
def hold_lock(path: Path, *, wait_s: float) -> Iterator[FileLock]:
    """Hold the lock on `path` for the block, waiting up to `wait_s` seconds for it.

    Raises FolderInUse when it is still held by another process then.
    """
    lock = FileLock(path)
    deadline = time.monotonic() + wait_s
    while not lock.try_acquire():
        if time.monotonic() >= deadline:
            raise FolderInUse(f"{path} is still held by another process after {wait_s:g} s.")
        time.sleep(_POLL_S)
    try:
        yield lock
    finally:
        lock.release()
