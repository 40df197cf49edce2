"""One task a queue, so that Flower's rows read like the walk; each runs a job by its ids.

What the job does is told by its row, not by the queue: backfill and upkeep serve several kinds.
"""

from __future__ import annotations

from workers.app import deps, task_of
from workers.runner import run_job


@task_of("summarize")
def summarize(tenant_id: str, job_id: str) -> str:
    """Run a job that summarises a block."""
    return run_job(tenant_id, job_id, deps())


@task_of("extract")
def extract(tenant_id: str, job_id: str) -> str:
    """Run a job that extracts events from a block."""
    return run_job(tenant_id, job_id, deps())


@task_of("project")
def project(tenant_id: str, job_id: str) -> str:
    """Run a job that projects events into the graph."""
    return run_job(tenant_id, job_id, deps())


@task_of("embed")
def embed(tenant_id: str, job_id: str) -> str:
    """Run a job that embeds what has no vector yet."""
    return run_job(tenant_id, job_id, deps())


@task_of("import")
def import_memory(tenant_id: str, job_id: str) -> str:
    """Run a job that reads or decides one candidate of an import."""
    return run_job(tenant_id, job_id, deps())


@task_of("backfill")
def backfill(tenant_id: str, job_id: str) -> str:
    """Run a job of a batch re-derivation, of whatever kind."""
    return run_job(tenant_id, job_id, deps())


@task_of("upkeep")
def upkeep(tenant_id: str, job_id: str) -> str:
    """Run a job of erasure, export or the like."""
    return run_job(tenant_id, job_id, deps())
