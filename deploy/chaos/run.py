"""One run of chaos: start a stack, post turns, break it fault by fault, mend it, judge it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import httpx
import psycopg

from deploy.chaos.breakage import SKEWED, Breakage, Missed
from deploy.chaos.ground import Ground
from deploy.chaos.invariants import AFTER_FAULTS, AFTER_RETRY, Invariant, World, retry_failed
from deploy.chaos.jumping_clock import CLOCK_VARIABLE
from deploy.chaos.model_script import ModelScript
from deploy.chaos.plan import Boundary, Fault
from deploy.chaos.provider import Provider
from deploy.chaos.report import Injected, Report, Verdict
from deploy.chaos.traffic import Traffic
from deploy.local.faults import ServerFailed
from deploy.local.processes import Child
from deploy.local.running import RunningStack
from deploy.local.services import QUEUES
from deploy.local.stack import Stack, StackOptions
from deploy.local.terminal import SilentTerminal, Terminal

_LEASE_S = 3.0
_QUICK: Mapping[str, str] = {
    "STRATAGATE_LEASE_S": f"{_LEASE_S:g}",
    "STRATAGATE_RING_AGAIN_AFTER_S": "3",
    "STRATAGATE_BACKOFF_BASE_S": "0.2",
    "STRATAGATE_RELAY_POLL_MIN_MS": "20",
    "STRATAGATE_RELAY_POLL_MAX_MS": "200",
    "STRATAGATE_UPKEEP_INTERVAL_S": "0.5",
    "STRATAGATE_POOL_SIZE": "4",
    "STRATAGATE_MODEL_PROVIDER": "scripted",
    "STRATAGATE_MODEL_NAME": "scripted",
}
"""Short pauses, so that what takes half a minute in production is seen within seconds."""

_BLOCK_TURN_SIZE = 3
_PARTS = ("postgres", "valkey", "worker", "upkeep", "relay", "api", SKEWED)
_AT_A_TIME = 3
_PACE_S = 1.0
_LEAST_ON_TIME = 0.5
_BEHIND_JOBS = 40
_WHOLE_S = 120.0
_OVER_S = 420.0
_LOOK_EVERY_S = 0.25


class Chaos:
    """One run on a data folder of its own; `run` returns the report.

    A fault waits up to `boundary_s` for work to stand at its boundary, and is then injected anyway.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        plan: Iterable[Fault],
        provider: Provider,
        seed: int,
        clients: int = 3,
        boundary_s: float = 4.0,
        terminal: Terminal | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._clients = clients
        self._boundary_s = boundary_s
        self._plan = iter(plan)
        self._provider = provider
        self._terminal = terminal or SilentTerminal()
        self._source = Random(seed)  # noqa: S311 - repeatable, not secret
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.report = Report(seed)

    def run(self, *, faults: int) -> Report:
        """Inject so many faults (fewer when the plan ends) and judge what is left.

        Raises LocalFault when the stack cannot be started or mended.
        """
        self._data_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
        script = ModelScript(self._data_dir / "script.json")
        clock_file = self._data_dir / "clock"
        clock_file.write_text("0", encoding="ascii")
        settings = {
            **_QUICK,
            "STRATAGATE_SCRIPTED_FILE": str(script.path),
            CLOCK_VARIABLE: str(clock_file),
        }
        # Durable: what Postgres has confirmed must be there after it was killed.
        options = StackOptions(
            with_flower=False, with_console=False, concurrency=1, settings=settings
        )
        starting = Stack(self._data_dir, options)
        with starting.up() as stack:
            self._start_skewed_worker(starting, stack)
            breakage = Breakage(
                stack,
                starting.supervisor,
                script=script,
                provider=self._provider,
                clock_file=clock_file,
                lease_s=_LEASE_S,
                source=self._source,
            )
            self._break_and_judge(starting, stack, breakage, faults)
        return self.report

    def _start_skewed_worker(self, starting: Stack, stack: RunningStack) -> None:
        worker = starting.supervisor.part("worker")
        if not isinstance(worker, Child):
            raise TypeError("the worker is a process")
        command = (sys.executable, "-m", "celery", "-A", "deploy.chaos.skewed_worker", "worker")
        options = ("-Q", QUEUES, "-E", "--pool", "prefork", "--concurrency", "1")
        spec = replace(
            worker.spec,
            name=SKEWED,
            command=(*command, *options, "--hostname", f"{SKEWED}@%h"),
            environment={**worker.spec.environment, **self._provider.settings()},
        )
        child = Child(spec, logs=stack.folder.logs, terminal=SilentTerminal())
        starting.supervisor.start(child)
        starting.supervisor.wait_ready(child, limit_s=_WHOLE_S)

    def _break_and_judge(
        self, starting: Stack, stack: RunningStack, breakage: Breakage, faults: int
    ) -> None:
        traffic = Traffic(stack.api_url, stack.admin_key, self._clients)
        traffic.start(block_turn_size=_BLOCK_TURN_SIZE)
        try:
            self._wait_until_work_flows(stack)
            self._say("posting turns, and breaking what they need")
            broke_at = time.monotonic()
            self._inject(stack, breakage, traffic, faults)
            self.report.numbers["seconds_of_faults"] = round(time.monotonic() - broke_at, 1)
            breakage.mend()
            traffic.ease(is_behind=True)
            self._wait_whole(starting)
            traffic.stop(within_s=_WHOLE_S)
        finally:
            traffic.give_up()
        with self._world(stack, traffic) as world:
            self._judge_all(world, traffic)

    def _wait_until_work_flows(self, stack: RunningStack) -> None:
        """Wait until a first job is over; breaking an idle stack would prove little."""
        ground = Ground(stack.database_url)
        flows = ground.wait_for(Boundary.FINISHED, within_s=_WHOLE_S)
        ground.close()
        if not flows:
            raise ServerFailed(f"No job was done within {_WHOLE_S:g} s, before any fault.")

    def _judge_all(self, world: World, traffic: Traffic) -> None:
        numbers = self.report.numbers
        self._say("the faults are over and every part is back; waiting until every job is over")
        numbers["seconds_to_recover"] = self._wait_over(world)
        self._count(world, traffic)
        self._judge_the_faults()
        self._judge(world, AFTER_FAULTS)
        numbers["jobs_retried_by_hand"] = retry_failed(world)
        self._wait_over(world)
        self._judge(world, AFTER_RETRY)
        numbers["seconds_in_all"] = round(time.monotonic() - self._began, 1)
        self.report.is_whole = True

    def _inject(
        self, stack: RunningStack, breakage: Breakage, traffic: Traffic, faults: int
    ) -> None:
        ground = Ground(stack.database_url)
        busy: dict[str, Future[None]] = {}
        due = 0
        with ThreadPoolExecutor(_AT_A_TIME) as hands:
            while not self._is_enough(busy, faults):
                fault = next(self._plan, None)
                if fault is None:
                    break
                began = time.monotonic()
                _wait_for_a_hand(busy, fault.target)
                is_on_time = ground.wait_for(fault.boundary, within_s=self._boundary_s)
                busy[fault.target] = hands.submit(self._carry_out, breakage, fault, is_on_time)
                due += 1
                self._keep_up(ground, traffic, due)
                time.sleep(max(0.0, _PACE_S - (time.monotonic() - began)))
            for going_on in busy.values():
                going_on.result()
        ground.close()

    def _is_enough(self, busy: Mapping[str, Future[None]], faults: int) -> bool:
        if len(self.report.injected) + _unfinished(busy) < faults:
            return False
        for going_on in busy.values():
            going_on.result()  # one may yet miss
        return len(self.report.injected) >= faults

    def _carry_out(self, breakage: Breakage, fault: Fault, is_on_time: bool) -> None:
        at_s = round(time.monotonic() - self._began, 2)
        try:
            breakage.carry_out(fault)
        except Missed:
            with self._lock:
                self.report.missed[fault.kind.value] += 1
            return
        with self._lock:
            self.report.injected.append(Injected(fault, is_on_time, at_s))

    def _keep_up(self, ground: Ground, traffic: Traffic, number: int) -> None:
        """Let turns wait while the workers are far behind; say now and then how far it is."""
        try:
            live = ground.live_jobs()
        except psycopg.Error:
            return
        traffic.ease(is_behind=live > _BEHIND_JOBS)
        if number % 25 == 0:
            self._say(f"{number} faults, {len(traffic.accepted)} turns accepted, {live} live jobs")

    def _wait_whole(self, starting: Stack) -> None:
        for name in _PARTS:
            part = starting.supervisor.part(name)
            began = time.monotonic()
            while not part.is_ready():  # it may die and be revived once more meanwhile
                if time.monotonic() - began > _WHOLE_S:
                    raise ServerFailed(f"{name} did not come back. {part.last_lines()}")
                time.sleep(_LOOK_EVERY_S)
            self.report.back_after_s[name] = round(time.monotonic() - began, 1)

    def _wait_over(self, world: World) -> float:
        """Wait until no job is live, but not for ever: what is then left is a finding."""
        began = time.monotonic()
        while world.ground.live_jobs() and time.monotonic() - began < _OVER_S:
            time.sleep(_LOOK_EVERY_S)
        return round(time.monotonic() - began, 1)

    @contextmanager
    def _world(self, stack: RunningStack, traffic: Traffic) -> Iterator[World]:
        ground = Ground(stack.database_url)
        headers = {"Authorization": f"Bearer {stack.admin_key}"}
        try:
            with httpx.Client(base_url=stack.api_url, headers=headers, timeout=60) as api:
                yield World(
                    ground, api, stack.database_url, traffic.accepted, traffic.disagreements
                )
        finally:
            ground.close()

    def _count(self, world: World, traffic: Traffic) -> None:
        report = self.report
        report.numbers |= {
            "turns_accepted": len(traffic.accepted),
            "posts": traffic.posts,
            "posts_repeated_after_an_error": traffic.failed_posts,
        }
        for table in ("blocks", "events", "nodes"):
            [row] = world.ground.ask(f"SELECT count(*) AS n FROM {table}")  # noqa: S608 - our own names
            report.numbers[table] = row["n"]
        for row in world.ground.ask("SELECT state, count(*) AS n FROM jobs GROUP BY state"):
            report.jobs[row["state"]] = row["n"]
        for row in world.ground.ask(
            "SELECT e ->> 'code' AS code, count(*) AS n "
            "FROM jobs, jsonb_array_elements(errors) AS e GROUP BY 1"
        ):
            report.error_codes[row["code"]] = row["n"]

    def _judge_the_faults(self) -> None:
        """Faults that met an idle stack prove nothing, however well everything holds."""
        injected = self.report.injected
        on_time = sum(one.is_on_time for one in injected)
        few = on_time < _LEAST_ON_TIME * len(injected)
        found = (f"{on_time} of {len(injected)} faults",) if few else ()
        promise = "at least half of the faults met work at their boundary"
        self.report.numbers["faults_on_time"] = on_time
        plays = {one.fault.play for one in injected if one.fault.play}
        self.report.numbers["kinds_of_provider_faults"] = len(plays)
        self.report.verdicts.append(Verdict("faults_met_work", promise, found))

    def _judge(self, world: World, invariants: tuple[Invariant, ...]) -> None:
        for one in invariants:
            verdict = Verdict(one.name, one.promise, _found_by(one, world))
            self._say(f"{'holds' if verdict.holds else 'BROKEN'}: {one.promise}")
            self.report.verdicts.append(verdict)

    def _say(self, text: str) -> None:
        self._terminal.line("chaos", text)


def _found_by(one: Invariant, world: World) -> tuple[str, ...]:
    try:
        return tuple(one.check(world))
    except httpx.HTTPError as error:  # an API that fails now breaks the promise it is asked for
        return (f"it could not be checked: {error}",)


def _unfinished(busy: Mapping[str, Future[None]]) -> int:
    return sum(not going_on.done() for going_on in busy.values())


def _wait_for_a_hand(busy: dict[str, Future[None]], target: str) -> None:
    """Wait until nothing goes on at the target and a hand is free; raises what went wrong."""
    while True:
        for name in [name for name, going_on in busy.items() if going_on.done()]:
            busy.pop(name).result()
        if target not in busy and len(busy) < _AT_A_TIME:
            return
        time.sleep(0.02)
