"""A host's event stream on the wire, tolerant of what hosts send beside it, and its answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ingest.schemas.fields import Labels, NamespaceName, ThreadId, Wire, Zone, rule
from ingest.schemas.turns import AgentIn, Content, TurnErased, TurnIgnored, TurnStored
from shared.domain.tenancy import check_thread

MOST_EVENTS = 20_000
_LONGEST_SESSION = 140


SessionName = Annotated[str, Field(max_length=_LONGEST_SESSION), rule(check_thread)]


def _as_object(key: str) -> BeforeValidator:
    """Take a bare text for an object that holds it."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class Source(BaseModel):
    """Where a user message comes from."""

    model_config = ConfigDict(extra="ignore")

    kind: str = Field(default="user", max_length=100)


class EventAgent(BaseModel):
    """Which agent an event belongs to."""

    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1, max_length=200)
    is_subagent: bool = False


class HostEventIn(BaseModel):
    """One event. Hosts add fields of their own: those that are not listed here are ignored."""

    model_config = ConfigDict(extra="ignore")

    type: str = Field(
        max_length=100,
        description="`turn/start`, `user/message`, `assistant/message`, `tool/call`, "
        "`tool/result` or `turn/end`; others are reported and stored nowhere.",
    )
    occurred_at: str | int | float | None = Field(
        default=None, description="RFC 3339, or milliseconds since 1970-01-01 UTC."
    )
    turn: int | None = Field(
        default=None, ge=0, le=2**53, description="`turn/start`: the turn's number in the session."
    )
    agent: Annotated[EventAgent | None, _as_object("id")] = Field(
        default=None, description="`{id, is_subagent}`; absent: the agent of the request."
    )
    source: Annotated[Source | None, _as_object("kind")] = Field(
        default=None, description="`user/message`: only the kind `user` is said by a person."
    )
    content: Any = Field(default=None, description="Of a message or result: text or parts.")
    call_id: str | None = Field(default=None, max_length=200, description="Of a call and result.")
    name: str | None = Field(default=None, max_length=200, description="The tool's name.")
    arguments: Any = Field(default=None, description="Of a call: an object, or JSON as text.")
    result: Any = Field(default=None, description="Of a result, where it is not in `content`.")
    is_error: bool = Field(default=False, description="Of a result: it tells of a failure.")
    kind: str | None = Field(
        default=None, max_length=100, description="`turn/end`: `completed`, or how it ended."
    )


class HostMessageContent(BaseModel):
    """The content of a message, checked as that of a turn's message is."""

    content: Content = None


class HostEventsIn(Wire):
    """A stretch of a session's stream; what was sent before may be sent again."""

    session: SessionName = Field(
        description="The host's id of the session; turns are stored once a session and number."
    )
    thread_id: ThreadId = Field(default=None, description="Absent: the session's id.")
    first_turn: int = Field(
        default=1,
        ge=0,
        le=2**53,
        description="Number of the first turn here, where `turn/start` does not tell it.",
    )
    timezone: Zone = Field(
        default=None, description="IANA name: of naive times here, and for showing."
    )
    agent: AgentIn | None = Field(
        default=None, description="Whose stream this is, where events do not say otherwise."
    )
    labels: Labels = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    events: list[HostEventIn] = Field(min_length=1, max_length=MOST_EVENTS)


class ScopedHostEventsIn(HostEventsIn):
    """The same, with what the namespace is derived from."""

    scope: Literal["project", "session", "global"] = "project"
    cwd: str | None = Field(
        default=None, max_length=4_096, description="`project`: the absolute working directory."
    )
    name: NamespaceName = Field(default="global", description="`global`: which one.")


class HostTurnItem(Wire):
    """What became of one turn, with the status it would have alone."""

    turn: int
    subagent: str | None
    receipt_id: str
    end: str = Field(description="`completed`, `interrupted`, or what the host says.")
    status: int
    result: TurnStored | TurnErased | TurnIgnored | None = None
    skipped: Literal["no_human_message"] | None = None
    error: dict[str, Any] | None = Field(default=None, description="A problem document.")


class UnfinishedView(Wire):
    """A turn without its end: send it again, whole, when it has ended."""

    turn: int
    subagent: str | None
    first_event: int
    events: int


class UnusedView(Wire):
    """An event that is in no turn."""

    event: int = Field(description="Its place in `events`, from 0.")
    reason: Literal[
        "unknown_type",
        "outside_turn",
        "injected",
        "memory_tool",
        "no_such_call",
        "repeated_result",
    ]


class HostEventsAnswer(Wire):
    """What became of a stream, turn by turn, and of what is in no turn."""

    namespace: str
    thread_id: str
    items: list[HostTurnItem]
    stored: int
    duplicates: int
    ignored: int = Field(description="Turns of sub-agents that the policy does not store.")
    skipped: int = Field(description="Turns in which no person said anything.")
    failed: int
    unfinished: list[UnfinishedView]
    unused_events: list[UnusedView]
