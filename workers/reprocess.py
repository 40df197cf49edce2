"""Build a version beside the live one: the same steps, aimed at it, one job a block and step.

Each end of a block is noted in the version; the last one takes in what became ready meanwhile and,
when that was asked for, switches to the version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from shared.domain.jobs import Cancel, Done, FollowUp, Job, JobKind, JobState, Outcome
from shared.domain.reprocessing import CARRIED, Reprocess
from shared.errors import Conflict, NotFound
from shared.logs import get_logger
from shared.store.blocks import get_block
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import lock_extraction
from shared.store.graph_versions import find_version, version_state
from shared.store.version_blocks import PRIORITY, hold_block, others_waiting
from shared.store.version_building import take_in
from shared.store.version_switch import switch_version
from workers.event_carrying import carry_block
from workers.models.asking import Asker
from workers.step import SOURCE_ERASED, Step, StepContext

_log = get_logger("workers.reprocess")
VERSION_DROPPED: Final = Cancel("version_dropped")


@dataclass(frozen=True, slots=True)
class Settled:
    """A load that already knows how its job ends; told in `store`, with the block's note."""

    outcome: Done | Cancel


@dataclass(frozen=True, slots=True)
class CarryOver:
    """A block whose events are not derived anew but carried over as they are."""


def aiming_steps(steps: Mapping[JobKind, Step[Any, Any]]) -> dict[JobKind, Step[Any, Any]]:
    """Return the steps, each able to work for a version that is built beside the live one."""
    return {kind: _aiming(step) for kind, step in steps.items()}


def _aiming(step: Step[Any, Any]) -> Step[Any, Any]:
    def load(tx: ReadTx, job: Job, context: StepContext) -> Any:
        if not context.is_backfill:
            return step.load(tx, job, context)
        if version_state(tx, context.graph_version_id or "") in (None, "dropped"):
            return VERSION_DROPPED
        if job.payload.get(CARRIED):
            return CarryOver()
        loaded = step.load(tx, _of_block(job), context)
        return Settled(loaded) if isinstance(loaded, Done | Cancel) else loaded

    def think(loaded: Any, asker: Asker) -> Any:
        return loaded if isinstance(loaded, Settled | CarryOver) else step.think(loaded, asker)

    def store(tx: WriteTx, job: Job, draft: Any, context: StepContext) -> Outcome:
        if not context.is_backfill:
            return step.store(tx, job, draft, context)
        if isinstance(draft, Settled):
            outcome: Outcome = draft.outcome
        elif isinstance(draft, CarryOver):
            outcome = _carried(tx, job, context)
        else:
            outcome = step.store(tx, _of_block(job), draft, context)
        return _noted(tx, job, outcome, context)

    return replace(step, load=load, think=think, store=store)


def _of_block(job: Job) -> Job:
    return replace(job, subject=str(job.payload["block_id"]))


def _carried(tx: WriteTx, job: Job, context: StepContext) -> Outcome:
    try:
        block = get_block(tx, str(job.payload["block_id"]))
    except NotFound:
        return SOURCE_ERASED
    lock_extraction(tx, block.namespace, version=context.derivation_version)
    if not carry_block(tx, block, version=context.derivation_version):
        return Done(JobState.SUCCEEDED_EMPTY, "no_events")
    return Done(follow_ups=(FollowUp(JobKind.PROJECT, block.block_id),))


def _noted(tx: WriteTx, job: Job, outcome: Outcome, context: StepContext) -> Outcome:
    """Aim the follow-ups at the version too; where none is left, the block is in it."""
    if isinstance(outcome, Done) and outcome.follow_ups:
        payload = {name: value for name, value in job.payload.items() if name != CARRIED}
        return replace(
            outcome,
            follow_ups=tuple(
                replace(one, subject=job.subject, payload=payload, priority=PRIORITY)
                for one in outcome.follow_ups
            ),
        )
    is_nothing_left = job.kind is JobKind.EXTRACT and _is_degraded(outcome)
    if isinstance(outcome, Done | Cancel) and not is_nothing_left:
        hold_block(tx, str(context.graph_version_id), str(job.payload["block_id"]))
        _go_on(tx, job, context)
    return outcome


def _is_degraded(outcome: Outcome) -> bool:
    return isinstance(outcome, Done) and outcome.state is JobState.DEGRADED


def _go_on(tx: WriteTx, job: Job, context: StepContext) -> None:
    """After the last block: take in those that became ready meanwhile, else end the build."""
    version_id, block_id = str(context.graph_version_id), str(job.payload["block_id"])
    if others_waiting(tx, version_id, but=block_id):
        return
    version = find_version(tx, job.namespace, version_id)
    if version.state != "shadow":
        return
    attempts = context.settings.max_attempts
    if take_in(tx, version, max_attempts=attempts) or Reprocess.of(version.request).shadow:
        return
    try:
        switch_version(tx, job.namespace, version_id, max_attempts=attempts)
    except Conflict as refusal:
        # Another block's job has failed: a person decides.
        _log.warning("not_switched", graph_version_id=version_id, code=refusal.code)
