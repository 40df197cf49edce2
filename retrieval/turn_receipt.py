"""What became of a turn, stage by stage: stored, sealed, summarised, events, graph.

Told from rows first and jobs second, since final jobs are pruned while their results stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from retrieval.block_views import READY
from retrieval.reader import Reader
from retrieval.times import shown_in_zone
from shared.domain.jobs import JobKind, JobState
from shared.store.blocks import BlockRow, blocks_of_turns, summaries_of
from shared.store.database import ReadTx
from shared.store.events import VISIBLE, count_by_block
from shared.store.jobs import jobs_of
from shared.store.messages import get_turn
from shared.store.turn_progress import events_citing, messages_of_turn

DONE = "succeeded"
WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class StoredStage:
    """The turn is durable, and its messages are found by raw search from then on."""

    state: str
    at: str
    message_ids: list[str]
    searchable_since: str


@dataclass(frozen=True, slots=True)
class SealedStage:
    """`waiting` while the turn stands in the open tail."""

    state: str
    at: str | None
    block_id: str | None
    turn_range: list[int] | None


@dataclass(frozen=True, slots=True)
class JobStage:
    """A derived stage: its job's state, or `waiting` before there is one.

    `attempt` of `max_attempts`; `error_code` is the last failed attempt's.
    """

    state: str
    at: str | None
    job_id: str | None
    attempt: int | None
    max_attempts: int | None
    error_code: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class EventsStage:
    """How many events rest on this turn (`n`) and on its whole block, or why none."""

    state: str
    at: str | None
    n: int
    block_n: int
    event_ids: list[str]
    job_id: str | None
    attempt: int | None
    max_attempts: int | None
    error_code: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """A turn's way. `searchable_since`: when all that was drawn from it could be found."""

    turn_id: str
    thread_id: str
    sequence: int
    occurred_at: str
    time_basis: str
    stored: StoredStage
    sealed: SealedStage
    summarised: JobStage
    events: EventsStage
    graph: JobStage
    searchable_since: str | None


def read_turn_receipt(tx: ReadTx, reader: Reader, turn_id: str) -> TurnReceipt:
    """Return what became of a turn; NotFound when this namespace has none of that id."""
    turn = get_turn(tx, reader.name, turn_id)
    place = (turn.thread_id, turn.sequence)
    block = blocks_of_turns(tx, reader.name, [place]).get(place)
    jobs: dict[str, Any] = {}
    summary = None
    if block is not None:
        jobs = {job.kind: job for job in jobs_of(tx, [block.block_id])}
        summary = summaries_of(tx, [block.block_id], version=reader.version).get(block.block_id)
    message_ids = [one.message_id for one in messages_of_turn(tx, turn_id)]
    stored_at = turn.created_at.isoformat()
    is_ready = block is not None and block.status == READY
    events = _events_stage(tx, reader, block, message_ids, jobs=jobs)
    return TurnReceipt(
        turn_id=turn_id,
        thread_id=turn.thread_id,
        sequence=turn.sequence,
        occurred_at=shown_in_zone(turn.occurred_at, turn.zone),
        time_basis=turn.time_basis,
        stored=StoredStage(DONE, stored_at, message_ids, stored_at),
        sealed=_sealed(block),
        summarised=_job_stage(
            jobs.get(JobKind.SUMMARIZE.value),
            done_at=None if summary is None else summary.created_at,
        ),
        events=events,
        graph=_graph_stage(jobs.get(JobKind.PROJECT.value), events, is_ready=is_ready),
        searchable_since=_shown(block.ready_at) if block is not None and is_ready else None,
    )


def _sealed(block: BlockRow | None) -> SealedStage:
    if block is None:
        return SealedStage(WAITING, None, None, None)
    return SealedStage(
        DONE,
        block.created_at.isoformat(),
        block.block_id,
        [block.start_turn, block.end_turn],
    )


def _events_stage(
    tx: ReadTx,
    reader: Reader,
    block: BlockRow | None,
    message_ids: list[str],
    *,
    jobs: Mapping[str, Any],
) -> EventsStage:
    job = jobs.get(JobKind.EXTRACT.value)
    ready_at = None if block is None else block.ready_at
    stage = _job_stage(job, done_at=ready_at)
    statuses = [status.value for status in VISIBLE]
    own = events_citing(tx, message_ids, version=reader.version, statuses=statuses)
    total = 0
    if block is not None:
        total = count_by_block(tx, block.block_id, version=reader.version)
    return EventsStage(
        state=stage.state,
        at=stage.at,
        n=len(own),
        block_n=total,
        event_ids=own,
        job_id=stage.job_id,
        attempt=stage.attempt,
        max_attempts=stage.max_attempts,
        error_code=stage.error_code,
        reason=stage.reason or _why_none(len(own), total, is_ready=ready_at is not None),
    )


def _graph_stage(job: Any, events: EventsStage, *, is_ready: bool) -> JobStage:
    """A ready block without a projection job had nothing to project, or its job is pruned."""
    stage = _job_stage(job, done_at=None)
    if job is not None or not is_ready:
        return stage
    if events.block_n:
        return replace(stage, state=DONE)
    return replace(
        stage, state=JobState.SUCCEEDED_EMPTY.value, reason="its block gave no event to project"
    )


def _why_none(own: int, total: int, *, is_ready: bool) -> str | None:
    if own or not is_ready:
        return None
    if total:
        return f"none of the {total} event(s) of its block rests on this turn"
    return "the block holds nothing to extract"


def _job_stage(job: Any, *, done_at: datetime | None) -> JobStage:
    if job is None:
        state = WAITING if done_at is None else DONE
        return JobStage(state, _shown(done_at), None, None, None, None, None)
    errors = job.errors or []
    is_failing = job.state not in (JobState.SUCCEEDED.value, JobState.SUCCEEDED_EMPTY.value)
    return JobStage(
        state=job.state,
        at=_shown(job.finalized_at),
        job_id=job.job_id,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        error_code=errors[-1].get("code") if errors and is_failing else None,
        reason=job.reason,
    )


def _shown(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()
