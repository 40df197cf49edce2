"""The job machine's pure rules: kinds, states, outcomes, back-off; the ledger only stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

BACKOFF_JITTER = 0.2
"""Back-off is spread by ±20 % so that jobs that failed together do not return together (D36)."""


class JobKind(StrEnum):
    """What a job does; each kind has one step in `workers/steps`."""

    SUMMARIZE = "summarize"
    EXTRACT = "extract"
    PROJECT = "project"
    EMBED = "embed"
    IMPORT = "import_memory"
    ERASE = "erase"
    EXPORT = "export"


QUEUE_OF: Mapping[JobKind, str] = {
    JobKind.SUMMARIZE: "summarize",
    JobKind.EXTRACT: "extract",
    JobKind.PROJECT: "project",
    JobKind.EMBED: "embed",
    JobKind.IMPORT: "import",
    JobKind.ERASE: "upkeep",
    JobKind.EXPORT: "upkeep",
}
"""The live queue of each kind; batch re-derivation uses `backfill` instead."""


BACKFILL = "backfill"
"""The queue of batch re-derivation, of every kind: rung a few at a time, so that live work goes
before it."""


@dataclass(frozen=True, slots=True)
class KindLimits:
    """How long a job of one kind may take.

    ceiling_s: the model calls of one attempt together. longest_wait_s: all its snoozes together.
    """

    ceiling_s: float
    longest_wait_s: float


_DAY_S = 86_400.0

LIMITS_OF: Mapping[JobKind, KindLimits] = {
    JobKind.SUMMARIZE: KindLimits(ceiling_s=240, longest_wait_s=7 * _DAY_S),
    JobKind.EXTRACT: KindLimits(ceiling_s=300, longest_wait_s=7 * _DAY_S),
    JobKind.PROJECT: KindLimits(ceiling_s=300, longest_wait_s=7 * _DAY_S),
    JobKind.EMBED: KindLimits(ceiling_s=180, longest_wait_s=7 * _DAY_S),
    JobKind.IMPORT: KindLimits(ceiling_s=180, longest_wait_s=2 * _DAY_S),
    JobKind.ERASE: KindLimits(ceiling_s=300, longest_wait_s=_DAY_S),
    JobKind.EXPORT: KindLimits(ceiling_s=300, longest_wait_s=_DAY_S),
}
"""Each kind's own limits; settings (`step_deadline_s`, `snooze_max_wait_s`) only lower them."""

MAX_CALLS_A_PART = 6
"""Calls of one job and part that a model answers, over all attempts and snoozes (D36)."""


class JobState(StrEnum):
    """Where a job stands."""

    AVAILABLE = "available"
    RUNNING = "running"
    RETRYABLE = "retryable"
    SUCCEEDED = "succeeded"
    SUCCEEDED_EMPTY = "succeeded_empty"
    DEGRADED = "degraded"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


LIVE_STATES = frozenset({JobState.AVAILABLE, JobState.RUNNING, JobState.RETRYABLE})
FINAL_STATES = frozenset(JobState) - LIVE_STATES
STAGE_OFF = "stage_off"
"""Why a job was skipped: the policy had switched its stage off."""

RETRYABLE_BY_HAND = frozenset(
    {JobState.DEAD, JobState.CANCELLED, JobState.DEGRADED, JobState.SKIPPED}
)
"""Final states from which a person may start a job again, with fresh attempts."""


class FailureClass(StrEnum):
    """Why an attempt failed, as far as it decides what the next attempt does."""

    TRANSIENT = "transient"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    REFUSED = "refused"
    PERMANENT = "permanent"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the ledger, as a worker sees it after its claim."""

    tenant_id: str
    job_id: str
    namespace: str
    kind: JobKind
    subject: str
    queue: str
    state: JobState
    attempt: int
    max_attempts: int
    lease_token: str
    snoozed_s: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)
    errors: tuple[Mapping[str, Any], ...] = ()
    created_at: datetime | None = None
    calls_before: int = 0
    """Calls that were answered before a person started the job again; they count no more."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A job to enqueue in the same transaction that finishes this one."""

    kind: JobKind
    subject: str
    priority: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The step stored its effects: the job ends in `state`, and what follows is enqueued."""

    state: JobState = JobState.SUCCEEDED
    reason: str | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    rejections: tuple[Mapping[str, Any], ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()


@dataclass(frozen=True, slots=True)
class Snooze:
    """Nothing is wrong, it is too early: the attempt is given back."""

    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The work has no subject any more, such as an erased source."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The attempt failed; `failure_class` says whether and how another one makes sense."""

    failure_class: FailureClass
    code: str
    detail: str
    retry_after_s: float | None = None


Outcome = Done | Snooze | Cancel | Failure


def backoff_s(attempt: int, *, base_s: float, jitter: float) -> float:
    """Return the pause after failed attempt number `attempt` (from 1), in seconds.

    base * 2^(attempt-1), so 1 s and 2 s by default, spread by `jitter` in [-1, 1] times 20 %.
    """
    return base_s * 2.0 ** (attempt - 1) * (1.0 + BACKOFF_JITTER * jitter)


def may_try_again(job: Job, failure: Failure) -> bool:
    """Tell whether another attempt is left and could end differently."""
    if failure.failure_class in (FailureClass.PERMANENT, FailureClass.REFUSED):
        return False
    return job.attempt < job.max_attempts


def may_snooze(job: Job, delay_s: float, *, max_wait_s: float) -> bool:
    """Tell whether a job may wait this much longer before it counts as dead (D36)."""
    return job.snoozed_s + delay_s <= max_wait_s


def ceiling_s(kind: JobKind, *, most_s: float, scale: float = 1.0) -> float:
    """Return how long the model calls of one attempt may take together, in seconds.

    `scale` multiplies the kind's own ceiling, for models that are slow; `most_s` bounds them all.
    """
    return min(LIMITS_OF[kind].ceiling_s * scale, most_s)


def longest_wait_s(kind: JobKind, *, most_s: float) -> float:
    """Return how long a job may be snoozed in total, in seconds (D36)."""
    return min(LIMITS_OF[kind].longest_wait_s, most_s)


def may_ask(answered: int, *, parts: int, calls_an_attempt: int) -> bool:
    """Tell whether another attempt stays within the calls of a job and part (D36).

    `answered` counts the job's answered calls so far, also of attempts that a snooze gave back;
    an attempt may make `calls_an_attempt` more of each part.
    """
    return answered + calls_an_attempt * parts <= MAX_CALLS_A_PART * parts
