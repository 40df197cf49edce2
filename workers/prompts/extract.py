"""The prompt of the extract step: events of one block, each with its sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from shared.domain.events import Criticality, EventType, Scope
from shared.domain.turns import Message, Role
from workers.models.inputs import ExtractInput, Neighbour
from workers.models.port import Prompt, ReplyRoom
from workers.models.reply_schema import COUNTED_BY, NAMED_BY
from workers.prompts.aliases import Aliases
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

VERSION: Final = "extract/2"
_FEWEST_EVENTS: Final = 4
_MOST_EVENTS: Final = 24

Said = Annotated[str, Field(json_schema_extra={NAMED_BY: "message"})]
Earlier = Annotated[str, Field(json_schema_extra={NAMED_BY: "event"})]


class QuoteReply(ReplyModel):
    """Words copied from one message."""

    message_id: Said
    text: str = Field(max_length=240)


class TemporalReply(ReplyModel):
    """When it happened, in the source's words, and how it relates to earlier events.

    Dates are derived from the words by code, so they are taken where they come and not asked for.
    """

    original_text: str | None = Field(max_length=120)
    status: Literal["occurred", "planned", "ongoing", "cancelled", "unknown"]
    event_type: EventType
    participants: list[Annotated[str, Field(max_length=60)]] = Field(max_length=8)
    same_event_id: Earlier | None
    supersedes_event_ids: list[Earlier] = Field(max_length=4)
    conflicts_with_event_ids: list[Earlier] = Field(max_length=4)
    related_event_ids: list[Earlier] = Field(max_length=4)
    before_event_ids: list[Earlier] = Field(default_factory=list)
    after_event_ids: list[Earlier] = Field(default_factory=list)
    happened_start: str | None = None
    happened_end: str | None = None
    precision: Literal["instant", "day", "month", "year", "range", "unknown"] = "unknown"
    basis: Literal["explicit", "relative", "unknown"] = "unknown"


class EventReply(ReplyModel):
    """One proposed event. A narrative is taken where one comes."""

    source_message_ids: list[Said] = Field(min_length=1, max_length=6)
    title: str = Field(max_length=120)
    summary: str = Field(max_length=600)
    narrative: str | None = None
    tags: list[Annotated[str, Field(max_length=40)]] = Field(max_length=4)
    quotes: list[QuoteReply] = Field(max_length=3)
    scope: Scope
    criticality: Criticality
    category: Annotated[str, Field(max_length=40)] | None
    temporal: TemporalReply


class ExtractReply(ReplyModel):
    """What the extractor answers."""

    should_extract: bool
    reason: str = Field(max_length=240)
    events: list[EventReply] = Field(json_schema_extra={COUNTED_BY: "events"})


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
- sourceMessageIds: ids of the messages it rests on, taken from allowedSourceMessageIds; at least \
one.
- title: up to about ten words. summary: one to three sentences with names, numbers and places.
- quotes: the decisive words, copied character by character from a cited message, with its id.
- scope: user where it holds for the person everywhere, project where it holds for the work at \
hand, session for a one-off request. Be cautious: a wish for the moment is session.
- criticality: safety for what may harm a person when forgotten, identity for who a person is, \
preference for tastes and standing rules, else routine. category: a short word for the kind, or \
null.
- temporal.originalText: only the words that tell when it happened, such as "last Friday", copied \
character by character, or null where none do. The date is worked out from them; never write one \
yourself.
- temporal.participants: the full names of those involved, as the conversation knows them.
- temporal.eventType: one of the listed words; other where none fits.
- Links name ids of the timeline only, and only on explicit words: sameEventId when it says the \
same again, supersedesEventIds when it replaces what was true, conflictsWithEventIds when both \
cannot be true and neither clearly replaces the other. Without a timeline there are none.

If the target holds nothing worth keeping, answer shouldExtract false with no events and the \
reason. If it does, answer shouldExtract true with at least one event.

{REPLY_RULE}"""


def render(material: ExtractInput) -> Prompt:
    """Return the prompt for one part of a block, with short names for ids."""
    said, earlier = said_of(material).by_id, earlier_of(material).by_id
    payload: dict[str, Any] = {
        "target": {
            "startTurn": material.start_turn,
            "endTurn": material.end_turn,
            "endedAt": moment(material.ended_at, material.zone),
            "messages": [_message(message, said) for message in material.messages],
        },
        "allowedSourceMessageIds": list(said.values()),
        "neighbours": {
            "previous": _neighbour(material.previous),
            "next": _neighbour(material.following),
        },
        "timeline": [
            {
                "id": earlier[item.event_id],
                "title": item.title,
                "summary": item.summary,
                "status": item.status,
                "scope": item.scope,
                "temporal": time_view(item.time),
            }
            for item in material.timeline
        ],
    }
    most = most_events(material)
    rule = f"Give at most {most} events, the weightiest first; what belongs together is one event."
    user = "\n".join([*rules_of(material), rule, data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def room_of(material: ExtractInput) -> ReplyRoom:
    """Return what a reply about one part may cite and how many events it may hold."""
    names = {"message": said_of(material).names, "event": earlier_of(material).names}
    return ReplyRoom(names, {"events": most_events(material)})


def said_of(material: ExtractInput) -> Aliases:
    """Return the names of the block's legal sources, the same in every part."""
    return Aliases.of("m", material.allowed_source_message_ids)


def earlier_of(material: ExtractInput) -> Aliases:
    """Return the names of the timeline's events."""
    return Aliases.of("e", (item.event_id for item in material.timeline))


def most_events(material: ExtractInput) -> int:
    """Return how many events a part may become: one for each thing that a person said, 4 to 24."""
    spoken = {one.id for one in material.messages if one.role is Role.USER}
    return min(_MOST_EVENTS, max(_FEWEST_EVENTS, len(spoken)))


def _message(message: Message, names: Mapping[str, str]) -> dict[str, Any]:
    """Return what a model reads of a message; one that cannot be cited has no id."""
    named = {"id": names[message.id]} if message.id in names else {}
    return {**named, **message_view(message)}


def _neighbour(neighbour: Neighbour | None) -> dict[str, Any] | None:
    if neighbour is None:
        return None
    return {
        "startTurn": neighbour.start_turn,
        "endTurn": neighbour.end_turn,
        "keypoints": list(neighbour.keypoints),
    }
