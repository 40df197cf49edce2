"""The metrics of this process in one small registry; labels are bounded, never ids or tenants."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    values,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

REGISTRY = CollectorRegistry()
CONTENT_TYPE = CONTENT_TYPE_LATEST

_FAST_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW_S = (0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

HTTP_REQUESTS = Counter(
    "stratagate_http_requests",
    "Requests answered.",
    ("method", "route", "status"),
    registry=REGISTRY,
)
HTTP_SECONDS = Histogram(
    "stratagate_http_request_seconds",
    "Time from a request's first byte to its answer's last.",
    ("method", "route"),
    buckets=_FAST_S,
    registry=REGISTRY,
)
TURNS_STORED = Counter(
    "stratagate_turns_stored", "Turns committed, repetitions left out.", registry=REGISTRY
)
BLOCKS_SEALED = Counter("stratagate_blocks_sealed", "Blocks sealed.", registry=REGISTRY)
JOBS_FINISHED = Counter(
    "stratagate_jobs_finished",
    "Attempts of jobs by how they ended.",
    ("kind", "outcome"),
    registry=REGISTRY,
)
JOB_SECONDS = Histogram(
    "stratagate_job_seconds",
    "Time of one attempt of a job.",
    ("kind",),
    buckets=_SLOW_S,
    registry=REGISTRY,
)
JOBS_LIVE = Gauge(
    "stratagate_jobs_live",
    "Live jobs by queue and state.",
    ("queue", "state"),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
JOBS = Gauge(
    "stratagate_jobs",
    "Jobs by kind and state, ended ones until they are pruned.",
    ("kind", "state"),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
JOBS_WAITING = Gauge(
    "stratagate_jobs_waiting",
    "Jobs that are put to sleep, by the reason.",
    ("reason",),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
OLDEST_DUE_SECONDS = Gauge(
    "stratagate_oldest_due_job_seconds",
    "Wait of the oldest due job.",
    ("queue",),
    registry=REGISTRY,
    multiprocess_mode="mostrecent",
)
JOBS_RESCUED = Counter(
    "stratagate_jobs_rescued", "Jobs freed from an expired lease.", ("state",), registry=REGISTRY
)
RINGS = Counter("stratagate_rings", "Doorbells rung.", ("queue", "outcome"), registry=REGISTRY)
MODEL_CALLS = Counter(
    "stratagate_model_calls", "Calls of a model.", ("kind", "outcome"), registry=REGISTRY
)
MODEL_TOKENS = Counter(
    "stratagate_model_tokens", "Tokens of model calls.", ("kind", "direction"), registry=REGISTRY
)
MODEL_SECONDS = Histogram(
    "stratagate_model_call_seconds",
    "Time of one model call.",
    ("kind",),
    buckets=_SLOW_S,
    registry=REGISTRY,
)
BUDGET_STOPS = Counter(
    "stratagate_budget_stops",
    "Budgets that were used up, once a day and budget.",
    ("scope",),
    registry=REGISTRY,
)
LIMITED = Counter(
    "stratagate_limited",
    "Requests refused for a rate or a quota of their tenant.",
    ("code",),
    registry=REGISTRY,
)
# Counters that alerts look at begin at zero: an increase from nothing would not be seen.
for _scope in ("namespace", "tenant"):
    BUDGET_STOPS.labels(_scope)
for _state in ("retryable", "dead"):
    JOBS_RESCUED.labels(_state)


def is_shared_by_processes() -> bool:
    """Tell whether metrics go into a folder that several processes share.

    The library decides so when it is loaded, by PROMETHEUS_MULTIPROC_DIR.
    """
    return bool(values.ValueClass._multiprocess)


def render_metrics() -> bytes:
    """Return all metrics in the exposition format that CONTENT_TYPE names.

    Those of all processes that share a folder, where an API is served by several.
    """
    if not is_shared_by_processes():
        return generate_latest(REGISTRY)
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call] # the library has no types here
    return generate_latest(together)
