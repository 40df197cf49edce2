"""The step contract: load in a read transaction, think in none, store in a write transaction.

No model call can happen inside a transaction, because `think` is never given one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Generic, TypeVar

from shared.domain.jobs import Cancel, Done, Job, JobKind, Outcome
from shared.domain.tenancy import Policy
from shared.settings import Settings
from shared.store.block_material import BlockMaterial, find_block_material
from shared.store.database import ReadTx, WriteTx
from workers.models.asking import Asker

InputT = TypeVar("InputT")
DraftT = TypeVar("DraftT")

MAX_HALVINGS: Final = 4
INPUT_TOO_LONG: Final = "input_too_long"
SOURCE_ERASED: Final = Cancel("source_erased")


@dataclass(frozen=True, slots=True)
class StepContext:
    """The rules under which one attempt runs; the same for load and store."""

    settings: Settings
    policy: Policy
    derivation_version: int
    now: datetime
    graph_version_id: str | None = None
    """The version that a batch re-derivation builds; None: whatever is live when storing."""
    live_graph_version_id: str | None = None
    """The version that readers saw when the attempt began."""
    block: BlockMaterial | None = None
    """The block that the job is about, where it was read with the claim."""
    own_derivation: int | None = None
    """Its derivation, where that is not the live one: events have another standing in it."""

    @property
    def is_backfill(self) -> bool:
        """Tell whether the attempt works for a version of its own, which readers may not see."""
        return self.graph_version_id is not None


def aimed(context: StepContext, job: Job) -> StepContext:
    """Return the rules for a job that builds a version: its derivation, its graph, its model.

    A job without such a target is left to what is live.
    """
    target = job.payload.get("graph_version_id")
    if target is None:
        return context
    policy = context.policy
    if job.payload.get("provider"):
        policy = replace(policy, provider=job.payload["provider"], model=job.payload.get("model"))
    derivation: int = job.payload["derivation_version"]
    return replace(
        context,
        policy=policy,
        derivation_version=derivation,
        graph_version_id=target,
        own_derivation=None if derivation == context.derivation_version else derivation,
    )


def said_in_block(tx: ReadTx, job: Job, context: StepContext) -> BlockMaterial | None:
    """Return the job's block with its messages; None when they are gone."""
    found = context.block
    if found is None or found.block.block_id != job.subject:
        found = find_block_material(tx, job.subject)
    return found if found is not None and found.messages else None


@dataclass(frozen=True, slots=True)
class Step(Generic[InputT, DraftT]):
    """One kind of job.

    `load` may end the job at once with an outcome. `store` checks again what may have changed
    meanwhile, and returns how the job ends; its effects and that end are one transaction.
    """

    kind: JobKind
    prompt_version: str | None
    load: Callable[[ReadTx, Job, StepContext], InputT | Done | Cancel]
    think: Callable[[InputT, Asker], DraftT]
    store: Callable[[WriteTx, Job, DraftT, StepContext], Outcome]


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How much one model call may read and write, in tokens, and for how long, in seconds.

    `halvings` says how often the input is halved, `cuts` how many replies were cut off before.
    """

    input_tokens: int
    output_tokens: int
    deadline_s: float
    halvings: int = 0
    cuts: int = 0


def call_limits(job: Job, context: StepContext) -> CallLimits:
    """Return the limits of this attempt: tighter in, wider out after a reply was cut off.

    A cap that the policy sets stays as it is; then only the input is split. Where the input was
    too long for the model, more output would make it worse, so only the input is split then.
    """
    settings = context.settings
    truncations = [error for error in job.errors if _is_truncation(error)]
    cuts = sum(error.get("code") != INPUT_TOO_LONG for error in truncations)
    widened = output_cap(job.kind, settings) << min(MAX_HALVINGS, cuts)
    return CallLimits(
        input_tokens=settings.model_input_tokens,
        output_tokens=context.policy.max_output_tokens or widened,
        deadline_s=settings.model_deadline_s,
        halvings=min(MAX_HALVINGS, len(truncations)),
        cuts=cuts,
    )


def output_cap(kind: JobKind, settings: Settings) -> int:
    """Return the output cap of a first call, in tokens: the step's own, below the general one."""
    own = {
        JobKind.SUMMARIZE: settings.max_output_for_summarize,
        JobKind.EXTRACT: settings.max_output_for_extract,
        JobKind.PROJECT: settings.max_output_for_project,
        JobKind.IMPORT: settings.max_output_for_import,
    }
    general = settings.model_max_output_tokens
    return min(general, own.get(kind, general))


def part_budget(limits: CallLimits, total_tokens: int) -> int:
    """Return the budget of one part: what fits, and less than what was cut off before.

    Never the same request twice: each truncation halves what is really there, not only what
    would be allowed. At least 200, so that a message's frame always fits.
    """
    if not limits.halvings:
        return limits.input_tokens
    halved = -(-total_tokens // (1 << limits.halvings))
    return max(200, min(limits.input_tokens, halved))


def _is_truncation(error: Mapping[str, object]) -> bool:
    return error.get("class") == "truncated"
