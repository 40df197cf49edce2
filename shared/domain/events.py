"""Events: what was said to have happened, been decided or be true, with its sources (D11-D15).

Values only. An event never changes its text; its status, links and weight are kept beside it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

_SPACES = re.compile(r"\s+")


class EventStatus(StrEnum):
    """Where an event stands; only active and superseded ones are ever found."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"


class Criticality(StrEnum):
    """How much it would hurt to let an event fade, from least to most."""

    ROUTINE = "routine"
    PREFERENCE = "preference"
    IDENTITY = "identity"
    SAFETY = "safety"


class Scope(StrEnum):
    """For whom an event holds."""

    USER = "user"
    PROJECT = "project"
    SESSION = "session"


class EventType(StrEnum):
    """The eleven kinds of event."""

    RELEASE = "release"
    DECISION = "decision"
    TASK_COMPLETED = "task_completed"
    PLAN = "plan"
    CHANGE = "change"
    CANCELLATION = "cancellation"
    INCIDENT = "incident"
    MEETING = "meeting"
    COLLABORATION = "collaboration"
    MIGRATION = "migration"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words taken verbatim from one message."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class EventTime:
    """When an event was said and when it happened.

    `mentioned_at` is the cited message's time, aware and in UTC, or None where nobody knows it
    (an import without one); `zone` is what it was given in. `happened_*` are days (inclusive)
    or aware instants, None when they cannot be derived. `precision` is one of instant, day,
    month, year, range, unknown; `basis` one of explicit, relative, unknown; `status` one of
    occurred, planned, ongoing, cancelled, unknown. `original_text` are the source's own words.
    """

    mentioned_at: datetime | None
    zone: str = "UTC"
    happened_start: date | datetime | None = None
    happened_end: date | datetime | None = None
    precision: str = "unknown"
    basis: str = "unknown"
    status: str = "unknown"
    original_text: str | None = None


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event that passed validation and has no id yet.

    `source_message_ids` holds legal ids only, at least one. The id lists name existing events,
    and only ones that were offered to the call that made the draft.
    """

    title: str
    summary: str
    source_message_ids: tuple[str, ...]
    time: EventTime
    narrative: str | None = None
    tags: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    scope: Scope = Scope.USER
    criticality: Criticality = Criticality.ROUTINE
    category: str | None = None
    event_type: EventType = EventType.OTHER
    participants: tuple[str, ...] = ()
    supersedes_event_ids: tuple[str, ...] = ()
    conflicts_with_event_ids: tuple[str, ...] = ()
    before_event_ids: tuple[str, ...] = ()
    after_event_ids: tuple[str, ...] = ()
    related_event_ids: tuple[str, ...] = ()
    same_event_id: str | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def fingerprint(self) -> str:
        """Return the key under which exact repetitions meet."""
        return fingerprint(self.title, self.summary)


def fingerprint(title: str, summary: str) -> str:
    """Return the normalised title and summary, joined by NUL; equal keys are one statement."""
    return f"{normalised(title)}\0{normalised(summary)}"


def normalised(text: str) -> str:
    """Return the text under NFKC, lower-cased, with whitespace runs folded to one space."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()
