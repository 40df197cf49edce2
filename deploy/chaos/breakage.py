"""Carries a fault out on a running stack and mends what it broke, after the fault's own time."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import psutil  # type: ignore[import-untyped] # publishes no types
import psycopg
import redis
from celery import Celery
from kombu.exceptions import OperationalError
from pydantic import SecretStr

from deploy.chaos.ground import Ground
from deploy.chaos.model_script import ModelScript
from deploy.chaos.plan import Fault, FaultKind
from deploy.chaos.provider import Provider
from deploy.local.faults import LocalFault
from deploy.local.running import RunningStack
from deploy.local.supervisor import Supervisor
from shared.settings import Settings
from workers.app import configuration, task_name

SKEWED = "skewed"
"""The name of the worker whose clock jumps."""

_DAY_S = 86_400
_RELEASES = 5
_REPEATED_JOBS = 20
_JUMP_LASTS_MORE_S = 2.0
_MEETS_WITHIN_S = 8.0
_LOOK_EVERY_S = 0.1


class Missed(Exception):
    """There was nothing to break: an earlier fault had it down. Such a fault does not count."""


class Breakage:
    """The ways to break one stack; faults of different targets may go on at the same time."""

    def __init__(
        self,
        stack: RunningStack,
        supervisor: Supervisor,
        *,
        script: ModelScript,
        provider: Provider,
        clock_file: Path,
        lease_s: float,
        source: Random,
    ) -> None:
        self._stack = stack
        self._supervisor = supervisor
        self._script = script
        self._provider = provider
        self._clock_file = clock_file
        self._lease_s = lease_s
        self._source = source
        self._bells = Celery("chaos", set_as_current=False)
        self._bells.conf.update(configuration(Settings(broker_url=SecretStr(stack.broker_url))))

    def carry_out(self, fault: Fault) -> None:
        """Break it, wait, mend it. Raises Missed when there was nothing to break, LocalFault
        when it cannot be mended."""
        kind, lasts_s = fault.kind, fault.lasts_s
        if fault.target == "model":
            self._break_model(kind, lasts_s)
        elif fault.target == "provider":
            self._break_provider(fault.play, lasts_s)
        elif kind is FaultKind.WORKER_CHILD_KILLED:
            self._kill_worker_child()
        elif kind is FaultKind.WORKER_PAUSED:
            self._pause_worker()
        elif kind is FaultKind.BROKER_FLUSHED:
            self._flush_broker()
        elif kind is FaultKind.BROKER_EMPTIED:
            self._kill("valkey", lasts_s, meanwhile=self._empty_broker)
        elif kind is FaultKind.RINGS_REPEATED:
            self._repeat_rings()
        elif kind in (FaultKind.CLOCK_AHEAD, FaultKind.CLOCK_BEHIND):
            self._jump_clock(_DAY_S if kind is FaultKind.CLOCK_AHEAD else -_DAY_S, lasts_s)
        else:
            self._kill(fault.target, lasts_s)

    def mend(self) -> None:
        """End what lasts: models and their provider are well again, and clocks are right."""
        self._script.be_well()
        self._provider.be_well()
        self._set_clock(0)

    def _kill(
        self, name: str, lasts_s: float, *, meanwhile: Callable[[], None] | None = None
    ) -> None:
        if self._stack.pid_of(name) is None:
            raise Missed(f"{name} was down")
        self._stack.kill(name)
        # Held, so that it comes back after the fault's time and not after the pauses of the
        # supervisor, which grow to half a minute with every death.
        self._supervisor.hold(name)
        time.sleep(lasts_s)
        if meanwhile is not None:
            meanwhile()
        self._release(name)

    def _release(self, name: str) -> None:
        for left in reversed(range(_RELEASES)):
            try:
                self._supervisor.release(name)
            except LocalFault:
                if not left:
                    raise
                time.sleep(1)
            else:
                return

    def _kill_worker_child(self) -> None:
        pid = self._stack.pid_of("worker")
        try:
            children = psutil.Process(pid).children() if pid is not None else []
            self._source.choice(children).kill()
        except (psutil.NoSuchProcess, IndexError) as error:
            raise Missed("the worker had no child") from error

    def _pause_worker(self) -> None:
        """Stop it for longer than its leases last: others take its work, then it comes back."""
        pid = self._stack.pid_of("worker")
        if pid is None:
            raise Missed("worker was down")
        os.killpg(pid, signal.SIGSTOP)
        try:
            time.sleep(self._lease_s + 1)
        finally:
            os.killpg(pid, signal.SIGCONT)

    def _flush_broker(self) -> None:
        try:
            with redis.Redis.from_url(self._stack.broker_url, socket_timeout=5) as link:
                link.flushall()
        except redis.RedisError as error:
            raise Missed("the broker was down") from error

    def _empty_broker(self) -> None:
        shutil.rmtree(self._stack.folder.valkey / "appendonlydir")

    def _repeat_rings(self) -> None:
        """Ring for jobs of every state, several times each and in no order."""
        ground = Ground(self._stack.database_url)
        try:
            jobs = ground.ask(
                "SELECT tenant_id, job_id, queue FROM jobs "
                "ORDER BY finalized_at IS NOT NULL, random() LIMIT %s",
                _REPEATED_JOBS,
            )
        except psycopg.Error as error:
            raise Missed("the database was down") from error
        finally:
            ground.close()
        rings = [job for job in jobs for _ in range(self._source.randint(2, 4))]
        self._source.shuffle(rings)
        try:
            for job in rings:
                self._bells.send_task(
                    task_name(job["queue"]),
                    args=(job["tenant_id"], job["job_id"]),
                    retry=True,
                    retry_policy={"max_retries": 0},
                )
        except (OperationalError, OSError) as error:
            raise Missed("the broker was down") from error
        if not rings:
            raise Missed("no job was known yet")

    def _jump_clock(self, seconds: int, lasts_s: float) -> None:
        if self._stack.pid_of(SKEWED) is None:
            raise Missed("the worker whose clock jumps was down")
        self._set_clock(seconds)
        time.sleep(lasts_s + _JUMP_LASTS_MORE_S)
        self._set_clock(0)

    def _set_clock(self, seconds: int) -> None:
        fresh = self._clock_file.with_suffix(".new")
        fresh.write_text(str(seconds), encoding="ascii")
        fresh.replace(self._clock_file)

    def _break_model(self, kind: FaultKind, lasts_s: float) -> None:
        self._script.play(kind)
        time.sleep(lasts_s)
        self._script.be_well()

    def _break_provider(self, play: str, lasts_s: float) -> None:
        """Let the provider play until a call met it, for what nobody asked for broke nothing."""
        asked = self._provider.play(play)
        time.sleep(lasts_s)
        deadline = time.monotonic() + _MEETS_WITHIN_S
        while self._provider.asked() == asked:
            if time.monotonic() > deadline:
                self._provider.be_well()
                raise Missed("nobody asked the provider")
            time.sleep(_LOOK_EVERY_S)
        self._provider.be_well()
