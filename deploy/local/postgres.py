"""An embedded Postgres, supervised by our own rules: a file lock, readiness asked of the server
itself, starts retried after an unclean death, durable unless it is for tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil  # type: ignore[import-untyped] # publishes no types

from deploy.local.faults import ServerFailed, log_tail
from deploy.local.file_lock import hold_lock
from deploy.local.ports import LOOPBACK, free_port
from deploy.local.postgres_conf import write_configuration
from deploy.local.postgres_home import PostgresHome, discard_home, prepare_home
from deploy.local.private_files import read_state, write_state

SUPERUSER = "postgres"
DATABASE = "stratagate"
_START_S = 60  # recovery after a crash reads the whole log since the last checkpoint
_RETRY_S = 20.0  # how long the processes of a killed server may hold its shared memory
_FOREIGN_PID_S = 4.0


@dataclass(frozen=True, slots=True)
class RunningPostgres:
    """A server that answers: a superuser's URL on loopback, and the ways to end it."""

    url: str
    port: int
    password: str
    home: PostgresHome
    data_dir: Path
    log_path: Path

    @property
    def moved_to(self) -> Path | None:
        """The folder under /var/tmp that holds part of it, when the data folder could not."""
        return self.home.moved_to

    def pid(self) -> int | None:
        """Return the postmaster's process id, None when the server is not running."""
        return _postmaster_pid(self.home)

    def is_ready(self) -> bool:
        """Tell whether the server of this very cluster accepts connections."""
        return _answers(self.home, self.port)

    def stop(self) -> None:
        """End the server cleanly (sessions are cut, nothing committed is lost)."""
        with hold_lock(self.data_dir / "start.lock", wait_s=_START_S):
            _stop(self.home)

    def kill(self) -> None:
        """End the server as a crash would; for tests of what happens then."""
        pid = self.pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            _wait_gone(pid)

    def discard(self) -> None:
        """Stop the server and delete all its data; for tests, no command does this."""
        self.stop()
        discard_home(self.data_dir)


def start_postgres(
    data_dir: Path, *, for_tests: bool = False, log_path: Path | None = None
) -> RunningPostgres:
    """Start the server of this folder, or join it when it is already running.

    Processes that race for one folder share one server. `for_tests` trades durability for
    speed: a power cut may then lose everything. Raises ServerFailed with the log's last lines.
    """
    data_dir = data_dir.resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    log = log_path or data_dir / "postgres.log"
    with hold_lock(data_dir / "start.lock", wait_s=2 * _START_S):
        home = prepare_home(data_dir)
        state = read_state(data_dir / "server.json") or {}
        password = str(state.get("password") or secrets.token_urlsafe(24))
        port = int(state.get("port") or 0)
        write_state(data_dir / "server.json", {"password": password, "port": port})
        if not (port and _answers(home, port)):
            if not (home.cluster / "PG_VERSION").exists():
                _create_cluster(home, password, log, for_tests=for_tests)
            port = _start(home, port, log, for_tests=for_tests)
            write_state(data_dir / "server.json", {"password": password, "port": port})
        _create_database(home, port, password)
    return _running(data_dir, port, password, home, log)


def find_postgres(data_dir: Path) -> RunningPostgres | None:
    """Return the server that runs on this folder, None when none does."""
    data_dir = data_dir.resolve()
    state = read_state(data_dir / "server.json")
    if state is None:
        return None
    home = prepare_home(data_dir)
    if _postmaster_pid(home) is None:
        return None
    log = data_dir / "postgres.log"
    return _running(data_dir, int(state["port"]), str(state["password"]), home, log)


def _running(
    data_dir: Path, port: int, password: str, home: PostgresHome, log: Path
) -> RunningPostgres:
    url = f"postgresql://{SUPERUSER}:{quote(password, safe='')}@{LOOPBACK}:{port}/{DATABASE}"
    return RunningPostgres(url, port, password, home, data_dir, log)


