"""The Celery application: queues, limits and signals. Celery is the doorbell, never the ledger.

A message holds a tenant's and a job's id; retries, schedules and results live in Postgres.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog
from celery import Celery, signals
from celery.exceptions import SoftTimeLimitExceeded
from kombu.entity import Exchange, Queue
from kombu.exceptions import OperationalError

from shared.domain.jobs import BACKFILL
from shared.logs import configure_logs, get_logger
from shared.metrics import RINGS
from shared.settings import QUEUES, Settings, get_settings
from shared.tracing import start_tracing, stop_tracing
from workers.process import close_process, deps_of_process, spare_collector
from workers.runner import Deps, JobDied, JobRetried
from workers.worker_metrics import forget_folder, serve_metrics

EXCHANGE: Final = Exchange("stratagate", type="direct")  # type: ignore[no-untyped-call] # kombu has no types
LAST: Final = 9
"""The lowest priority of the Redis transport, where 0 is the highest."""

_log = get_logger("workers.app")


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the Celery settings that the design asks for."""
    return {
        "broker_url": settings.broker_url.get_secret_value(),
        "broker_connection_retry_on_startup": True,
        "broker_transport_options": {
            "visibility_timeout": settings.visibility_timeout_s,
            # A killed worker's messages come back after seconds, not after minutes.
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
            "socket_connect_timeout": 2,
            "socket_timeout": 5,
            "socket_keepalive": True,
        },
        "result_backend": None,
        # Each with its own key: one shared key would copy every message to all queues.
        "task_queues": [_queue(name) for name in QUEUES],
        "task_routes": {task_name(name): {"queue": name, "routing_key": name} for name in QUEUES},
        "task_default_queue": "upkeep",
        "task_default_exchange": EXCHANGE.name,
        "task_default_exchange_type": EXCHANGE.type,
        "task_default_routing_key": "upkeep",
        "task_create_missing_queues": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_acks_on_failure_or_timeout": True,
        "task_reject_on_worker_lost": True,
        "task_soft_time_limit": settings.soft_limit_s,
        "task_time_limit": settings.hard_limit_s,
        "task_publish_retry_policy": {"max_retries": 0},
        "worker_send_task_events": True,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_soft_shutdown_timeout": 10.0,
    }


def _queue(name: str) -> Queue:
    return Queue(name, EXCHANGE, routing_key=name)  # type: ignore[no-untyped-call] # kombu has no types


def task_name(queue: str) -> str:
    """Return the name of the task that serves a queue."""
    return f"stratagate.{queue}"


def task_of(queue: str) -> Callable[[Callable[[str, str], str]], Any]:
    """Return the decorator that makes a function the task of a queue.

    A retried or dead job's attempt is recorded in the ledger, so Celery marks the task failed
    without a trace.
    """
    make: Any = app.task(name=task_name(queue), throws=(JobRetried, JobDied))
    return lambda function: make(function)


app = Celery("stratagate", include=["workers.tasks"])
app.conf.update(configuration(get_settings()))


def publisher(queue: str, tenant_id: str, job_id: str) -> bool:
    """Ring the doorbell of one job; False at once when the broker is away."""
    try:
        app.send_task(
            task_name(queue),
            args=(tenant_id, job_id),
            priority=LAST if queue == BACKFILL else 0,
            # `retry=False` would block for many seconds on a dead broker; no retries do not.
            retry=True,
            retry_policy={"max_retries": 0},
        )
    except (OperationalError, OSError) as error:
        RINGS.labels(queue, "failed").inc()
        _log.warning("ring_failed", queue=queue, error=type(error).__name__)
        return False
    RINGS.labels(queue, "rung").inc()
    return True


def consumers(timeout_s: float = 1.5) -> dict[str, list[str]] | None:
    """Return the names of the workers that consume each queue; None when the broker is away.

    Workers are asked by a broadcast and have `timeout_s` to answer, also while their jobs run.
    """
    try:
        with app.connection_for_read() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
            answers = app.control.inspect(timeout=timeout_s, connection=connection).active_queues()
    except (OperationalError, OSError):
        return None
    found: dict[str, list[str]] = {}
    for worker, queues in (answers or {}).items():
        for queue in queues:
            found.setdefault(queue["name"], []).append(worker)
    return found


def deps() -> Deps:
    """Return what this worker process holds."""
    return deps_of_process(get_settings(), ring=publisher, time_limits=(SoftTimeLimitExceeded,))


def _on_setup_logging(**_: Any) -> None:
    settings = get_settings()
    configure_logs(settings.log_format, settings.log_level)


def _on_process_init(**_: Any) -> None:
    start_tracing("worker")
    deps()
    spare_collector()


def _on_process_shutdown(**_: Any) -> None:
    stop_tracing()
    close_process()


def _on_worker_ready(**_: Any) -> None:
    # Only now, so that the children do not inherit the port.
    settings = get_settings()
    if settings.worker_metrics_port:
        serve_metrics(settings.worker_metrics_port, settings.metrics_address)


def _on_worker_shutdown(**_: Any) -> None:
    forget_folder()


def _on_task_prerun(task_id: str, task: Any, args: tuple[str, ...], **_: Any) -> None:
    tenant_id, job_id = args
    structlog.contextvars.bind_contextvars(
        task_id=task_id, task=task.name, tenant_id=tenant_id, job_id=job_id
    )


def _on_task_postrun(**_: Any) -> None:
    structlog.contextvars.clear_contextvars()


_HANDLERS: Final[Mapping[Any, Callable[..., None]]] = {
    signals.setup_logging: _on_setup_logging,
    signals.worker_process_init: _on_process_init,
    signals.worker_process_shutdown: _on_process_shutdown,
    signals.worker_ready: _on_worker_ready,
    signals.worker_shutdown: _on_worker_shutdown,
    signals.task_prerun: _on_task_prerun,
    signals.task_postrun: _on_task_postrun,
}
for _signal, _handler in _HANDLERS.items():
    _signal.connect(_handler)
