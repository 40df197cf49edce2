"""Real processes: a Celery worker on a broker of the test's own, a relay, and a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.domain.jobs import JobKind
from tests.integration.workers.conftest import World
from tests.support.servers import new_valkey, short_folder

ROOT = Path(__file__).resolve().parents[3]
SUMMARY = {
    "title": "A dog called Rex",
    "tags": ["pets"],
    "summary": "Ann told of her dog Rex.",
    "keypoints": ["Ann has a dog called Rex."],
    "shouldExtract": True,
}


class Stack:
    """A worker and a relay as processes, on the world's database and a broker of their own."""

    def __init__(self, world: World, folder: Path, broker_url: str) -> None:
        self.script = folder / "script.json"
        self.script.write_text(json.dumps({"default": "fail_forever"}))
        self.environment = {
            **os.environ,
            "STRATAGATE_DATABASE_URL": world.settings.database_url.get_secret_value(),
            "STRATAGATE_BROKER_URL": broker_url,
            "STRATAGATE_MODEL_PROVIDER": "scripted",
            "STRATAGATE_SCRIPTED_FILE": str(self.script),
            "STRATAGATE_LEASE_S": "1.5",
            "STRATAGATE_BACKOFF_BASE_S": "0.1",
        }
        self.log = folder / "worker.log"
        self.worker = self.start_worker()
        relay = "from workers.cli import relay; relay()"
        self.relay = self._start([sys.executable, "-c", relay])
        wait_for(lambda: " ready." in self.log.read_text(), "the worker", self.log)

    def start_worker(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-E"]
        command += ["--pool", "prefork", "--concurrency", "1", "--loglevel", "INFO"]
        command += ["--without-gossip", "--without-mingle"]
        return self._start(command)

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as stream:
            return subprocess.Popen(  # noqa: S603 - a command of this file
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )

    def kill_worker(self) -> None:
        os.killpg(self.worker.pid, signal.SIGKILL)
        self.worker.wait()

    def stop(self) -> None:
        for process in (self.relay, self.worker):
            process.terminate()
        for process in (self.relay, self.worker):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(holds: Callable[[], bool], what: str, log: Path, *, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not come in {seconds:g} s:\n{log.read_text()[-3000:]}")
        time.sleep(0.05)


@pytest.fixture
def stack(world: World) -> Iterator[Stack]:
    with short_folder() as folder:
        broker = new_valkey(folder)
        running = Stack(world, folder, broker.url)
        try:
            yield running
        finally:
            running.stop()
            broker.stop()


@pytest.fixture
def world(own_world: World) -> World:
    """A database of its own: the relay sees the jobs of all tenants."""
    return own_world


def test_a_block_becomes_ready_by_a_real_worker_and_survives_its_kill(
    world: World, stack: Stack
) -> None:
    block = world.say(("I am Ann and I have a dog called Rex.", "What a good name."))
    source = world.message_ids(block)[0]
    event = {
        "title": "Ann has a dog called Rex",
        "summary": "Ann has a dog called Rex.",
        "sourceMessageIds": [source],
    }
    found = {"shouldExtract": True, "reason": "a fact", "events": [event]}
    # The first worker hangs in its model call and is killed there.
    hanging = {"fault": "hang_s", "seconds": 60, "then": {"reply": SUMMARY}}
    stack.script.write_text(json.dumps({"summarize": [hanging], "default": "fail_forever"}))
    wait_for(lambda: world.job(block, JobKind.SUMMARIZE).state == "running", "the claim", stack.log)
    stack.kill_worker()
    empty = {"reason": "nothing", "nodes": [], "edges": []}
    script = {
        "summarize": [{"fault": "transient"}, {"reply": SUMMARY}],
        "extract": [{"reply": found}],
        "project": [{"reply": empty}],
    }
    stack.script.write_text(json.dumps(script))
    stack.log.write_text("")
    stack.worker = stack.start_worker()
    wait_for(lambda: _rescue(world) > 0, "the lease's end", stack.log)
    wait_for(lambda: world.block(block.block_id).status == "ready", "readiness", stack.log)
    wait_for(
        lambda: getattr(world.job(block, JobKind.PROJECT), "state", "") == "succeeded_empty",
        "the projection",
        stack.log,
    )
    job = world.job(block, JobKind.SUMMARIZE)
    assert [one["code"] for one in job.errors] == ["lease_expired", "http_503"]
    assert (job.state, job.attempt) == ("succeeded", 3)
    assert [one.title for one in world.events(block)] == ["Ann has a dog called Rex"]
    log = stack.log.read_text()
    assert "dog called" not in log
    assert "Traceback" not in log


def _rescue(world: World) -> int:
    """Free the expired lease as the upkeep does, and return how many attempts were lost."""
    from shared.store.database import QueueDatabase  # noqa: PLC0415 - beside its one use
    from shared.store.job_queue import rescue_expired  # noqa: PLC0415 - beside its one use

    queue = QueueDatabase(world.settings)
    with queue.transaction() as tx:
        rescue_expired(tx)
    queue.close()
    with world.database.read(world.tenant_id) as tx:
        lost = text("SELECT max(jsonb_array_length(errors)) FROM jobs")
        return int(tx.connection.execute(lost).scalar_one())


def test_a_dead_broker_lets_go_of_the_publisher_at_once() -> None:
    program = (
        "import time; from workers.app import publisher; ring = ('summarize', 'ten_x', 'job_x'); "
        "publisher(*ring); began = time.monotonic(); "
        "print(publisher(*ring), time.monotonic() - began)"
    )
    environment = {**os.environ, "STRATAGATE_BROKER_URL": "redis://127.0.0.1:1/0"}
    done = subprocess.run(  # noqa: S603 - a command of this file
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    rung, seconds = done.stdout.splitlines()[-1].split()
    assert rung == b"False"
    assert float(seconds) < 3.0
