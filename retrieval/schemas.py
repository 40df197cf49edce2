"""What the read side accepts: one model a request, unknown fields refused.

Limits that only bound work are generous; what a domain rule decides is left to the rule.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shared.domain.event_filters import TemporalIntent
from shared.domain.events import EventType
from shared.domain.graph import NodeType

LONGEST_QUERY = 8_000
SMALLEST_REPLY_TOKENS = 200
_MOST = "Most items of the reply."
_AT = "The state that held at this instant, RFC 3339; left out: now."
_ZONE = "IANA name or offset, for times without one."


class Request(BaseModel):
    """The base of every request body."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Span(Request):
    """A span of time, both ends inclusive and either may be left out.

    RFC 3339 with an offset; a date, or a time without offset, is read in `timezone`.
    """

    start: str | None = Field(default=None, alias="from")
    end: str | None = Field(default=None, alias="to")


class Query(Request):
    """What every search has: the words, and the conversation that asks."""

    query: str = Field(
        default="",
        max_length=LONGEST_QUERY,
        description="Names and the words of the thing itself, in any language.",
    )
    thread_id: str | None = Field(
        default=None, description="The conversation that asks; it narrows nothing by itself."
    )


class EventSearch(Query):
    """A search for events; every filter is hard."""

    limit: int = Field(default=6, ge=1, le=100, description=_MOST)
    event_types: list[EventType] = Field(
        default_factory=list, max_length=11, description="Any of these types."
    )
    participants: list[str] = Field(
        default_factory=list, max_length=24, description="All of these take part."
    )
    occurred: Span | None = Field(default=None, description="When it happened.")
    mentioned: Span | None = Field(default=None, description="When it was said.")
    statuses: list[Literal["active", "superseded"]] = Field(
        default_factory=list, description="Any of these; empty: both."
    )
    temporal_intent: TemporalIntent | None = Field(
        default=None, description="Whether the first or the latest is asked for."
    )
    query_time: str | None = Field(
        default=None, description="When the question is asked: 'yesterday' counts from here."
    )
    timezone: str | None = Field(default=None, description=_ZONE)
    max_tokens: int | None = Field(
        default=None,
        ge=SMALLEST_REPLY_TOKENS,
        description="Bounds the serialised reply, in estimated tokens.",
    )


class GraphSearch(Query):
    """A search for graph nodes, as they are now or stood at an instant."""

    limit: int = Field(default=8, ge=1, le=50, description=_MOST)
    node_types: list[NodeType] = Field(
        default_factory=list, max_length=5, description="Any of these types."
    )
    at: str | None = Field(default=None, description=_AT)
    timezone: str | None = Field(default=None, description=_ZONE)


class ElementSearch(Query):
    """A search of the same graph as element cards: facts by mode, edges as relations."""

    limit: int = Field(default=8, ge=1, le=12, description=_MOST)
    name: str | None = Field(
        default=None, max_length=200, description="Part of the element's name or of an alias."
    )
    types: list[NodeType] = Field(
        default_factory=list, max_length=5, description="Any of these types."
    )
    at: str | None = Field(default=None, description=_AT)
    timezone: str | None = Field(default=None, description=_ZONE)


class RawSearch(Query):
    """A search of the source messages, open tail included."""

    limit: int = Field(default=6, ge=1, le=100, description=_MOST)
    scope: Literal["namespace", "session"] = Field(
        default="namespace", description="session: the asking thread alone; namespace: all."
    )


class BlockSearch(Query):
    """A search of blocks by what their messages say."""

    limit: int = Field(default=6, ge=1, le=100, description=_MOST)
    scope: Literal["namespace", "session"] = Field(
        default="namespace", description="session: the asking thread alone; namespace: all."
    )


class NodeExpansion(Request):
    """Which instant a node is shown at; now when absent."""

    at: str | None = Field(default=None, description=_AT)
    timezone: str | None = Field(default=None, description=_ZONE)
    thread_id: str | None = None


class EventExpansion(Request):
    """The conversation that asks."""

    thread_id: str | None = None


class BlockExpansion(Request):
    """A level 0 to 5 or L0 to L5; absent or null means one deeper."""

    level: Any = Field(default=None, description="0-5 or L0-L5; absent: one level deeper.")
    thread_id: str | None = None


class BlockLift(BlockExpansion):
    """An expansion over REST, which people ask for as well."""

    by: Literal["agent", "user"] = Field(
        default="agent", description="Who reads deeper; a block remembers it as `lifted_by`."
    )


class ContextRequest(Request):
    """What a conversation's next turn should know."""

    thread_id: str | None = None
    query: str | None = Field(default=None, max_length=LONGEST_QUERY)
    max_tokens: int = Field(default=900, ge=0, le=100_000)
    max_events: int = Field(default=4, ge=0, le=50)
    max_nodes: int = Field(default=4, ge=0, le=50)


class AssessmentRequest(Request):
    """An agent's judgement of a batch; any JSON type is taken and normalised, never refused."""

    verdict: Any = None
    evidence_refs: Any = None
    fit: Any = None
    missing: Any = None
    next_strategy: Any = None
    question: Any = None


class AnswerRef(Request):
    """The answer in which the evidence was used."""

    thread_id: str | None = None
    turn_receipt_id: str | None = Field(default=None, max_length=200)


class UseRequest(Request):
    """Which evidence of a batch an answer really used; an empty list records that none was."""

    evidence_refs: list[str] = Field(max_length=200)
    receipt_id: str | None = Field(
        default=None, description="Or the Idempotency-Key header; the body's one counts."
    )
    answer: AnswerRef | None = Field(
        default=None, description="The answer's thread and turn, for the audit, where known."
    )
