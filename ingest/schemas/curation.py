"""Curation on the wire: what is changed of an event, and how a contradiction is settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from ingest.schemas.fields import ReceiptId, Wire
from shared.domain.curation import ConflictState
from shared.domain.events import Criticality
from shared.http.problems import field_error

_REASON = Field(
    default=None,
    max_length=500,
    description="Why, for the audit; it is kept, so it should not repeat what was forgotten.",
)
_EXPECTED = Field(
    default=None,
    ge=0,
    description="The revision this decision rests on; 409 `stale_revision` when it has moved on.",
)


class CurationPatch(Wire):
    """What to change of an event; fields left out stay. Its text can never be changed."""

    status: Literal["active", "forgotten", "archived"] | None = Field(
        default=None,
        description="`active` gives back the status it had before it was set aside.",
    )
    pinned: bool | None = Field(default=None, description="A pinned event weighs 1.")
    criticality: Criticality | None = None
    reason: str | None = _REASON
    expected_revision: int | None = _EXPECTED

    @model_validator(mode="after")
    def _changes_something(self) -> CurationPatch:
        if self.status is None and self.pinned is None and self.criticality is None:
            raise field_error("missing_field", "give status, pinned or criticality")
        return self


class CurationView(Wire):
    """How an event stands after a curation."""

    event_id: str
    status: str
    status_before: str | None = Field(description="What restoring it would give back.")
    superseded_by: str | None
    pinned: bool
    criticality: str
    weight: float
    curation_revision: int
    changed: bool = Field(description="False: it stood like that already; nothing was written.")
    audit_id: str | None


class ConflictMessage(Wire):
    """A source message of one side, redacted."""

    message_id: str
    turn_id: str
    thread_id: str
    role: str
    name: str | None
    content: str = Field(description="At most 500 characters of it.")
    occurred_at: datetime | None


class ConflictQuote(Wire):
    """Words taken verbatim from one message."""

    message_id: str
    text: str


class ConflictSide(Wire):
    """One of the two events; null texts when it is no longer there."""

    event_id: str
    status: str | None
    title: str | None
    summary: str | None
    superseded_by: str | None
    mentioned_at: datetime | None
    quotes: list[ConflictQuote]
    source_messages: list[ConflictMessage]


class Resolution(Wire):
    """What a person decided: `keep` is an event's id, or `both`."""

    keep: str
    reason: str | None
    key_id: str | None
    decided_at: datetime


class ConflictView(Wire):
    """A contradiction with both sides, the older event first."""

    conflict_id: str
    state: ConflictState
    closed_reason: str | None = Field(
        description="`event_forgotten`, `event_archived`, `event_superseded`, `event_removed`, "
        "`version_not_live` or `link_removed`."
    )
    events: list[ConflictSide]
    resolution: Resolution | None
    revision: int
    created_at: datetime


class ConflictPage(Wire):
    """A page of contradictions, newest first."""

    items: list[ConflictView]
    next_cursor: str | None


class ResolveIn(Wire):
    """How to settle a contradiction: give `keep`, or `reopen` to take a decision back."""

    keep: str | None = Field(
        default=None,
        max_length=100,
        description="The id of the event that holds, which then supersedes the other; or `both`.",
    )
    reopen: bool = False
    reason: str | None = _REASON
    expected_revision: int | None = _EXPECTED
    receipt_id: ReceiptId | None = Field(
        default=None, description="Or the Idempotency-Key header; the body's one counts."
    )

    @model_validator(mode="after")
    def _is_one_wish(self) -> ResolveIn:
        if self.keep is None and not self.reopen:
            raise field_error("missing_field", "give keep (an event's id or 'both'), or reopen")
        if self.keep is not None and self.reopen:
            raise field_error("invalid_value", "give keep or reopen, not both")
        return self

    def content(self) -> dict[str, Any]:
        """Return what makes two requests the same request."""
        return self.model_dump(mode="json", exclude={"receipt_id"})


class ConflictResolved(ConflictView):
    """A contradiction after a decision. `changed` false: it was settled like that already."""

    changed: bool
    duplicate: bool
