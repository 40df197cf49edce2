"""The stack as a person runs it: the verbs, signals, and what is left afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from deploy.bootstrap import ROOT
from deploy.down import stop_instance
from deploy.local.instance import InstanceFolder
from tests.support.servers import short_folder

READY_S = 150


@pytest.fixture
def data():
    with short_folder() as lent:
        folder = InstanceFolder(lent / "data")
        yield folder
        stop_instance(folder)


def verb(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "deploy", *words],
        cwd=ROOT,
        env=_clean_environment(),
        capture_output=True,
        text=True,
        timeout=READY_S,
        check=False,
    )


def _clean_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("STRATAGATE_")}


def all_pids(folder: InstanceFolder) -> set[int]:
    """The supervisor and everything that works on this folder, found by asking the system."""
    state = folder.read()
    assert state is not None
    found = {state.supervisor_pid} | {mark.pid for mark in state.processes.values()}
    for pid in list(found):
        found |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
    postmaster = folder.postgres / "cluster" / "postmaster.pid"
    found.add(int(postmaster.read_text().split("\n")[0]))
    found.add(int((folder.valkey / "valkey.pid").read_text()))
    return found


def alive(pids: set[int]) -> set[int]:
    living = set()
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                living.add(pid)
        except psutil.NoSuchProcess:
            continue
    return living


def post_turn(url: str, key: str, receipt: str) -> httpx.Response:
    return httpx.post(
        f"{url}/v1/namespaces/project:stack/turns",
        headers={"Authorization": f"Bearer {key}"},
        json={
            "receipt_id": receipt,
            "thread_id": "one",
            "occurred_at": "2026-03-02T10:00:00+08:00",
            "messages": [{"role": "user", "content": "Kestrel is the name of my boat."}],
        },
        timeout=30,
    )


@pytest.mark.timeout(400)
def test_a_stack_serves_survives_kills_keeps_its_data_and_leaves_nothing_running(data):
    """One life of a folder, since each start costs a quarter of a minute."""
    key, url = _first_start_ends_by_a_kill(data)
    _second_start_ends_by_down(data, key, url)


def _first_start_ends_by_a_kill(data: InstanceFolder) -> tuple[str, str]:
    """Start in the background, kill the supervisor, and see `down` clear up after it."""
    up = verb("up", "--data", str(data.root), "--port", "0", "--detach")
    assert up.returncode == 0, up.stderr
    assert str(data.key_file) in up.stdout
    state = data.read()
    assert state is not None
    key = data.key_file.read_text().strip()
    assert key not in up.stdout
    _both_services_and_flower_answer(data, key)
    assert post_turn(state.api_url, key, "r1").status_code == httpx.codes.CREATED
    pids = all_pids(data)
    assert len(alive(pids)) >= 8
    os.kill(state.supervisor_pid, signal.SIGKILL)
    _until(lambda: state.supervisor_pid not in alive(pids))
    done = verb("down", "--data", str(data.root))
    assert done.returncode == 0, done.stderr
    assert "postgres" in done.stdout
    assert alive(pids) == set()
    assert "Nothing is running" in verb("down", "--data", str(data.root)).stdout
    return key, state.api_url


def _second_start_ends_by_down(data: InstanceFolder, key: str, url: str) -> None:
    """Start in the foreground with a service each; a crashed part comes back, `down` ends all."""
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "deploy", "up", "--data", str(data.root), "--port", "0", "--apart"],
        cwd=ROOT,
        env=_clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    state = _wait_ready(data, process)
    assert state.retrieval_url != state.api_url
    assert json.loads(data.ports_file.read_text())["ingest"] == int(url.rsplit(":", 1)[1])
    assert post_turn(url, key, "r1").json()["duplicate"] is True
    _a_killed_part_comes_back(data)
    again = verb("up", "--data", str(data.root), "--port", "0")
    assert again.returncode == 1
    assert "is in use" in again.stderr
    pids = all_pids(data)
    # It asks the supervisor by SIGTERM, as an init system would.
    down = verb("down", "--data", str(data.root))
    assert down.returncode == 0, down.stderr
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 0, said
    assert "retrieval was ended by SIGKILL; it starts again" in said
    assert alive(pids) == set()


def _a_killed_part_comes_back(data: InstanceFolder) -> None:
    state = data.read()
    assert state is not None
    before = state.processes["retrieval"]
    os.kill(before.pid, signal.SIGKILL)
    _until(lambda: data.read().processes.get("retrieval") not in (None, before))
    _until(lambda: _is_ok(f"{state.retrieval_url}/health/ready"))


def _both_services_and_flower_answer(data: InstanceFolder, key: str) -> None:
    state = data.read()
    assert state is not None
    document = httpx.get(f"{state.api_url}/openapi.json", timeout=30).json()
    paths = set(document["paths"])
    assert "/v1/namespaces/{ns}/turns" in {p.replace("{namespace}", "{ns}") for p in paths}
    assert any(path.startswith("/v1/retrieval/") for path in paths)
    user, password = data.flower_file.read_text().strip().split(":")
    assert httpx.get(f"{state.flower_url}/workers", timeout=30).status_code == 401
    seen = httpx.get(f"{state.flower_url}/workers", auth=(user, password), timeout=30)
    assert seen.status_code == httpx.codes.OK
    console = httpx.get(f"{state.console_url}/health/ready", timeout=30)
    assert (console.status_code, console.json()) == (200, {"status": "ready", "api": True})


def _wait_ready(data: InstanceFolder, process: subprocess.Popen):
    def is_ready() -> bool:
        assert process.poll() is None, "it ended while starting"
        state = data.read()
        return state is not None and (state.supervisor_pid, state.status) == (process.pid, "ready")

    _until(is_ready)
    return data.read()


def _is_ok(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _until(condition, limit_s: float = READY_S) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.1)


def test_a_taken_port_is_named_before_anything_starts(data):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        done = verb("up", "--data", str(data.root), "--port", str(port))
    assert done.returncode == 1
    assert f"Port {port}, wanted for the API, is taken" in done.stderr
    assert not Path(data.postgres).exists()
