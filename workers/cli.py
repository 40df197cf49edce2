"""`stratagate relay` and `stratagate upkeep`: beside the workers; each ends on SIGTERM."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from prometheus_client import start_http_server

from shared.logs import configure_logs
from shared.metrics import REGISTRY
from shared.settings import Settings, get_settings
from shared.store.database import Database, QueueDatabase
from workers.celery_cli import MetricsPort
from workers.relay import run_relay
from workers.upkeep import run_upkeep


def relay(metrics_port: MetricsPort = 0) -> None:
    """Ring the doorbell of due jobs until stopped."""
    from workers.app import publisher  # noqa: PLC0415 - Celery; upkeep does without

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
