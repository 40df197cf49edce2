"""Step 6 of the walk: what a block's events say of people, projects, tools and places.

Projections of one namespace think in parallel and store one at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Final

from shared.domain.budget import estimate_tokens
from shared.domain.graph import Rejection, SourceEvent
from shared.domain.graph_proposal import GraphReplyError, validate_proposal
from shared.domain.graph_proposed import Proposal
from shared.domain.jobs import STAGE_OFF, Cancel, Done, Job, JobKind, JobState, Outcome
from shared.domain.model_json import MalformedReply
from shared.domain.turns import IMPORT_THREADS
from shared.errors import NotFound
from shared.store.blocks import BlockRow, get_block
from shared.store.database import ReadTx, WriteTx
from shared.store.derivation_locks import await_projection
from shared.store.events import VISIBLE, StoredEvent, events_of_blocks
from shared.store.graph import source_events
from shared.store.graph_before import keep_before
from shared.store.imports import import_of_block
from shared.store.namespaces import count_revision
from workers.graph_storing import GraphTarget, Keep, StoredGraph, store_proposals
from workers.models.asking import Asker, Checked
from workers.models.inputs import ProjectEvent, ProjectInput
from workers.models.port import ModelTask, TaskKind
from workers.projection_context import known_graph
from workers.prompts import project as prompt
from workers.step import SOURCE_ERASED, CallLimits, Step, StepContext, call_limits, part_budget
from workers.stored_times import event_time

NO_EVENTS: Final = "no_events"
NOTHING_NAMED: Final = "nothing_named"
_SHOWN_PROBLEMS: Final = 12
_EVENT_OVERHEAD: Final = 60
_KEYS: Final = ("nodes", "edges")


@dataclass(frozen=True, slots=True)
class EventsToProject:
    """The block's visible events in parts that fit one call each, with the known graph."""

    parts: tuple[ProjectInput, ...]
    sources: Mapping[str, SourceEvent]
    limits: CallLimits

    @property
    def event_ids(self) -> frozenset[str]:
        """The only legal sources of this job."""
        return frozenset(event.event_id for part in self.parts for event in part.events)


@dataclass(frozen=True, slots=True)
class ProjectionDraft:
    """The raw replies, one a part: they are validated again against the state at storing."""

    replies: tuple[Mapping[str, object], ...]
    event_ids: frozenset[str]


def load(tx: ReadTx, job: Job, context: StepContext) -> EventsToProject | Done | Cancel:
    """Read the block's events and the part of the graph that they may touch."""
    try:
        block = get_block(tx, job.subject)
    except NotFound:
        return SOURCE_ERASED
    if not context.policy.stages.project:
        return Done(JobState.SKIPPED, STAGE_OFF)
    version = context.derivation_version
    stored = events_of_blocks(tx, [block.block_id], version=version).get(block.block_id, [])
    visible = [event for event in stored if event.status in VISIBLE]
    if not visible:
        return Done(JobState.SUCCEEDED_EMPTY, NO_EVENTS)
    limits = call_limits(job, context)
    shown = [_event(event) for event in visible]
    known = known_graph(
        tx,
        block.namespace,
        shown,
        version=context.graph_version_id or context.live_graph_version_id,
        derivation=context.own_derivation,
    )
    groups = _split(shown, limits)
    language = context.policy.language
    whole = ProjectInput((), known.nodes, known.edges, language=language, cuts=limits.cuts)
    return EventsToProject(
        parts=tuple(
            replace(whole, events=tuple(group), part=number, parts=len(groups))
            for number, group in enumerate(groups, start=1)
        ),
        sources=known.sources,
        limits=limits,
    )


def think(material: EventsToProject, asker: Asker) -> ProjectionDraft:
    """Ask for each part's proposal. Raises MalformedReply when nothing of a reply is left."""
    replies = [_ask(part, material, asker) for part in material.parts]
    return ProjectionDraft(tuple(replies), material.event_ids)


