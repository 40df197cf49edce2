"""Step 4 of the walk: levels 0 to 2 of a sealed block, and whether to extract events from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.blocks import (
    MAX_KEYPOINTS,
    MAX_SUMMARY,
    MAX_TAGS,
    InvalidSummary,
    Summary,
    validate_summary,
)
from shared.domain.budget import message_tokens, split_messages
from shared.domain.derivation import model_view
from shared.domain.jobs import STAGE_OFF, Cancel, Done, FollowUp, Job, JobKind, JobState, Outcome
from shared.domain.model_json import MalformedReply, key_of
from shared.domain.turns import Message
from shared.store.blocks import NewSummary, mark_ready, save_summary
from shared.store.database import ReadTx, WriteTx
from shared.store.jobs import enqueue
from workers.models.asking import Asker, Checked
from workers.models.encoded_runs import without_encoded_runs
from workers.models.inputs import SummarizeInput
from workers.models.port import ModelTask, TaskKind
from workers.prompts import summarize as prompt
from workers.step import (
    SOURCE_ERASED,
    CallLimits,
    Step,
    StepContext,
    call_limits,
    part_budget,
    said_in_block,
)

NOTHING_TO_EXTRACT: Final = "nothing_to_extract"
_KEYS: Final = ("title", "tags", "summary", "keypoints", "should_extract")


@dataclass(frozen=True, slots=True)
class BlockText:
    """What the block says, in parts that fit one call each."""

    parts: tuple[SummarizeInput, ...]
    limits: CallLimits


@dataclass(frozen=True, slots=True)
class SummaryDraft:
    """A valid summary of the whole block, and the model that made it."""

    summary: Summary
    model: str


def load(tx: ReadTx, job: Job, context: StepContext) -> BlockText | Cancel:
    """Read the block's messages as models may see them; Cancel when they are gone."""
    said = said_in_block(tx, job, context)
    if said is None:
        return SOURCE_ERASED
    limits = call_limits(job, context)
    messages = without_encoded_runs(model_view(said.messages))
    budget = part_budget(limits, sum(message_tokens(message) for message in messages))
    groups: list[list[Message]] = split_messages(messages, budget) or [[]]
    return BlockText(
        parts=tuple(
            SummarizeInput(tuple(group), number, len(groups), context.policy.language, limits.cuts)
            for number, group in enumerate(groups, start=1)
        ),
        limits=limits,
    )


def think(block: BlockText, asker: Asker) -> SummaryDraft:
    """Summarise each part, and merge the parts' summaries (D39)."""
    summaries = [_ask(part, block.limits, asker) for part in block.parts]
    return SummaryDraft(merged(summaries), asker.model.name)


def store(tx: WriteTx, job: Job, draft: SummaryDraft, context: StepContext) -> Outcome:
    """Save levels 0 to 2, and make the block ready when there is nothing to extract (D9, D30)."""
    summary = draft.summary
    is_saved = save_summary(
        tx,
        NewSummary(
            block_id=job.subject,
            derivation_version=context.derivation_version,
            title=summary.title,
            tags=summary.tags,
            summary=summary.summary,
            keypoints=summary.keypoints,
            should_extract=summary.should_extract,
            job_id=job.job_id,
            prompt_version=prompt.VERSION,
            model=draft.model,
        ),
    )
    if not is_saved:
        return SOURCE_ERASED
    extraction = FollowUp(JobKind.EXTRACT, job.subject)
    if context.is_backfill:
        # The block is ready since long; what its own jobs tell of it stays as it is.
        return Done(follow_ups=(extraction,) if summary.should_extract else ())
    if summary.should_extract and context.policy.stages.extract:
        return Done(follow_ups=(extraction,))
    state, reason = (
        (JobState.SKIPPED, STAGE_OFF)
        if not context.policy.stages.extract
        else (JobState.SUCCEEDED_EMPTY, NOTHING_TO_EXTRACT)
    )
    enqueue(tx, job.namespace, extraction, state=state, reason=reason)
    mark_ready(tx, job.subject)
    return Done()


def merged(summaries: Sequence[Summary]) -> Summary:
    """Return one summary of a block that was read in parts.

    The first part names it; each part keeps its fair share of the key points, in order; the
    summaries follow each other as far as they fit whole.
    """
    if len(summaries) == 1:
        return summaries[0]
    texts: list[str] = []
    for one in summaries:
        if len(" ".join([*texts, one.summary])) <= MAX_SUMMARY:
            texts.append(one.summary)
    tags = dict.fromkeys(tag for one in summaries for tag in one.tags)
    return Summary(
        title=summaries[0].title,
        tags=tuple(tags)[:MAX_TAGS],
        summary=" ".join(texts),
        keypoints=_fair_share([one.keypoints for one in summaries], MAX_KEYPOINTS),
        should_extract=any(one.should_extract for one in summaries),
    )


def _fair_share(lists: Sequence[tuple[str, ...]], limit: int) -> tuple[str, ...]:
    """Take items round by round, so that no part is left out, and return them in order."""
    rounds = sorted(
        (rank, part) for part, points in enumerate(lists) for rank in range(len(points))
    )
    taken = sorted((part, rank) for rank, part in rounds[:limit])
    return tuple(dict.fromkeys(lists[part][rank] for part, rank in taken))


def _ask(part: SummarizeInput, limits: CallLimits, asker: Asker) -> Summary:
    task: ModelTask[object] = ModelTask(
        kind=TaskKind.SUMMARIZE,
        input=part,
        prompt=prompt.render(part),
        reply_type=prompt.SummarizeReply,
        max_output_tokens=limits.output_tokens,
        deadline_s=limits.deadline_s,
    )
    has_content = any(one.content.strip() or one.tool_calls for one in part.messages)
    return asker.ask(task, lambda reply: _check(reply, has_content), required_keys=_KEYS)


def _check(reply: Mapping[str, object], has_content: bool) -> Checked[Summary]:
    folded = {key_of(key): value for key, value in reply.items()}
    named = {key: folded[key_of(key)] for key in _KEYS if key_of(key) in folded}
    try:
        return Checked(validate_summary(named, has_content))
    except InvalidSummary as error:
        raise MalformedReply("the reply is no summary", problems=error.reasons) from error


STEP: Final = Step(JobKind.SUMMARIZE, prompt.VERSION, load, think, store)
