"""The workers' commands: `relay`, `upkeep`, `worker`, `flower`; each process ends on SIGTERM."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Annotated

import typer
from prometheus_client import start_http_server

from shared.logs import configure_logs
from shared.metrics import REGISTRY
from shared.settings import QUEUES, Settings, get_settings
from shared.store.database import Database, QueueDatabase
from workers.doctor_cli import doctor
from workers.embed_cli import embed
from workers.evaluation.cli import eval_app
from workers.give_way import give_way
from workers.relay import run_relay
from workers.upkeep import run_upkeep
from workers.worker_metrics import FOLDER_VARIABLE, new_folder

MetricsPort = Annotated[
    int, typer.Option(help="Serve /metrics on this port; 0 serves none.", min=0, max=65535)
]


def register(app: typer.Typer) -> None:
    """Add the workers' commands to the `stratagate` command."""
    app.command()(relay)
    app.command()(upkeep)
    app.command()(worker)
    app.command()(flower)
    app.add_typer(eval_app, name="eval")
    app.command()(doctor)
    app.command()(embed)


def relay(metrics_port: MetricsPort = 0) -> None:
    """Ring the doorbell of due jobs until stopped."""
    # Celery is loaded by the commands that publish, not by every other command beside them.
    from workers.app import publisher  # noqa: PLC0415 - loads the broker's client

    settings, stop = _begin(metrics_port)
    queue = QueueDatabase(settings)
    run_relay(queue, settings, publisher, stop=stop)
    queue.close()


def upkeep(metrics_port: MetricsPort = 0) -> None:
    """Rescue, prune and sample the ledger until stopped."""
    settings, stop = _begin(metrics_port)
    queue, database = QueueDatabase(settings), Database(settings)
    run_upkeep(queue, database, settings, stop=stop)
    database.close()
    queue.close()


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


def _begin(metrics_port: int) -> tuple[Settings, threading.Event]:
    settings = get_settings()
    configure_logs(settings.log_format, settings.log_level)
    stop = threading.Event()

    def _on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _on_signal)
    if metrics_port:
        start_http_server(metrics_port, addr=settings.metrics_address, registry=REGISTRY)
    return settings, stop
