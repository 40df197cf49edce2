"""Step 5 of the walk: events of a block, each with legal sources; then the block is ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from shared.domain.budget import estimate_tokens, message_tokens, split_messages
from shared.domain.derivation import derivation_view, without_own_memory
from shared.domain.events import EventDraft
from shared.domain.extraction import (
    Extraction,
    ExtractionContext,
    NoValidEvent,
    Rejection,
    describe,
    merge_repeated,
    validate_extraction,
)
from shared.domain.jobs import (
    STAGE_OFF,
    Cancel,
    Done,
    FollowUp,
    Job,
    JobKind,
    JobState,
    Outcome,
    Snooze,
)
from shared.domain.provenance import is_evidence
from shared.domain.turns import Message
from shared.errors import NotFound
from shared.store.block_material import BlockMaterial
from shared.store.blocks import BlockRow, get_block_and_live, mark_ready
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import lock_extraction
from shared.store.jobs import enqueue
from shared.store.vectors import request_vectors
from workers.event_storing import StoredEvents, store_events
from workers.extraction_context import surroundings_of, timeline_of
from workers.models.asking import Asker, Checked
from workers.models.encoded_runs import without_encoded_runs
from workers.models.inputs import ExtractInput
from workers.models.port import ModelTask, TaskKind
from workers.prompts import extract as prompt
from workers.step import (
    SOURCE_ERASED,
    CallLimits,
    Step,
    StepContext,
    call_limits,
    part_budget,
    said_in_block,
)

VALID_EMPTY: Final = "valid_empty"
NO_VALID_EVENT: Final = "no_valid_event"
DERIVATION_SWITCHED: Final = "derivation_switched"
_KEYS: Final = ("should_extract",)


@dataclass(frozen=True, slots=True)
class BlockToExtract:
    """The block in parts that fit one call each, and what its replies are checked against.

    `is_off`: the policy switched the stage off since the job was made.
    """

    parts: tuple[ExtractInput, ...]
    context: ExtractionContext
    limits: CallLimits
    is_last_attempt: bool
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class ExtractionDraft:
    """The merged replies; `failed` holds what was refused when not one event was left."""

    extraction: Extraction | None
    offered: frozenset[str] = frozenset()
    failed: tuple[Rejection, ...] = ()


def load(tx: ReadTx, job: Job, context: StepContext) -> BlockToExtract | Cancel:
    """Read the block and what lies around it; Cancel when its messages are gone."""
    said = said_in_block(tx, job, context)
    if said is None:
        return SOURCE_ERASED
    # Replies are checked against whole messages; the prompt shows bulky tool traffic shortened.
    messages = without_own_memory(said.messages)
    target = _target(tx, said, messages, context)
    limits = call_limits(job, context)
    return BlockToExtract(
        parts=_split(target, limits),
        context=ExtractionContext(
            messages=messages,
            offered_event_ids=frozenset(item.event_id for item in target.timeline),
            zone=target.zone,
            stored=said.messages,
        ),
        limits=limits,
        is_last_attempt=job.attempt >= job.max_attempts,
        is_off=not context.policy.stages.extract,
    )


def think(block: BlockToExtract, asker: Asker) -> ExtractionDraft:
    """Extract from each part and merge (D39). Raises MalformedReply when no event is left.

    In the last attempt that is a result too: the job ends degraded, with the reasons (D9).
    """
    if block.is_off:
        return ExtractionDraft(None)
    replies: list[Extraction] = []
    empty: list[NoValidEvent] = []
    for part in block.parts:
        try:
            replies.append(_ask(part, block, asker))
        except NoValidEvent as error:
            empty.append(error)
    events = [draft for reply in replies for draft in reply.events]
    lost = tuple(rejection for error in empty for rejection in error.rejections)
    if empty and not events:
        if not block.is_last_attempt:
            raise empty[0]
        return ExtractionDraft(None, failed=lost)
    return ExtractionDraft(_merged(replies, events, lost), offered=block.context.offered_event_ids)


def store(tx: WriteTx, job: Job, draft: ExtractionDraft, context: StepContext) -> Outcome:
    """Write the events with their links and search documents, and make the block ready (D30)."""
    # What is live is read under the lock, which a switch takes as well.
    lock_extraction(tx, job.namespace, version=context.derivation_version)
    try:
        block, live = get_block_and_live(tx, job.subject)
    except NotFound:
        return SOURCE_ERASED
    if not context.is_backfill and live.derivation_version != context.derivation_version:
        # What was thought belongs beside events that readers no longer see.
        return Snooze(1.0, DERIVATION_SWITCHED)
    if not context.policy.stages.extract:
        mark_ready(tx, block.block_id)
        return Done(state=JobState.SKIPPED, reason=STAGE_OFF)
    extraction = draft.extraction
    if extraction is None:
        # Degraded to nothing: the block keeps its native messages and can be retried.
        return Done(JobState.DEGRADED, NO_VALID_EVENT, rejections=_listed(draft.failed))
    if not extraction.should_extract:
        mark_ready(tx, block.block_id)
        told = {"events": 0, "why": extraction.reason}
        return Done(JobState.SUCCEEDED_EMPTY, VALID_EMPTY, told)
    stored = store_events(
        tx,
        job,
        block,
        extraction.events,
        offered=draft.offered,
        version=context.derivation_version,
        is_apart=context.own_derivation is not None,
    )
    if stored.added:
        request_vectors(tx, block.namespace, context.policy, context.settings)
    # Locks the thread's row, which incoming turns wait for: so it comes last.
    mark_ready(tx, block.block_id)
    return _outcome(tx, block, extraction, stored, context)


def _outcome(
    tx: WriteTx,
    block: BlockRow,
    extraction: Extraction,
    stored: StoredEvents,
    context: StepContext,
) -> Done:
    projection = FollowUp(JobKind.PROJECT, block.block_id)
    follows = bool(stored.added or stored.carried) and context.policy.stages.project
    if stored.added and not follows and not context.is_backfill:
        enqueue(tx, block.namespace, projection, state=JobState.SKIPPED, reason=STAGE_OFF)
    return Done(
        state=JobState.DEGRADED if extraction.refused else JobState.SUCCEEDED,
        reason="events_refused" if extraction.refused else None,
        result={
            "events": len(stored.added),
            "repeated": len(stored.repeated),
            "carried": len(stored.carried),
            "superseded": len(stored.changes),
            "notes": list(extraction.notes),
        },
        rejections=(*_listed(extraction.rejections), *stored.refused),
        follow_ups=(projection,) if follows else (),
    )


def _target(
    tx: ReadTx, said: BlockMaterial, messages: Sequence[Message], context: StepContext
) -> ExtractInput:
    block, version = said.block, context.derivation_version
    around = surroundings_of(tx, said, version=version, is_live=context.own_derivation is None)
    return ExtractInput(
        block_id=block.block_id,
        sequence=block.sequence,
        start_turn=block.start_turn,
        end_turn=block.end_turn,
        ended_at=block.ended_at,
        zone=messages[-1].zone if messages else "UTC",
        messages=without_encoded_runs(derivation_view(messages)),
        allowed_source_message_ids=tuple(one.id for one in messages if is_evidence(one)),
        previous=around.previous,
        following=around.following,
        timeline=timeline_of(tx, block, about=around.about, version=version)
        if around.may_have_events
        else (),
        language=context.policy.language,
    )


def _split(target: ExtractInput, limits: CallLimits) -> tuple[ExtractInput, ...]:
    """Cut the block to the budget; every part is offered the same ids and context."""
    around = estimate_tokens("\n".join(item.summary for item in target.timeline))
    total = sum(message_tokens(message) for message in target.messages)
    budget = max(200, part_budget(limits, total) - around)
    groups = split_messages(target.messages, budget) or [[]]
    return tuple(
        replace(target, messages=tuple(group), part=number, parts=len(groups), cuts=limits.cuts)
        for number, group in enumerate(groups, start=1)
    )


def _ask(part: ExtractInput, block: BlockToExtract, asker: Asker) -> Extraction:
    task: ModelTask[object] = ModelTask(
        kind=TaskKind.EXTRACT,
        input=part,
        prompt=prompt.render(part),
        reply_type=prompt.ExtractReply,
        max_output_tokens=block.limits.output_tokens,
        deadline_s=block.limits.deadline_s,
        room=prompt.room_of(part),
    )
    said, earlier = prompt.said_of(part), prompt.earlier_of(part)

    def check(reply: Mapping[str, object]) -> Checked[Extraction]:
        extraction = validate_extraction(earlier.restored(said.restored(reply)), block.context)
        problems = tuple(describe(one) for one in extraction.refused)
        return Checked(extraction, problems, score=len(extraction.events))

    return asker.ask(task, check, required_keys=_KEYS)


def _merged(
    replies: Sequence[Extraction], events: Sequence[EventDraft], lost: tuple[Rejection, ...]
) -> Extraction:
    reasons = dict.fromkeys(reply.reason for reply in replies if reply.reason)
    return Extraction(
        should_extract=any(reply.should_extract for reply in replies),
        reason=" ".join(reasons),
        events=merge_repeated(events),
        rejections=(*(one for reply in replies for one in reply.rejections), *lost),
        notes=tuple(dict.fromkeys(note for reply in replies for note in reply.notes)),
    )


def _listed(rejections: Sequence[Rejection]) -> tuple[dict[str, object], ...]:
    return tuple(asdict(one) for one in rejections)


STEP: Final = Step(JobKind.EXTRACT, prompt.VERSION, load, think, store)
