"""A memory made by the rules alone: blocks read one after another, with the checks of the steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from shared.domain.blocks import Summary, validate_summary
from shared.domain.derivation import model_view
from shared.domain.events import EventDraft
from shared.domain.extraction import ExtractionContext, Rejection, validate_extraction
from shared.domain.graph import Fact, GraphState, Node, SourceEvent
from shared.domain.graph_fold import apply_changes, fold
from shared.domain.graph_proposal import validate_proposal
from shared.domain.redaction import redact
from shared.domain.turns import Message, Role
from workers.models.inputs import (
    ExtractInput,
    KnownFact,
    KnownNode,
    ProjectEvent,
    ProjectInput,
    SummarizeInput,
    TimelineItem,
)
from workers.models.port import ModelTask, TaskKind
from workers.models.rules import RulesModel
from workers.prompts import extract, project, summarize
from workers.prompts.rendering import ReplyModel

AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
_PROMPTS: dict[TaskKind, Any] = {
    TaskKind.SUMMARIZE: summarize,
    TaskKind.EXTRACT: extract,
    TaskKind.PROJECT: project,
}
_REPLIES: dict[TaskKind, type[ReplyModel]] = {
    TaskKind.SUMMARIZE: summarize.SummarizeReply,
    TaskKind.EXTRACT: extract.ExtractReply,
    TaskKind.PROJECT: project.ProjectReply,
}


def answer(kind: TaskKind, material: object) -> dict[str, Any]:
    """Return the model's reply, after holding it against the shape that providers must keep."""
    prompt = _PROMPTS[kind].render(material)
    reply = RulesModel().complete(ModelTask(kind, material, prompt, _REPLIES[kind], 4000, 30.0))
    assert isinstance(reply.content, dict)
    _REPLIES[kind].model_validate(reply.content)
    return reply.content


def said(
    *texts: str, at: datetime = AT, zone: str = "UTC", role: Role = Role.USER, first: int = 0
) -> list[Message]:
    """Return messages of one speaker, as models see them."""
    return [
        Message(f"msg_{first + i}", role, redact(text), occurred_at=at, zone=zone)
        for i, text in enumerate(texts)
    ]


