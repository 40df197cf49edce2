"""The whole of StrataGate as real processes, for the tests that prove its promises.

A system has a database of its own, a broker of its own and the processes of the local stack;
any of them can be killed, stopped and started again. Nothing of it outlives the test.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import psycopg
from psycopg.rows import dict_row

from deploy.local.ports import LOOPBACK, free_port
from deploy.local.processes import Child
from deploy.local.services import Addresses, service_specs, stratagate
from deploy.local.terminal import SilentTerminal
from deploy.local.valkey import RunningValkey, start_valkey
from shared.settings import Settings
from shared.store.database import Database
from tests.support.databases import (
    Tenant,
    clone_database,
    drop_database,
    new_tenant,
    settings_for,
)
from tests.support.reaper import MARK
from tests.support.scripts import ModelScript
from tests.support.servers import new_valkey, short_folder
from tests.support.waiting import POLL_S, wait_until

ROOT = Path(__file__).resolve().parents[2]
SPARE = "spare"
READY_S = 60.0
_LIMIT_S = 120
_TAIL_LINES = 40

T = TypeVar("T")

QUICK: Mapping[str, str] = {
    "STRATAGATE_LEASE_S": "3",
    "STRATAGATE_RING_AGAIN_AFTER_S": "3",
    "STRATAGATE_BACKOFF_BASE_S": "0.2",
    "STRATAGATE_RELAY_POLL_MIN_MS": "20",
    "STRATAGATE_RELAY_POLL_MAX_MS": "200",
    "STRATAGATE_UPKEEP_INTERVAL_S": "0.5",
    "STRATAGATE_POOL_SIZE": "4",
    "STRATAGATE_LOG_FORMAT": "console",
}
"""Short pauses, so that what takes half a minute in production is seen within seconds."""


class RunningSystem:
    """A running StrataGate; a context manager.

    The processes are called api, worker, relay and upkeep, and console if wanted. Models follow
    the rules; namespaces whose policy names the provider `scripted` do as `script` says.
    `settings` are further STRATAGATE_ variables.
    """

    broker: RunningValkey

    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        concurrency: int = 2,
        with_console: bool = False,
    ) -> None:
        self._extra = dict(settings or {})
        self._concurrency = concurrency
        self._with_console = with_console
        self._ended = ExitStack()
        self._expected: set[str] = set()
        self.children: dict[str, Child] = {}

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self.start(*self.children)
        except BaseException as error:
            for name, tail in self.log_tails().items():
                error.add_note(f"log of {name}:\n{tail}")
            self._ended.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.close()

    # Processes

    def start(self, *names: str) -> None:
        """Start processes and return when they do their work."""
        for name in names:
            self.children[name].start()
            self._expected.add(name)
        for name in names:
            self.wait_until(self.children[name].is_ready, f"{name} is ready", within_s=READY_S)

    def kill(self, *names: str) -> None:
        """Kill processes at once, with their children, as a crash would (SIGKILL)."""
        for name in names:
            self._expected.discard(name)
            self.children[name].kill()

    def pause(self, name: str) -> None:
        """Stop a process and its children in their tracks (SIGSTOP), as a lost machine looks."""
        self._signal(name, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Let a paused process go on from where it stood."""
        self._signal(name, signal.SIGCONT)

    def start_spare(self, name: str) -> None:
        """Start another process beside the one of that name; it is called spare."""
        spec = replace(self.children[name].spec, name=SPARE)
        self.children[SPARE] = Child(spec, logs=self.folder / "logs", terminal=SilentTerminal())
        self._ended.callback(self.children[SPARE].kill)
        self.start(SPARE)

    def stop_broker(self) -> None:
        """Take the broker away."""
        self.broker.kill()

    def start_broker_empty(self) -> None:
        """Bring the broker back at its address, with nothing in it."""
        self.broker.kill()
        shutil.rmtree(self.broker.data_dir / "appendonlydir", ignore_errors=True)
        self.broker = start_valkey(
            self.broker.data_dir, log_path=self.broker.log_path, port=self.broker.port
        )

    def heal(self) -> None:
        """Undo what a test did: everything runs, and models follow the rules."""
        self.script.follow_rules()
        if SPARE in self.children:
            self.kill(SPARE)
            del self.children[SPARE]
        if not self.broker.is_ready():
            self.start_broker_empty()
        self.start(*(name for name, child in self.children.items() if not child.is_running()))

    def wait_until(
        self,
        check: Callable[[], T],
        what: str,
        *,
        within_s: float = 30.0,
        poll_s: float = POLL_S,
    ) -> T:
        """Wait as `wait_until` does, but no longer than the processes live that should."""

        def checked() -> T:
            for name in sorted(self._expected):
                child = self.children[name]
                assert child.is_running(), f"{name} {child.how_it_ended()}. {child.last_lines()}"
            return check()

        return wait_until(checked, what, within_s=within_s, poll_s=poll_s)

    def log(self, name: str) -> str:
        """Return what a process has written since the system began."""
        return self.children[name].log_path.read_text(encoding="utf-8", errors="replace")

    def log_tails(self) -> dict[str, str]:
        """Return the last lines of every log, by the name of its process."""
        return {path.stem: _tail(path) for path in sorted(self.folder.glob("logs/*.log"))}

    # Ways in

    def new_tenant(self, name: str = "test") -> Tenant:
        """Make a tenant with an admin key."""
        return new_tenant(self.settings, self.database, f"{name}-{secrets.token_hex(4)}")

    def client(self, key: str, **more: Any) -> httpx.Client:
        """Return a client of the API with this key; it is closed with the system."""
        headers = {"Authorization": f"Bearer {key}"}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=30, **more)
        return self._ended.enter_context(client)

    def sql(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Ask the database directly, past every wall; for what the API does not tell."""
        url = self.settings.database_url.get_secret_value()
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(query.encode(), values).fetchall()

    def command(self, *words: str, key: str = "") -> subprocess.CompletedProcess[str]:
        """Run `stratagate …` against this system, with a key for those that use the API."""
        return self.run_python(*stratagate(*words)[1:], key=key)

    def run_python(self, *words: str, key: str = "") -> subprocess.CompletedProcess[str]:
        """Run this interpreter with the system's address and a key in its environment."""
        return subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *words],
            cwd=ROOT,
            env=self.environment | {"STRATAGATE_API_KEY": key},
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )

    # Parts

    def _signal(self, name: str, number: signal.Signals) -> None:
        mark = self.children[name].mark()
        assert mark is not None, f"{name} does not run"
        os.killpg(mark.pid, number)

    def _prepare(self) -> None:
        self.folder = self._ended.enter_context(short_folder())
        (self.folder / "logs").mkdir()
        mark = secrets.token_hex(8)
        database_url = clone_database()
        self._ended.callback(drop_database, database_url)
        self.settings: Settings = settings_for(database_url)
        self.database = Database(self.settings)
        self._ended.callback(self.database.close)
        self._ended.callback(_end_reaper, _start_reaper(mark, self.folder / "valkey"))
        self.broker = new_valkey(self.folder)
        self._ended.callback(lambda: self.broker.kill())
        self.script = ModelScript(self.folder)
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        console_port = free_port() if self._with_console else 0
        self.console_url = f"http://{LOOPBACK}:{console_port}" if console_port else ""
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("STRATAGATE_")},
            **QUICK,
            **self._extra,
            "PYTHONUNBUFFERED": "1",
            MARK: mark,
            "STRATAGATE_DATABASE_URL": database_url,
            "STRATAGATE_BROKER_URL": self.broker.url,
            "STRATAGATE_API_URL": self.url,
            "STRATAGATE_MODEL_PROVIDER": "rules",
            "STRATAGATE_SCRIPTED_FILE": str(self.script.path),
        }
        specs = service_specs(
            Addresses(port, port, 0, console_port),
            self.environment,
            flower_auth="",
            concurrency=self._concurrency,
        )
        terminal = SilentTerminal()
        for spec in specs:
            child = Child(spec, logs=self.folder / "logs", terminal=terminal)
            self.children[spec.name] = child
            self._ended.callback(child.kill)


def _start_reaper(mark: str, broker_folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "tests.support.reaper", mark, str(broker_folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C ends the test; what it leaves is then reaped
    )


def _end_reaper(reaper: subprocess.Popen[str]) -> None:
    left, _ = reaper.communicate(timeout=READY_S)
    assert not left.strip(), f"processes outlived their system:\n{left}"


def _tail(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-_TAIL_LINES:])
