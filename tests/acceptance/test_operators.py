"""What an operator has at hand: the doctor, the ledger's commands, and metrics of all processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from deploy.local.ports import LOOPBACK, free_port
from deploy.local.services import stratagate
from tests.acceptance.memory import Memory
from tests.support.stack import ROOT, RunningSystem
from workers.models.port import TaskKind

Report = dict[str, dict[str, str]]


def _doctor(system: RunningSystem, *words: str) -> tuple[int, Report]:
    done = system.command("doctor", "--json", *words)
    assert done.stdout.startswith("{"), done.stderr
    report = json.loads(done.stdout)
    assert report["ok"] == (done.returncode == 0)
    return done.returncode, {one["check"]: one for one in report["findings"]}


def _wrong(report: Report) -> set[str]:
    return {check for check, finding in report.items() if not finding["is_ok"]}


@pytest.mark.timeout(400)  # each command is a process of its own
def test_the_doctor_finds_a_killed_worker_and_its_late_jobs_and_nothing_once_it_is_back(
    memory: Memory,
) -> None:
    system = memory.system
    system.sql("DELETE FROM jobs WHERE state = 'dead' RETURNING 1")
    code, report = _doctor(system)
    assert _wrong(report) - {"leases"} == set(), report
    system.kill("worker")
    memory.begin(block_turn_size=1)
    memory.turn("late", "The archive is in Bergen.")
    system.wait_until(
        lambda: system.sql("SELECT 1 FROM jobs WHERE rung_at < now() - interval '1 s'"),
        "a job was rung and not claimed",
    )
    code, report = _doctor(system, "--max-age-s", "0.5")
    assert code == 1
    assert _wrong(report) - {"leases"} == {"consumers", "oldest due job"}
    assert "summarize" in report["consumers"]["found"]
    assert "stratagate worker --queues summarize" in report["consumers"]["remedy"]
    system.heal()
    memory.settled_jobs()
    code, report = _doctor(system)
    assert _wrong(report) - {"leases"} == set()


def test_the_doctor_names_a_broker_that_is_away(memory: Memory) -> None:
    memory.system.stop_broker()
    code, report = _doctor(memory.system)
    assert code == 1
    assert "broker" in _wrong(report)
    assert "turns are still accepted" in report["broker"]["found"]
    assert "consumers" not in report


@pytest.mark.timeout(400)  # each command is a process of its own
def test_dead_letters_are_listed_with_what_helps_and_retried_by_hand(memory: Memory) -> None:
    system, key = memory.system, memory.tenant.admin_key
    memory.begin(block_turn_size=1, provider="scripted", model="scripted")
    system.script.fail_for_good(TaskKind.SUMMARIZE)
    memory.turn("dies", "The archive is in Bergen.")
    system.wait_until(lambda: memory.jobs(state="dead"), "the job is dead")
    told = system.command("dead-letters", "--json", key=key)
    assert told.returncode == 1
    (dead,) = json.loads(told.stdout)["items"]
    shown = system.command("jobs", "show", dead["job_id"], key=key).stdout
    assert dead["errors"][-1]["code"] in shown

    system.script.follow_rules()
    retried = system.command("jobs", "retry", dead["job_id"], key=key)
    assert (retried.returncode, retried.stdout.strip()) == (0, f"{dead['job_id']}: available")
    memory.settled_jobs()
    assert system.command("dead-letters", key=key).returncode == 0
    cancelled = system.command("jobs", "cancel", dead["job_id"], key=key)
    assert cancelled.returncode == 1
    assert "already ended" in cancelled.stderr


@contextmanager
def _counting_worker(system: RunningSystem) -> Iterator[str]:
    port = free_port()
    system.kill("worker")
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        stratagate("worker", "--concurrency", "2", "--metrics-port", str(port)),
        cwd=ROOT,
        env=system.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield f"http://{LOOPBACK}:{port}/metrics"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # how a worker ends is not what is asked here
        process.wait(30)


def test_a_worker_tells_the_sums_of_all_its_children_at_one_address(memory: Memory) -> None:
    system = memory.system
    memory.begin(block_turn_size=1)
    with _counting_worker(system) as url:
        for number in range(4):
            memory.turn(f"turn {number}", f"Shelf {number} of the archive is in Bergen.")
        memory.settled_jobs()
        text = system.wait_until(lambda: _metrics(url), "the worker serves metrics")
    ended = {
        labels: float(value)
        for labels, value in re.findall(
            r"^stratagate_jobs_finished_total\{(.*?)\} (\S+)$", text, re.MULTILINE
        )
    }
    assert ended['kind="summarize",outcome="succeeded"'] == 4.0
    assert "pid=" not in text
    assert re.search(r"^stratagate_job_seconds_count\{.*summarize.*\} 4\.0$", text, re.MULTILINE)


def _metrics(url: str) -> str:
    try:
        return httpx.get(url).text
    except httpx.TransportError:
        return ""
