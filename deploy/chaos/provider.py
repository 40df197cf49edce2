"""A provider of models that fails over HTTP as real ones do: the fault server, run beside a stack.

The worker whose clock jumps asks it; the other one follows the script.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx

from deploy.bootstrap import ROOT

_WELL = "good"
_LONG_PLAYS = frozenset({"quota"})
"""A quota that comes back in hours, for which no run waits; `quota_soon` is its short form."""
_TIMEOUT_S = 10.0
_DEADLINE_S = "3"
_END_S = 10.0


class ProviderFailed(RuntimeError):
    """The fault server did not start."""


class Provider:
    """Controls a fault server that runs."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._control = f"{url.removesuffix('/v1')}/control"

    def plays(self) -> list[str]:
        """Return the faults it can play, by name."""
        told = httpx.get(self._control, timeout=_TIMEOUT_S).raise_for_status().json()
        return [name for name in told["plays"] if name != _WELL and name not in _LONG_PLAYS]

    def asked(self) -> int:
        """Return how many calls it has been asked for."""
        told = httpx.get(self._control, timeout=_TIMEOUT_S).raise_for_status().json()
        return int(told["requests"])

    def play(self, name: str) -> int:
        """Let it answer every call in one way; return how many calls came before."""
        self._set(name)
        return self.asked()

    def be_well(self) -> None:
        """Let it answer as a sound model would."""
        self._set(_WELL)

    def settings(self) -> Mapping[str, str]:
        """Return the settings of a worker that asks it."""
        return {
            "STRATAGATE_MODEL_PROVIDER": "openai",
            "STRATAGATE_MODEL_NAME": "fault-model",
            "STRATAGATE_MODEL_BASE_URL": self._url,
            "STRATAGATE_MODEL_API_KEY": "sk-chaos-0123456789abcdef",
            "STRATAGATE_MODEL_DEADLINE_S": _DEADLINE_S,
            "STRATAGATE_MODEL_BREAKER_PAUSE_S": "1",
        }

    def _set(self, name: str) -> None:
        asked = {"model": "*", "play": [name]}
        httpx.post(self._control, json=asked, timeout=_TIMEOUT_S).raise_for_status()


@contextmanager
def provider() -> Iterator[Provider]:
    """Run a fault server that is well at first. Raises ProviderFailed when it does not start."""
    command = [sys.executable, "-m", "tests.support.fault_server", "--play", _WELL]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip() if process.stdout is not None else ""
            if not url:
                raise ProviderFailed("the fault server did not say where it listens")
            yield Provider(url)
        finally:
            process.terminate()
            process.wait(_END_S)