def store(tx: WriteTx, job: Job, draft: ProjectionDraft, context: StepContext) -> Outcome:
    """Fold what is sound into the live graph; the rest is listed and the job degraded (D29)."""
    await_projection(tx, job.namespace)
    try:
        block = get_block(tx, job.subject)
    except NotFound:
        return SOURCE_ERASED
    sources = source_events(tx, draft.event_ids, version=context.own_derivation)
    if not any(sources[one].status in VISIBLE for one in draft.event_ids & sources.keys()):
        return Cancel("source_forgotten")
    proposals: list[Proposal] = []
    rejections: list[Rejection] = []
    for reply in draft.replies:
        proposal, refused = _validated(reply, sources, draft.event_ids)
        rejections += refused
        if proposal is not None:
            proposals.append(proposal)
    if not any(proposal.nodes for proposal in proposals):
        state = JobState.DEGRADED if rejections else JobState.SUCCEEDED_EMPTY
        return Done(state, NOTHING_NAMED, rejections=tuple(asdict(one) for one in rejections))
    stored = store_proposals(
        tx,
        job.namespace,
        proposals,
        job_event_ids=draft.event_ids,
        known=sources,
        now=context.now,
        into=_target(context),
        keep=_keeping(tx, block),
    )
    if not context.is_backfill:
        # Locks the namespace's row, which turns wait for: so it comes last.
        count_revision(tx, job.namespace)
    return _done(stored, rejections)


def _keeping(tx: WriteTx, block: BlockRow) -> Keep | None:
    """Return what keeps the graph as it was before an import, which may be undone."""
    if not block.thread_id.startswith(IMPORT_THREADS):
        return None
    import_id = import_of_block(tx, block.block_id, block.thread_id)
    return None if import_id is None else partial(keep_before, tx, import_id)


def _target(context: StepContext) -> GraphTarget | None:
    if context.graph_version_id is None:
        return None
    return GraphTarget(context.graph_version_id, context.own_derivation)


def _done(stored: StoredGraph, rejections: Sequence[Rejection]) -> Done:
    refused = (*rejections, *stored.rejections)
    return Done(
        state=JobState.DEGRADED if refused else JobState.SUCCEEDED,
        reason="items_refused" if refused else None,
        result={
            "nodes": len(stored.node_ids),
            "facts": stored.facts,
            "edges": stored.edges,
            "participants": stored.participants,
        },
        rejections=tuple(asdict(one) for one in refused),
    )


def _validated(
    reply: Mapping[str, object], sources: Mapping[str, SourceEvent], event_ids: frozenset[str]
) -> tuple[Proposal | None, tuple[Rejection, ...]]:
    try:
        return validate_proposal(reply, events=sources, job_event_ids=event_ids)
    except GraphReplyError as error:
        # It was sound when it came: since then its sources were forgotten or erased.
        return None, error.rejections


def _ask(part: ProjectInput, material: EventsToProject, asker: Asker) -> Mapping[str, object]:
    task: ModelTask[object] = ModelTask(
        kind=TaskKind.PROJECT,
        input=part,
        prompt=prompt.render(part),
        reply_type=prompt.ProjectReply,
        max_output_tokens=material.limits.output_tokens,
        deadline_s=material.limits.deadline_s,
        room=prompt.room_of(part),
    )
    names = prompt.sources_of(part)

    def check(answered: Mapping[str, object]) -> Checked[Mapping[str, object]]:
        reply = names.restored(answered)
        try:
            proposal, refused = validate_proposal(
                reply, events=material.sources, job_event_ids=material.event_ids
            )
        except GraphReplyError as error:
            problems = (str(error), *_problems(error.rejections))
            raise MalformedReply(str(error), problems=problems) from error
        score = len(proposal.edges) + sum(1 + len(node.facts) for node in proposal.nodes)
        return Checked(reply, _problems(refused), score=score)

    return asker.ask(task, check, required_keys=_KEYS)


def _problems(rejections: Sequence[Rejection]) -> tuple[str, ...]:
    return tuple(f"{one.item}: {one.code}: {one.detail}" for one in rejections[:_SHOWN_PROBLEMS])


def _split(events: Sequence[ProjectEvent], limits: CallLimits) -> list[list[ProjectEvent]]:
    """Group events, in order, to the budget of one call."""
    costs = [_EVENT_OVERHEAD + estimate_tokens(f"{e.summary} {e.narrative or ''}") for e in events]
    budget = part_budget(limits, sum(costs))
    groups: list[list[ProjectEvent]] = []
    room = 0
    for event, cost in zip(events, costs, strict=True):
        if not groups or cost > room:
            groups.append([])
            room = budget
        groups[-1].append(event)
        room -= cost
    return groups


def _event(event: StoredEvent) -> ProjectEvent:
    return ProjectEvent(
        event_id=event.event_id,
        title=event.title,
        summary=event.summary,
        event_type=event.event_type.value,
        status=event.status.value,
        scope=event.scope.value,
        time=event_time(event),
        participants=event.participants,
        tags=event.tags,
        quotes=tuple(quote.text for quote in event.quotes),
        narrative=event.narrative,
    )


STEP: Final = Step(JobKind.PROJECT, prompt.VERSION, load, think, store)
