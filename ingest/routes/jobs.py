"""The ledger over HTTP: `?state=dead` are the dead letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse

from ingest.jobs import cancel_job, find_jobs, job_view, one_job, retry_job
from ingest.schemas.administration import JobChanged, JobPage, JobView
from shared.domain.jobs import JobKind, JobState
from shared.domain.tenancy import Caller, Permission, check_name
from shared.http.dependencies import DatabaseOf, IdempotencyKey, caller
from shared.http.paging import PageOf
from shared.http.refusals import refuses
from shared.ids import Prefix, check_id
from shared.store.database import Database, WriteTx
from shared.store.receipts import NO_NAMESPACE, Receipt, once, request_hash

router = APIRouter(prefix="/v1", tags=["jobs"])
Reader = Annotated[Caller, Depends(caller(Permission.READ, Permission.INGEST))]
Admin = Annotated[Caller, Depends(caller(Permission.ADMIN))]
Change = Callable[[WriteTx, Caller, str], Mapping[Any, Any]]


@router.get("/jobs", response_model=JobPage, summary="List jobs, newest first")
def get_jobs(
    caller: Reader,
    database: DatabaseOf,
    page: PageOf,
    namespace: Annotated[str | None, Query()] = None,
    state: Annotated[
        list[JobState] | None, Query(max_length=10, description="Any of these; repeat it.")
    ] = None,
    kind: Annotated[JobKind | None, Query()] = None,
) -> JSONResponse:
    """Those of the namespaces that the key reaches."""
    if namespace is not None:
        check_name(namespace, "/query/namespace")
    with database.read(caller.tenant_id) as tx:
        found = find_jobs(tx, caller, page, namespace=namespace, states=state or (), kind=kind)
    return JSONResponse(page.answer(found, key=lambda row: str(row["job_id"]), view=job_view))


@router.get("/jobs/{job}", response_model=JobView, summary="One job")
def get_one_job(job: str, caller: Reader, database: DatabaseOf) -> JSONResponse:
    """With the errors of its attempts and what was refused item by item."""
    job_id = check_id(job, Prefix.JOB, "/path/job")
    with database.read(caller.tenant_id) as tx:
        return JSONResponse(job_view(one_job(tx, caller, job_id)))


@router.post(
    "/jobs/{job}/retry",
    response_model=JobChanged,
    openapi_extra=refuses("job_not_retryable"),
    summary="Start a dead job again",
)
def post_job_retry(
    job: str, caller: Admin, database: DatabaseOf, key: IdempotencyKey
) -> JSONResponse:
    """A dead, cancelled or degraded job gets fresh attempts."""
    return _change("job.retry", job, retry_job, caller=caller, database=database, key=key)


@router.post(
    "/jobs/{job}/cancel",
    response_model=JobChanged,
    openapi_extra=refuses("job_final"),
    summary="End a live job",
)
def post_job_cancel(
    job: str, caller: Admin, database: DatabaseOf, key: IdempotencyKey
) -> JSONResponse:
    """A step that is running then changes nothing when it ends."""
    return _change("job.cancel", job, cancel_job, caller=caller, database=database, key=key)


def _change(
    operation: str,
    job: str,
    change: Change,
    *,
    caller: Caller,
    database: Database,
    key: str | None,
) -> JSONResponse:
    job_id = check_id(job, Prefix.JOB, "/path/job")
    receipt = Receipt(NO_NAMESPACE, operation, key, request_hash([job_id])) if key else None
    with database.write(caller.tenant_id) as tx:
        # Before the receipt: a key that does not reach the job must not learn its answer.
        one_job(tx, caller, job_id)
        content = once(tx, receipt, lambda: job_view(change(tx, caller, job_id)))
    return JSONResponse(content)
