"""What surrounds one attempt: its ids on every log line, and its span below what enqueued it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from opentelemetry.trace import SpanKind

from shared.domain.jobs import Job
from shared.tracing import spanning

TRACEPARENT = "traceparent"
"""Where a job's payload keeps the trace that caused it."""


@contextmanager
def attempt_scope(job: Job) -> Iterator[None]:
    """Work on one attempt; its follow-up jobs and model calls belong to the same trace."""
    parent = job.payload.get(TRACEPARENT)
    ids = {"tenant_id": job.tenant_id, "namespace": job.namespace, "job_id": job.job_id}
    attributes: dict[str, str | int] = {f"stratagate.{name}": one for name, one in ids.items()}
    attributes |= {"stratagate.attempt": job.attempt, "stratagate.queue": job.queue}
    with (
        structlog.contextvars.bound_contextvars(**ids, kind=job.kind.value, attempt=job.attempt),
        spanning(
            f"job {job.kind.value}",
            SpanKind.CONSUMER,
            parent=parent if isinstance(parent, str) else None,
            attributes=attributes,
        ),
    ):
        yield
