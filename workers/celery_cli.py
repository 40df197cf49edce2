"""`stratagate worker` and `stratagate flower`: Celery takes the place of this process."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from shared.settings import QUEUES
from workers.give_way import give_way
from workers.worker_metrics import FOLDER_VARIABLE, new_folder

MetricsPort = Annotated[
    int, typer.Option(help="Serve /metrics on this port; 0 serves none.", min=0, max=65535)
]


def worker(
    queues: Annotated[str, typer.Option(help="Queues to serve, separated by commas.")] = ",".join(
        QUEUES
    ),
    concurrency: Annotated[int, typer.Option(help="Processes, each with one job.", min=1)] = 2,
    metrics_port: MetricsPort = 0,
) -> None:
    """Run a Celery worker in place of this process, with prefork children."""
    unknown = sorted(set(queues.split(",")) - set(QUEUES))
    if unknown:
        raise typer.BadParameter(f"unknown: {', '.join(unknown)}; choose from {', '.join(QUEUES)}")
    give_way(queues.split(","))
    command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-Q", queues]
    command += ["--pool", "prefork", "--concurrency", str(concurrency), "--events"]
    environment = dict(os.environ)  # noqa: TID251 - handed on to the process that replaces this
    if metrics_port:
        environment["STRATAGATE_WORKER_METRICS_PORT"] = str(metrics_port)
        environment[FOLDER_VARIABLE] = str(new_folder())
    os.execve(sys.executable, command, environment)  # noqa: S606 - fixed words, no shell


def flower(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 5555,
) -> None:
    """Show queues, workers and jobs as pages; FLOWER_BASIC_AUTH holds user:password.

    Its pages can end workers and purge queues, so it does not start without a password.
    """
    environment = dict(os.environ)  # noqa: TID251 - handed on to the process that replaces this
    user, _, password = environment.get("FLOWER_BASIC_AUTH", "").partition(":")
    if not user or not password:
        raise typer.BadParameter("set FLOWER_BASIC_AUTH to user:password", param_hint="environment")
    command = [sys.executable, "-m", "celery", "-A", "workers.app", "flower"]
    command += [f"--address={host}", f"--port={port}", "--logging=warning"]
    os.execve(sys.executable, command, environment)  # noqa: S606 - fixed words, no shell
