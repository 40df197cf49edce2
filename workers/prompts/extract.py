"""The prompt of the extract step: events of one block, each with its sources."""

from __future__ import annotations

from typing import Any, Final, Literal

from shared.domain.events import Criticality, EventType, Scope
from workers.models.inputs import ExtractInput, Neighbour
from workers.models.port import Prompt
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    message_view,
    moment,
    rules_of,
    time_view,
)

VERSION: Final = "extract/1"


class QuoteReply(ReplyModel):
    """Words copied from one message."""

    message_id: str
    text: str


class TemporalReply(ReplyModel):
    """When it happened, as the source words it, and how it relates to earlier events."""

    happened_start: str | None
    happened_end: str | None
    original_text: str | None
    precision: Literal["instant", "day", "month", "year", "range", "unknown"]
    basis: Literal["explicit", "relative", "unknown"]
    status: Literal["occurred", "planned", "ongoing", "cancelled", "unknown"]
    event_type: EventType
    participants: list[str]
    same_event_id: str | None
    supersedes_event_ids: list[str]
    conflicts_with_event_ids: list[str]
    before_event_ids: list[str]
    after_event_ids: list[str]
    related_event_ids: list[str]


class EventReply(ReplyModel):
    """One proposed event."""

    title: str
    summary: str
    narrative: str | None
    tags: list[str]
    quotes: list[QuoteReply]
    source_message_ids: list[str]
    scope: Scope
    criticality: Criticality
    category: str | None
    temporal: TemporalReply


class ExtractReply(ReplyModel):
    """What the extractor answers."""

    should_extract: bool
    reason: str
    events: list[EventReply]


_SYSTEM: Final = f"""\
You draw lasting memories out of one finished stretch of a conversation, the target. A memory is \
an event: one thing that was said to have happened, been decided, planned, preferred or be true.

{DATA_RULE}

What counts
- Only messages of the target are evidence. Neighbouring key points and the timeline of earlier \
events are there to understand references; never make an event out of them. When somebody merely \
retells something that the timeline already holds, that is no new event.
- Be generous with what people say about themselves, their wishes, corrections and rules. Be \
strict with steps of the process: keep a result, not the way to it.
- One thing an event, understandable without the conversation: replace pronouns by names.
- Keep certainty and speaker. A plan is not a result, a proposal of the assistant is not a \
decision, a question is not a fact. What only the assistant says about a person is no fact about \
that person.

How to write an event
- title: up to about ten words. summary: one to three sentences with names, numbers and places. \
narrative: only where the story needs more room, else null.
- sourceMessageIds: ids of the messages it rests on, taken from allowedSourceMessageIds; at least \
one.
- quotes: the decisive words, copied character by character from a cited message, with its id.
- scope: user where it holds for the person everywhere, project where it holds for the work at \
hand, session for a one-off request. Be cautious: a wish for the moment is session.
- criticality: safety for what may harm a person when forgotten, identity for who a person is, \
preference for tastes and standing rules, else routine. category: a short word for the kind, or \
null.
- temporal: originalText holds the source's own words about when it happened, verbatim, or null. \
happenedStart and happenedEnd are ISO 8601 dates or times with offset, worked out from those words \
and the time of the message; the time of saying is not the time of happening. Where the words give \
no time, use null with precision and basis unknown. Never guess a date.
- temporal.participants: the full names of those involved, as the conversation knows them.
- temporal.eventType: one of the listed words; other where none fits.
- Links name ids of the timeline only, and only on explicit words: sameEventId when it says the \
same again, supersedesEventIds when it replaces what was true, conflictsWithEventIds when both \
cannot be true and neither clearly replaces the other.

If the target holds nothing worth keeping, answer shouldExtract false with no events and the \
reason. If it does, answer shouldExtract true with at least one event.

{REPLY_RULE}"""


def render(material: ExtractInput) -> Prompt:
    """Return the prompt for one part of a block."""
    payload: dict[str, Any] = {
        "target": {
            "blockId": material.block_id,
            "sequence": material.sequence,
            "startTurn": material.start_turn,
            "endTurn": material.end_turn,
            "endedAt": moment(material.ended_at, material.zone),
            "messages": [message_view(message) for message in material.messages],
        },
        "allowedSourceMessageIds": list(material.allowed_source_message_ids),
        "neighbours": {
            "previous": _neighbour(material.previous),
            "next": _neighbour(material.following),
        },
        "timeline": [
            {
                "id": item.event_id,
                "title": item.title,
                "summary": item.summary,
                "status": item.status,
                "scope": item.scope,
                "temporal": time_view(item.time),
            }
            for item in material.timeline
        ],
    }
    user = "\n".join([*rules_of(material), data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def _neighbour(neighbour: Neighbour | None) -> dict[str, Any] | None:
    if neighbour is None:
        return None
    return {
        "blockId": neighbour.block_id,
        "sequence": neighbour.sequence,
        "startTurn": neighbour.start_turn,
        "endTurn": neighbour.end_turn,
        "keypoints": list(neighbour.keypoints),
    }