def _create_cluster(home: PostgresHome, password: str, log: Path, *, for_tests: bool) -> None:
    """Initialise beside the final place and rename: a cut initdb is never taken for a cluster."""
    fresh = home.cluster.with_name("cluster.new")
    if fresh.exists():
        shutil.rmtree(fresh)
    fresh.mkdir(mode=0o700)
    secret = home.sockets / "initial-password"  # the server's account must read it, once
    secret.touch(mode=0o600)
    secret.write_text(password, encoding="ascii")
    home.give_away(fresh)
    home.give_away(secret)
    command = ["initdb", "-D", str(fresh), "-U", SUPERUSER, f"--pwfile={secret}"]
    command += ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command += ["--no-sync"] if for_tests else []
    try:
        done = _run(home, command, log=log, timeout_s=120)
    finally:
        secret.unlink()
    if done != 0:
        raise ServerFailed(f"initdb failed. {_tail(log)}")
    fresh.rename(home.cluster)


def _start(home: PostgresHome, last_port: int, log: Path, *, for_tests: bool) -> int:
    began = time.monotonic()
    while True:
        port = free_port(preferred=last_port or None)
        write_configuration(home, port, for_tests=for_tests)
        command = ["pg_ctl", "start", "-D", str(home.cluster), "-w", "-t", str(_START_S), "-s"]
        if _run(home, command, log=log, timeout_s=_START_S + 10) == 0 and _answers(home, port):
            return port
        waited = time.monotonic() - began
        if waited > _RETRY_S:
            raise ServerFailed(f"Postgres did not start in {waited:.0f} s. {_tail(log)}")
        if waited > _FOREIGN_PID_S:
            _forget_foreign_pid(home)
        time.sleep(0.2)


def _forget_foreign_pid(home: PostgresHome) -> None:
    """Drop a pid file whose number now belongs to another program, as after a reboot."""
    pid = _recorded_pid(home)
    if pid is not None and psutil.pid_exists(pid) and not _is_postgres(pid):
        (home.cluster / "postmaster.pid").unlink(missing_ok=True)


def _stop(home: PostgresHome) -> None:
    pid = _postmaster_pid(home)
    if pid is None:
        return
    for mode in ("fast", "immediate"):
        command = ["pg_ctl", "stop", "-D", str(home.cluster), "-m", mode, "-w", "-t", "30", "-s"]
        if _run(home, command, log=None, timeout_s=40) == 0 or _wait_gone(pid, limit_s=0.1):
            return
    raise ServerFailed(f"Postgres (process {pid}) did not stop.")


def _create_database(home: PostgresHome, port: int, password: str) -> None:
    """Create our database if this cluster has none yet; asks the server, not a marker file."""
    where = ["-h", str(home.sockets), "-p", str(port), "-U", SUPERUSER]
    environment = {"PGPASSWORD": password, "LC_ALL": "C"}
    done = subprocess.run(
        [str(home.binaries / "createdb"), *where, DATABASE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 and "already exists" not in done.stderr:
        raise ServerFailed(f"The database {DATABASE} could not be created: {done.stderr.strip()}")


def _answers(home: PostgresHome, port: int) -> bool:
    """Ask over the cluster's own socket: a port alone could belong to another server."""
    command = [str(home.binaries / "pg_isready"), "-q", "-t", "3"]
    command += ["-h", str(home.sockets), "-p", str(port)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _recorded_pid(home: PostgresHome) -> int | None:
    try:
        first = (home.cluster / "postmaster.pid").read_text(encoding="utf-8").split("\n", 1)[0]
        return int(first)
    except (FileNotFoundError, ValueError):
        return None


def _postmaster_pid(home: PostgresHome) -> int | None:
    pid = _recorded_pid(home)
    return pid if pid is not None and _is_postgres(pid) else None


def _is_postgres(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        return bool(process.name() == "postgres" and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _wait_gone(pid: int, *, limit_s: float = 10.0) -> bool:
    deadline = time.monotonic() + limit_s
    while _is_postgres(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _run(home: PostgresHome, command: list[str], *, log: Path | None, timeout_s: float) -> int:
    """Run a server binary as its account; the log is opened here, so it can lie anywhere."""
    program = [str(home.binaries / command[0]), *command[1:]]
    sink = log or Path(os.devnull)
    with sink.open("ab") as stream:
        return subprocess.run(
            program,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            timeout=timeout_s,
            check=False,
            start_new_session=True,  # Ctrl-C in the terminal is for the stack, not the server
            **home.popen_options(),
        ).returncode


def _tail(log: Path) -> str:
    return log_tail(str(log), log.read_text(encoding="utf-8", errors="replace").splitlines())
