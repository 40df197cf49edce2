"""Jobs for operators: look at the ledger, start a dead job again, end a live one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from ingest.schemas.administration import JobView
from shared.auth import reach
from shared.domain.jobs import JobKind, JobState
from shared.domain.redaction import redact_value
from shared.domain.tenancy import Caller
from shared.errors import NotFound
from shared.http.paging import Page
from shared.store.audit import AuditEntry, record
from shared.store.database import ReadTx, WriteTx
from shared.store.jobs import cancel_by_hand, get_job, list_jobs, retry_by_hand

_NO_JOB = "no such job"


def find_jobs(
    tx: ReadTx,
    caller: Caller,
    page: Page,
    *,
    namespace: str | None,
    states: Collection[JobState],
    kind: JobKind | None,
) -> list[Mapping[Any, Any]]:
    """Return a page's jobs and one more if there is one, newest first, within the key's reach.

    NotFound for a namespace beyond it.
    """
    if namespace is not None:
        reach(caller, namespace)
    found: list[Mapping[Any, Any]] = []
    before = page.after
    while len(found) < page.probe:
        rows = list_jobs(
            tx,
            namespace=namespace,
            states=states,
            kind=kind,
            before=before,
            limit=page.probe,
        )
        found.extend(row for row in rows if caller.reaches(row["namespace"]))
        if len(rows) < page.probe:
            break
        before = rows[-1]["job_id"]
    return found[: page.probe]


def one_job(tx: ReadTx, caller: Caller, job_id: str) -> Mapping[Any, Any]:
    """Return a job; NotFound when there is none of that id within the key's reach."""
    row = get_job(tx, job_id)
    if not caller.reaches(row["namespace"]):
        raise NotFound(_NO_JOB)
    return row


def retry_job(tx: WriteTx, caller: Caller, job_id: str) -> Mapping[Any, Any]:
    """Start a dead, cancelled or degraded job again; Conflict (`job_not_retryable`) otherwise."""
    row = one_job(tx, caller, job_id)
    changed = retry_by_hand(tx, job_id)
    _audit(tx, caller, "job_retried", row)
    return changed


def cancel_job(tx: WriteTx, caller: Caller, job_id: str) -> Mapping[Any, Any]:
    """End a live job; Conflict when it has ended."""
    row = one_job(tx, caller, job_id)
    changed = cancel_by_hand(tx, job_id, reason="cancelled by hand")
    _audit(tx, caller, "job_cancelled", row)
    return changed


def job_view(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a job as the API shows it; a failed reply's text may hold anything, so redacted."""
    return {name: _shown(row[name]) for name in JobView.model_fields}


def _shown(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return redact_value(value) if isinstance(value, dict | list) else value


def _audit(tx: WriteTx, caller: Caller, action: str, row: Mapping[Any, Any]) -> None:
    record(
        tx,
        AuditEntry(
            action,
            key_id=caller.key_id,
            namespace=row["namespace"],
            subject=row["job_id"],
            detail={"kind": row["kind"], "from_state": row["state"]},
        ),
    )
