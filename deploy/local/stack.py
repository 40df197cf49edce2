"""The whole system on one machine: both servers, every process, one data folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from deploy.local.faults import PortTaken
from deploy.local.first_key import prepare_database
from deploy.local.instance import InstanceFolder, InstanceState, ProcessMark, acquire
from deploy.local.leftovers import end_leftover_processes, stop_leftover_servers
from deploy.local.ports import LOOPBACK, free_port, require_free
from deploy.local.postgres import start_postgres
from deploy.local.private_files import read_state, write_private, write_state
from deploy.local.processes import Child, ProcessSpec
from deploy.local.running import RunningStack
from deploy.local.server_parts import ServerPart
from deploy.local.services import Addresses, service_specs
from deploy.local.supervisor import Supervisor
from deploy.local.terminal import SilentTerminal, Terminal
from deploy.local.valkey import start_valkey

_FLOWER_PORT = 5555
_CONSOLE_PORT = 8090
_METRICS_PORTS = {"worker_metrics": 9101, "relay_metrics": 9102, "upkeep_metrics": 9103}
_FLOWER_USER = "stratagate"
_READY_S = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOptions:
    """How to run a stack.

    A `port` of 0 finds free ones; `apart` gives ingest and retrieval a process and port each;
    `settings` are further STRATAGATE_ variables; `for_tests` gives durability up for speed.
    """

    port: int = 0
    retrieval_port: int = 0
    apart: bool = False
    with_flower: bool = True
    with_console: bool = True
    concurrency: int = 2
    settings: Mapping[str, str] = field(default_factory=dict)
    for_tests: bool = False


class Stack:
    """An instance on one data folder; `up` starts it and hands out its handle."""

    def __init__(
        self,
        data_dir: Path,
        options: StackOptions | None = None,
        *,
        terminal: Terminal | None = None,
    ) -> None:
        self.folder = InstanceFolder(data_dir.resolve())
        self.options = options or StackOptions()
        self._terminal = terminal or SilentTerminal()
        self.supervisor = Supervisor(self._terminal, self._record)
        self._state = InstanceState(status="starting", supervisor_pid=os.getpid())
        self._children: list[Child] = []

    def up(self) -> RunningStack:
        """Start everything and return when it answers.

        Raises FolderInUse, PortTaken, Interrupted or ServerFailed, with nothing left running.
        """
        self.folder.create()
        lock = acquire(self.folder)
        try:
            for name in end_leftover_processes(self.folder):
                self.supervisor.say(f"ended {name}, left over from a run that was killed")
            key = self._start()
            return RunningStack(
                self.folder, self._state, self.supervisor, admin_key=key, release=lock.release
            )
        except BaseException:
            self._abandon()
            lock.release()
            raise

    def _abandon(self) -> None:
        try:
            self.supervisor.stop()
        finally:
            stop_leftover_servers(self.folder)

    def _start(self) -> str:
        addresses = self._addresses()
        self._state = replace(
            self._state,
            api_url=f"http://{LOOPBACK}:{addresses.ingest}",
            retrieval_url=f"http://{LOOPBACK}:{addresses.retrieval}",
            flower_url=f"http://{LOOPBACK}:{addresses.flower}" if addresses.flower else "",
            console_url=f"http://{LOOPBACK}:{addresses.console}" if addresses.console else "",
            metrics_urls={
                "worker": f"http://{LOOPBACK}:{addresses.worker_metrics}/metrics",
                "relay": f"http://{LOOPBACK}:{addresses.relay_metrics}/metrics",
                "upkeep": f"http://{LOOPBACK}:{addresses.upkeep_metrics}/metrics",
            },
        )
        self._record()
        environment = self._start_servers()
        specs = service_specs(
            addresses,
            environment,
            flower_auth=self._flower_auth(),
            concurrency=self.options.concurrency,
        )
        # Flower needs the broker alone, so it starts beside the migration.
        self._start_children([spec for spec in specs if spec.name == "flower"])
        self.supervisor.say("migrating the database")
        key = prepare_database(self.folder, environment)
        self._start_children([spec for spec in specs if spec.name != "flower"])
        for child in self._children:
            self.supervisor.wait_ready(child, limit_s=_READY_S)
        self.supervisor.watch()
        self._state = replace(self._state, status="ready")
        self._record()
        return key

    def _start_servers(self) -> dict[str, str]:
        """Start database and broker; return the environment of everything that uses them."""
        folder, options = self.folder, self.options
        database = ServerPart(
            "postgres",
            lambda: start_postgres(
                folder.postgres,
                for_tests=options.for_tests,
                log_path=folder.logs / "postgres.log",
            ),
        )
        broker = ServerPart(
            "valkey",
            lambda: start_valkey(folder.valkey, log_path=folder.logs / "valkey.log"),
        )
        self.supervisor.say("starting the database and the broker")
        self.supervisor.start(database)
        moved_to = database.server.moved_to
        if moved_to is not None:
            self.supervisor.say(f"the database's files are in {moved_to}: {_why_moved()}")
        self.supervisor.start(broker)
        self._state = replace(
            self._state,
            database_url=database.server.url,
            broker_url=broker.server.url,
            moved_to="" if moved_to is None else str(moved_to),
        )
        self._record()
        return {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "STRATAGATE_LOG_FORMAT": "console",
            "STRATAGATE_API_URL": self._state.api_url,
            **options.settings,
            "STRATAGATE_DATABASE_URL": database.server.url,
            "STRATAGATE_BROKER_URL": broker.server.url,
        }

    def _start_children(self, specs: Sequence[ProcessSpec]) -> None:
        if specs:
            self.supervisor.say(f"starting {', '.join(spec.name for spec in specs)}")
        for spec in specs:
            child = Child(spec, logs=self.folder.logs, terminal=self._terminal)
            self._children.append(child)
            self.supervisor.start(child)

    def _addresses(self) -> Addresses:
        """Choose the ports: the one asked for, else those of the last run, else free ones."""
        options, last = self.options, read_state(self.folder.ports_file) or {}

        def usual(port: int) -> int | None:
            return port if options.port else None  # several stacks start side by side

        ingest = _port(options.port, last.get("ingest"), "the API")
        ports = {"ingest": ingest}
        if options.apart:
            ports["retrieval"] = _port(options.retrieval_port, last.get("retrieval"), "retrieval")
        if options.with_flower:
            ports["flower"] = free_port(preferred=last.get("flower") or usual(_FLOWER_PORT))
        if options.with_console:
            ports["console"] = free_port(preferred=last.get("console") or usual(_CONSOLE_PORT))
        for name, port in _METRICS_PORTS.items():
            ports[name] = free_port(preferred=last.get(name) or usual(port))
        if len(set(ports.values())) < len(ports):
            raise PortTaken(f"Two parts cannot share a port: {ports}.")
        write_state(self.folder.ports_file, last | ports)
        return Addresses(
            ingest,
            ports.get("retrieval", ingest),
            ports.get("flower", 0),
            ports.get("console", 0),
            **{name: ports[name] for name in _METRICS_PORTS},
        )

    def _flower_auth(self) -> str:
        path = self.folder.flower_file
        if not path.exists():
            write_private(path, f"{_FLOWER_USER}:{secrets.token_urlsafe(18)}\n")
        return path.read_text(encoding="ascii").strip()

    def _record(self) -> None:
        """Write what is known; called by two threads, so it changes nothing in memory."""
        marks: dict[str, ProcessMark] = {}
        for child in list(self._children):
            mark = child.mark()
            if mark is not None:
                marks[child.name] = mark
        self.folder.write(replace(self._state, processes=marks))


def _port(asked: int, last: int | None, what_for: str) -> int:
    return require_free(asked, what_for=what_for) if asked else free_port(preferred=last)


def _why_moved() -> str:
    if os.geteuid() == 0:
        return "its unprivileged account cannot enter the data folder, or the path is too long"
    return "a socket's path in the data folder would be too long"
