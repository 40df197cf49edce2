from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.fault_plays import PLAYS
from tests.support.fault_server import FaultServer

ROOT = Path(__file__).resolve().parents[4]


def _ask(url: str, model: str = "good") -> httpx.Response:
    request: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
    return httpx.post(f"{url}/chat/completions", json=request, timeout=10)


def test_the_models_name_says_what_is_played_in_which_order() -> None:
    with FaultServer() as server:
        statuses = [_ask(server.url, "http_503,html_502,good").status_code for _ in range(4)]
        assert statuses == [503, 502, 200, 200]
        assert _ask(server.url, "nobody").status_code == 404


def test_a_process_is_told_over_http_what_to_play() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.fault_server", "--play", "http_500"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        control = f"{url.removesuffix('/v1')}/control"
        assert _ask(url).status_code == 500
        assert httpx.post(control, json={"play": ["limited_bare", "good"]}).is_success
        assert [_ask(url).status_code for _ in range(2)] == [429, 200]
        assert httpx.get(control).json() == {"plays": sorted(PLAYS), "requests": 3}
        assert httpx.delete(control).is_success
        assert _ask(url, "unauthorized").status_code == 401
        assert httpx.post(control, json={"play": ["no such play"]}).status_code == 400
    finally:
        process.kill()
        process.communicate()


def test_a_play_that_does_not_exist_is_refused() -> None:
    with FaultServer() as server, pytest.raises(ValueError, match="no play is called"):
        server.play("nonsense")
