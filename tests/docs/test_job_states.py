"""The picture of the job states is what the ledger does: no arrow more, and none fewer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shared.domain.jobs import (
    LIVE_STATES,
    Cancel,
    Done,
    Failure,
    FailureClass,
    FollowUp,
    Job,
    JobKind,
    JobState,
    Snooze,
)
from shared.errors import Conflict
from shared.settings import Settings
from shared.store import erasure_jobs, job_claims, job_endings, job_leases, jobs
from shared.store.database import Database, QueueDatabase, WriteTx
from shared.store.job_queue import rescue_expired
from shared.store.namespaces import ensure_namespace
from tests.support.databases import new_tenant

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "jobs.md"
NS = "project:states"
FAILURE = Failure(FailureClass.TRANSIENT, "connection", "cut")
SPENT = 3
TAKEN = "t-1"
"""The lease of every job that runs here."""

Change = Callable[[WriteTx, Job], Any]


def ending(state: JobState) -> Change:
    return lambda tx, job: job_endings.finish(tx, job, Done(state))


CHANGES: Mapping[str, Change] = {
    "claim": lambda tx, job: job_claims.claim(tx, job.job_id, lease_token="t-2", lease_s=30),
    "succeed": ending(JobState.SUCCEEDED),
    "succeed empty": ending(JobState.SUCCEEDED_EMPTY),
    "degrade": ending(JobState.DEGRADED),
    "skip": ending(JobState.SKIPPED),
    "lose the source": lambda tx, job: job_leases.cancel(tx, job, Cancel("source_erased")),
    "snooze": lambda tx, job: job_leases.snooze(tx, job, Snooze(5, "too_early")),
    "fail": lambda tx, job: job_leases.fail(tx, job, FAILURE, retry_in_s=1),
    "fail for good": lambda tx, job: job_leases.fail(tx, job, FAILURE, retry_in_s=None),
    "retry by hand": lambda tx, job: jobs.retry_by_hand(tx, job.job_id),
    "cancel by hand": lambda tx, job: jobs.cancel_by_hand(tx, job.job_id, reason="by hand"),
    "switch off": lambda tx, job: jobs.skip_waiting(tx, NS, JobKind.SUMMARIZE, reason="off"),
    "erase its block": lambda tx, job: erasure_jobs.stop_jobs(tx, NS, [job.subject]),
    "erase another": lambda tx, job: erasure_jobs.stop_jobs(tx, NS, ["blk_other"]),
}


class OneJob:
    """A job that can be put into any state."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.database, self.queue = database, QueueDatabase(settings)
        self.tenant_id = new_tenant(settings, database).tenant_id
        self.owner = psycopg.connect(settings.database_url.get_secret_value(), autocommit=True)
        with database.write(self.tenant_id) as tx:
            ensure_namespace(tx, NS)
            self.job_id = jobs.enqueue(tx, NS, FollowUp(JobKind.SUMMARIZE, "blk_1"))

    def put(self, state: JobState, *, attempt: int = 1) -> Job:
        """Put the job into a state, as it looks there; a running one is past its lease."""
        self.owner.execute(
            "UPDATE jobs SET state = %(state)s, attempt = %(attempt)s, scheduled_at = now(),"
            " lease_token = CASE WHEN %(state)s = 'running' THEN %(token)s END,"
            " lease_until = CASE WHEN %(state)s = 'running' THEN now() - interval '1 s' END,"
            " finalized_at = CASE WHEN %(live)s THEN NULL ELSE now() END",
            {
                "state": state.value,
                "attempt": attempt,
                "token": TAKEN,
                "live": state in LIVE_STATES,
            },
        )
        return Job(
            tenant_id=self.tenant_id,
            job_id=self.job_id,
            namespace=NS,
            kind=JobKind.SUMMARIZE,
            subject="blk_1",
            queue="summarize",
            state=state,
            attempt=attempt,
            max_attempts=SPENT,
            lease_token=TAKEN,
        )

    def after(self, change: Change, job: Job) -> str:
        """Return the job's state after a change, or after its refusal."""
        with suppress(Conflict, job_leases.LeaseLost), self.database.write(self.tenant_id) as tx:
            change(tx, job)
        return self.state()

    def state(self) -> str:
        """Return where the job stands."""
        row = self.owner.execute("SELECT state FROM jobs").fetchone()
        assert row is not None
        return str(row[0])


@pytest.fixture
def job(own_settings: Settings, own_database: Database) -> Iterator[OneJob]:
    one = OneJob(own_settings, own_database)
    yield one
    one.owner.close()
    one.queue.close()


def test_the_picture_shows_every_change_of_state_and_no_other(job: OneJob) -> None:
    seen: set[tuple[str, str]] = set()
    for state in JobState:
        for change in CHANGES.values():
            seen.add((state.value, job.after(change, job.put(state))))
        for attempt in (1, SPENT):
            job.put(state, attempt=attempt)
            with job.queue.transaction() as tx:
                rescue_expired(tx)
            seen.add((state.value, job.state()))

    drawn = set(
        re.findall(r"^ +(\w+) --> (\w+)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    assert drawn == {(old, new) for old, new in seen if old != new}