@dataclass
class Memory:
    """Events and graph of one namespace, filled block by block."""

    events: dict[str, EventDraft] = field(default_factory=dict)
    superseded_by: dict[str, str] = field(default_factory=dict)
    conflicts: list[tuple[str, str]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    state: GraphState = field(default_factory=GraphState)

    def block(self, *messages: Message) -> list[EventDraft]:
        """Derive one block: its summary, its events with their links, and the graph."""
        shown = model_view(messages)
        self.summaries.append(summary_of(shown))
        timeline = tuple(self._item(event_id) for event_id in self.events)
        material = ExtractInput(
            block_id="blk",
            sequence=len(self.summaries),
            start_turn=1,
            end_turn=len(shown),
            ended_at=AT,
            zone="UTC",
            messages=shown,
            allowed_source_message_ids=tuple(one.id for one in shown),
            timeline=timeline,
        )
        reply = answer(TaskKind.EXTRACT, material)
        offered = frozenset(item.event_id for item in timeline)
        context = ExtractionContext(shown, offered, stored=tuple(messages))
        found = validate_extraction(reply, context)
        self.rejections += found.rejections
        ids = [self._keep(draft) for draft in found.events]
        if ids:
            self._project(ids)
        return list(found.events)

    def tell(self, *texts: str, at: datetime = AT, zone: str = "UTC") -> list[EventDraft]:
        """Derive one block in which the user says this."""
        return self.block(*said(*texts, at=at, zone=zone, first=100 * len(self.summaries)))

    def event_id(self, words: str) -> str:
        """Return the id of the only event whose summary holds the words."""
        found = [key for key, draft in self.events.items() if words in draft.summary]
        assert len(found) == 1, (words, [draft.summary for draft in self.events.values()])
        return found[0]

    def node(self, name: str) -> Node:
        """Return the node of that name."""
        return next(one for one in self.state.nodes if one.name == name)

    def facts(self, name: str, key: str) -> list[Fact]:
        """Return the facts of a node under a key."""
        node = self.node(name)
        return [one for one in self.state.facts if one.node_id == node.id and one.key == key]

    def current(self, name: str, key: str) -> list[str]:
        """Return the values that hold now."""
        found = [one.value for one in self.facts(name, key) if one.status == "active"]
        return [value for value in found if isinstance(value, str)]

    def edges(self) -> set[tuple[str, str, str]]:
        """Return the relations that hold now, by names."""
        names = {one.id: one.name for one in self.state.nodes}
        return {
            (names[one.from_node_id], one.relation, names[one.to_node_id])
            for one in self.state.edges
            if one.status == "active"
        }

    def _keep(self, draft: EventDraft) -> str:
        event_id = f"evt_{len(self.events) + 1:03d}"
        self.events[event_id] = draft
        self.superseded_by |= dict.fromkeys(draft.supersedes_event_ids, event_id)
        self.conflicts += [(event_id, other) for other in draft.conflicts_with_event_ids]
        return event_id

    def _status(self, event_id: str) -> str:
        return "superseded" if event_id in self.superseded_by else "active"

    def _item(self, event_id: str) -> TimelineItem:
        draft = self.events[event_id]
        status = self._status(event_id)
        return TimelineItem(
            event_id, draft.title, draft.summary, status, draft.scope.value, draft.time
        )

    def _project(self, ids: Sequence[str]) -> None:
        events = tuple(project_event(one, self.events[one], self._status(one)) for one in ids)
        sources = {one: self._source(one) for one in self.events}
        job_ids = frozenset(ids)
        reply = answer(TaskKind.PROJECT, ProjectInput(events, self._known()))
        proposal, refused = validate_proposal(reply, events=sources, job_event_ids=job_ids)
        assert refused == ()
        numbers = iter(range(len(self.state.nodes) * 1000, 10**9))
        result = fold(
            self.state,
            proposal,
            events=sources,
            job_event_ids=job_ids,
            now=AT,
            new_id=lambda kind: f"{kind}_{len(self.summaries):03d}_{next(numbers):06d}",
        )
        self.state = apply_changes(self.state, result.changes)

    def _known(self) -> tuple[KnownNode, ...]:
        return tuple(
            KnownNode(
                node.id,
                node.name,
                node.type.value,
                facts=tuple(
                    KnownFact(one.key, one.value, one.status == "active")
                    for one in self.state.facts
                    if one.node_id == node.id
                ),
            )
            for node in self.state.nodes
        )

    def _source(self, event_id: str) -> SourceEvent:
        time = self.events[event_id].time
        return SourceEvent(
            id=event_id,
            status=self._status(event_id),
            said_at=time.mentioned_at or AT,
            is_plan=time.status == "planned",
            superseded_by=self.superseded_by.get(event_id),
        )


def project_event(event_id: str, draft: EventDraft, status: str = "active") -> ProjectEvent:
    """Return an event as the projection is shown it."""
    return ProjectEvent(
        event_id=event_id,
        title=draft.title,
        summary=draft.summary,
        event_type=draft.event_type.value,
        status=status,
        scope=draft.scope.value,
        time=draft.time,
        participants=draft.participants,
        tags=draft.tags,
        quotes=tuple(quote.text for quote in draft.quotes),
    )


def summary_of(messages: Sequence[Message]) -> Summary:
    """Return the checked summary of a block."""
    reply = answer(TaskKind.SUMMARIZE, SummarizeInput(tuple(messages)))
    named = {("should_extract" if key == "shouldExtract" else key): reply[key] for key in reply}
    return validate_summary(named, has_content=any(one.content.strip() for one in messages))
