"""One child process: started in its own group, its lines merged, stopped step by step."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil  # type: ignore[import-untyped] # publishes no types

from deploy.local.faults import log_tail
from deploy.local.instance import ProcessMark
from deploy.local.terminal import Terminal

_ROTATE_BYTES = 20_000_000
StopStep = tuple[signal.Signals, float]
"""A signal, and the seconds to wait for the process to end after it."""


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What to run, how to tell that it is ready and still answers, and how to end it."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    is_ready: Callable[[], bool] | None = None
    ready_marker: str = ""
    answers: Callable[[], bool] | None = None
    stop_steps: tuple[StopStep, ...] = ((signal.SIGTERM, 15.0),)
    working_folder: Path | None = None


class Child:
    """A running, or to be run again, process of one spec."""

    def __init__(self, spec: ProcessSpec, *, logs: Path, terminal: Terminal) -> None:
        self.spec = spec
        self.log_path = logs / f"{spec.name}.log"
        self._terminal = terminal
        self._process: subprocess.Popen[bytes] | None = None
        self._created = 0.0
        self._marker_seen = threading.Event()

    @property
    def name(self) -> str:
        """The name in front of its lines and of its log file."""
        return self.spec.name

    def start(self) -> None:
        """Start the process; its output goes to its log and the terminal."""
        self._marker_seen.clear()
        if self.log_path.exists() and self.log_path.stat().st_size > _ROTATE_BYTES:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        self._process = subprocess.Popen(
            self.spec.command,
            env=dict(self.spec.environment),
            cwd=self.spec.working_folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches us alone; we end the children in order
        )
        self._created = _created(self._process.pid)
        stream = self._process.stdout
        if stream is not None:
            threading.Thread(
                target=self._pump, args=(stream,), name=f"log-{self.name}", daemon=True
            ).start()

    def mark(self) -> ProcessMark | None:
        """Name the running process beyond doubt; None when there is none."""
        if self._process is None or not self.is_running():
            return None
        return ProcessMark(self._process.pid, self._created)

    def is_running(self) -> bool:
        """Tell whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def is_ready(self) -> bool:
        """Tell whether it does its work; without a sign to look for, living is enough."""
        if not self.is_running():
            return False
        if self.spec.is_ready is not None:
            return self.spec.is_ready()
        return not self.spec.ready_marker or self._marker_seen.is_set()

    def answers(self) -> bool:
        """Tell whether the process still answers; one that is never asked does."""
        return self.spec.answers is None or self.spec.answers()

    def how_it_ended(self) -> str:
        """Return the end of the process in words."""
        code = self._process.poll() if self._process is not None else None
        if code is None:
            return "did not end"
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with code {code}"

    def stop(self, *, hurry: threading.Event | None = None) -> None:
        """End the process by its steps, then whatever is left of its group by force."""
        process = self._process
        if process is None:
            return
        for number, patience_s in self.spec.stop_steps:
            if process.poll() is not None:
                break
            process.send_signal(number)
            _wait(process, patience_s, hurry)
        self.kill()

    def kill(self) -> None:
        """End the process and its own children at once, as a crash would."""
        process = self._process
        if process is None:
            return
        _kill_group(process.pid)
        process.wait()

    def last_lines(self) -> str:
        """Return the end of its log, for an error's text."""
        text = self.log_path.read_text(encoding="utf-8", errors="replace")
        return log_tail(str(self.log_path), text.splitlines())

    def _pump(self, stream: IO[bytes]) -> None:
        with stream, self.log_path.open("ab", buffering=0) as log:
            for raw in stream:
                log.write(raw)
                text = raw.decode("utf-8", errors="replace").rstrip()
                if self.spec.ready_marker and self.spec.ready_marker in text:
                    self._marker_seen.set()
                self._terminal.line(self.name, text)


def end_leftover(mark: ProcessMark, *, patience_s: float = 15.0) -> bool:
    """End a process of an earlier run by its mark; False when it was gone already."""
    if not is_alive(mark):
        return False
    os.kill(mark.pid, signal.SIGTERM)
    _wait_gone(mark, patience_s)
    _kill_group(mark.pid)
    _wait_gone(mark, patience_s)
    return True


def _wait_gone(mark: ProcessMark, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while is_alive(mark) and time.monotonic() < deadline:
        time.sleep(0.05)


def is_alive(mark: ProcessMark) -> bool:
    """Tell whether the marked process still runs: same number and same time of birth."""
    try:
        process = psutil.Process(mark.pid)
        same = abs(process.create_time() - mark.created) < 1.0
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _kill_group(leader: int) -> None:
    """Kill what is left of a group; gone already (or, on macOS, all awaiting us) is as good."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _created(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0.0


def _wait(
    process: subprocess.Popen[bytes], patience_s: float, hurry: threading.Event | None
) -> None:
    deadline = time.monotonic() + patience_s
    while process.poll() is None and time.monotonic() < deadline:
        if hurry is not None and hurry.is_set():
            return
        time.sleep(0.03)
