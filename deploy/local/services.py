"""Which processes make up the stack, with their commands, settings and ways to end."""

from __future__ import annotations

import base64
import http.client
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local.ports import LOOPBACK
from deploy.local.processes import ProcessSpec

QUEUES = "summarize,extract,project,embed,import,backfill,upkeep"
_ROOT = Path(__file__).resolve().parents[2]
_BIN = Path(sys.executable).parent
_NOT_FOR_THE_CONSOLE = ("STRATAGATE_DATABASE_URL", "STRATAGATE_BROKER_URL")
_READY = "/health/ready"
_LIVE = "/health/live"
_LIVE_TIMEOUT_S = 4.0
# A worker finishes what it has in hand, then gives the rest back to the queue.
_WORKER_STOP = ((signal.SIGTERM, 15.0), (signal.SIGQUIT, 10.0))
# Celery warns of root because it could unpickle messages there; ours are JSON alone.
_NO_ROOT_WARNING = "ignore:You're running the worker with superuser privileges"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The loopback ports of one stack; equal for both services unless they run apart.

    Without Flower, the console or metrics their port is 0.
    """

    ingest: int
    retrieval: int
    flower: int
    console: int = 0
    worker_metrics: int = 0
    relay_metrics: int = 0
    upkeep_metrics: int = 0

    @property
    def is_apart(self) -> bool:
        """Tell whether the two services have a process each."""
        return self.ingest != self.retrieval


def stratagate(*words: str) -> tuple[str, ...]:
    """Return the command line of `stratagate …` on this interpreter."""
    return (sys.executable, "-m", "shared.cli", *words)


def service_specs(
    addresses: Addresses, environment: Mapping[str, str], *, flower_auth: str, concurrency: int
) -> list[ProcessSpec]:
    """Return the processes in the order of their start; they are stopped the other way round."""
    specs = [] if not addresses.flower else [_flower(addresses, environment, flower_auth)]
    specs.append(_worker(environment, concurrency, addresses.worker_metrics))
    specs += [
        ProcessSpec(name, stratagate(name, *_metrics(port)), environment, working_folder=_ROOT)
        for name, port in (
            ("upkeep", addresses.upkeep_metrics),
            ("relay", addresses.relay_metrics),
        )
    ]
    if addresses.is_apart:
        specs.append(_http("retrieval", "retrieval", addresses.retrieval, environment))
        specs.append(_http("ingest", "ingest", addresses.ingest, environment))
    else:
        specs.append(_http("api", "app", addresses.ingest, environment))
    if addresses.console:
        specs.append(console_spec(addresses, environment))
    return specs


def console_spec(addresses: Addresses, environment: Mapping[str, str]) -> ProcessSpec:
    """Return the process of the memory console; it is ready when the API answers it."""
    url = f"http://{LOOPBACK}:{addresses.console}"
    # It asks the API alone, so it is told no password of the servers behind it.
    kept = {name: it for name, it in environment.items() if name not in _NOT_FOR_THE_CONSOLE}
    of_console = {
        "STRATAGATE_CONSOLE_HOST": LOOPBACK,
        "STRATAGATE_CONSOLE_PORT": str(addresses.console),
        "STRATAGATE_CONSOLE_API_URL": f"http://{LOOPBACK}:{addresses.ingest}",
        "STRATAGATE_CONSOLE_RETRIEVAL_URL": f"http://{LOOPBACK}:{addresses.retrieval}",
    }
    return ProcessSpec(
        "console",
        stratagate("console"),
        {**kept, **of_console},
        is_ready=lambda: answers_ok(url + _READY),
        answers=lambda: answers_ok(url + _LIVE, timeout_s=_LIVE_TIMEOUT_S),
        working_folder=_ROOT,
    )


def answers_ok(url: str, *, auth: str = "", timeout_s: float = 2.0) -> bool:
    """Tell whether a GET of the URL, as `user:password` if given, answers 200."""
    parts = urlsplit(url)
    link = http.client.HTTPConnection(parts.hostname or LOOPBACK, parts.port, timeout=timeout_s)
    try:
        basic = base64.b64encode(auth.encode()).decode()
        link.request("GET", parts.path, headers={"Authorization": f"Basic {basic}"} if auth else {})
        return link.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


def _http(name: str, factory: str, port: int, environment: Mapping[str, str]) -> ProcessSpec:
    command = [sys.executable, "-m", "uvicorn", "--factory", f"deploy.local.asgi:{factory}"]
    command += ["--host", LOOPBACK, "--port", str(port), "--no-server-header"]
    command += ["--timeout-graceful-shutdown", "10", "--no-access-log"]
    url = f"http://{LOOPBACK}:{port}"
    return ProcessSpec(
        name,
        tuple(command),
        environment,
        is_ready=lambda: answers_ok(url + _READY),
        # Not readiness: an API whose database is away lives, and a restart would not help it.
        answers=lambda: answers_ok(url + _LIVE, timeout_s=_LIVE_TIMEOUT_S),
        working_folder=_ROOT,
    )


def _metrics(port: int) -> tuple[str, ...]:
    return ("--metrics-port", str(port)) if port else ()


def _worker(environment: Mapping[str, str], concurrency: int, metrics_port: int) -> ProcessSpec:
    if metrics_port:
        # It makes the folder that its children count in, anew at each start.
        words = ("worker", "--queues", QUEUES, "--concurrency", str(concurrency))
        command = [*stratagate(*words, *_metrics(metrics_port))]
    else:
        command = [str(_BIN / "celery"), "-A", "workers.app", "worker", "-Q", QUEUES, "-E"]
        command += ["--concurrency", str(concurrency), "--pool", "prefork", "--loglevel", "INFO"]
        command += ["--without-mingle", "--without-gossip"]  # there is no other worker to meet
    return ProcessSpec(
        "worker",
        tuple(command),
        {**environment, "PYTHONWARNINGS": _NO_ROOT_WARNING},
        ready_marker=" ready.",
        stop_steps=_WORKER_STOP,
        working_folder=_ROOT,
    )


def _flower(addresses: Addresses, environment: Mapping[str, str], auth: str) -> ProcessSpec:
    command = [str(_BIN / "celery"), "-A", "workers.app", "flower"]
    command += [f"--address={LOOPBACK}", f"--port={addresses.flower}"]
    command.append("--logging=error")  # it starts before the worker and warns of its absence
    url = f"http://{LOOPBACK}:{addresses.flower}/workers"
    return ProcessSpec(
        "flower",
        tuple(command),
        # Not an argument: process lists show those to every account of the machine.
        {**environment, "FLOWER_BASIC_AUTH": auth},
        is_ready=lambda: answers_ok(url, auth=auth),  # another's Flower would refuse
        working_folder=_ROOT,
    )
