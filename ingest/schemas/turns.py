"""A turn as platforms post it: OpenAI chat messages as they are, and a little around them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from ingest.schemas.fields import Labels, ReceiptId, ThreadId, Wire, Zone, parse_instant
from shared.errors import InvalidInput
from shared.http.problems import field_error

MOST_MESSAGES = 1_000
_PARTS = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}


def _check_content(content: Any) -> Any:
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise field_error("invalid_value", "content is a string, a list of parts, or null")
    for position, part in enumerate(content):
        if not isinstance(part, str | dict):
            raise field_error("invalid_value", f"part {position} is neither a string nor an object")
    return content


Content = Annotated[
    Any,
    AfterValidator(_check_content),
    WithJsonSchema({"anyOf": [{"type": "string"}, _PARTS, {"type": "null"}]}),
]


class MessageIn(Wire):
    """One message. The fields of OpenAI's chat messages are accepted, also those left unused."""

    role: Literal["user", "assistant", "tool", "system", "developer", "function"] = Field(
        description="`developer` is stored as system, `function` as tool."
    )
    content: Content = Field(default=None, description="Text, content parts, or null.")
    name: str | None = Field(default=None, max_length=200)
    tool_calls: list[Any] | None = Field(
        default=None,
        description="`{name, arguments?, result?}` or OpenAI's `{id, type, function}`.",
    )
    tool_call_id: str | None = Field(default=None, max_length=200)
    occurred_at: str | None = Field(
        default=None, description="RFC 3339; absent: the time of the turn."
    )
    origin: Literal["human", "model", "tool", "injected"] | None = Field(
        default=None, description="`injected` context never counts as said by a person."
    )
    metadata: dict[str, Any] = Field(default_factory=dict)
    function_call: dict[str, Any] | None = Field(
        default=None, description="OpenAI's older form of a tool call; stored as one."
    )
    refusal: str | None = Field(default=None, description="Stands in for absent content.")
    audio: dict[str, Any] | None = Field(default=None, description="Only its transcript is kept.")
    annotations: list[Any] | None = Field(default=None, description="Accepted, not stored.")
    reasoning: Any = Field(default=None, description="Accepted, not stored.")
    reasoning_content: Any = Field(default=None, description="Accepted, not stored.")


class AgentIn(Wire):
    """Which agent the turn belongs to."""

    id: str = Field(min_length=1, max_length=200)
    is_subagent: bool = False


class TurnIn(Wire):
    """One completed turn: at least one user message with text in it (D2, D41)."""

    thread_id: ThreadId = Field(
        default=None, description="Absent: the turn joins the group addressed as `unthreaded`."
    )
    receipt_id: ReceiptId | None = Field(
        default=None,
        description="Yours; the same again gets the first answer. Required, unless the turn is "
        "posted alone with an Idempotency-Key header.",
    )
    timezone: Zone = Field(
        default=None, description="IANA name: of naive times here, and for showing."
    )
    occurred_at: str | None = Field(
        default=None, description="RFC 3339; absent: the arrival, told by `time_basis`."
    )
    messages: list[MessageIn] = Field(min_length=1, max_length=MOST_MESSAGES)
    agent: AgentIn | None = None
    labels: Labels = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("occurred_at")
    @classmethod
    def _is_instant(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None or "timezone" not in info.data:
            return value
        try:
            parse_instant(value, info.data["timezone"], "")
        except InvalidInput as error:
            raise field_error(error.code, error.errors[0].message) from error
        return value


class TurnStored(Wire):
    """The answer to a turn: it is durable when this leaves."""

    turn_id: str
    thread_id: str = Field(description="`unthreaded` for turns without a thread.")
    sequence: int = Field(description="Number of the turn in its thread, from 1.")
    duplicate: bool
    open_tail_turns: int = Field(description="Turns of the thread that are in no block yet.")
    sealed_block_ids: list[str]
    time_basis: Literal["given", "received"]
    erased: bool = Field(default=False, description="True when the turn has been erased since.")


class TurnErased(Wire):
    """The answer to a replay of a turn that was erased, whatever the replay says (D42)."""

    duplicate: Literal[True]
    erased: Literal[True]


class TurnIgnored(Wire):
    """The answer to a sub-agent's turn where the policy does not store those."""

    stored: Literal[False] = False
    reason: Literal["subagent"] = "subagent"
    thread_id: str
    duplicate: bool = False


class BatchItem(Wire):
    """What became of one item: its turn, or its problem, with the status it would have alone."""

    index: int
    status: int
    turn: TurnStored | TurnErased | TurnIgnored | None = None
    error: dict[str, Any] | None = Field(default=None, description="A problem document.")


class BatchAnswer(Wire):
    """One result an item, in order."""

    items: list[BatchItem]
    stored: int
    duplicates: int
    ignored: int
    failed: int


class Sealed(Wire):
    """The answer to sealing by hand."""

    thread_id: str
    sealed_block_ids: list[str]
    open_tail_turns: int
    duplicate: bool
