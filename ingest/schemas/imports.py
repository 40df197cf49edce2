"""Imports of external memory on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ingest.schemas.fields import Wire
from shared.http.problems import field_error

Action = Literal["ADD", "MERGE", "SUPERSEDE", "CONFLICT", "IGNORE"]
Status = Literal[
    "extracting",
    "processing",
    "awaiting_confirmation",
    "ready",
    "failed",
    "committed",
    "undone",
]
EventId = Annotated[str, Field(max_length=100)]


class ImportIn(Wire):
    """What another assistant remembers: as text (as it was pasted), or as JSON."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    text: str | None = Field(default=None, description="The export as it was pasted.")
    document: dict[str, Any] | list[Any] | None = Field(
        default=None, alias="json", description="The export as JSON; give either this or `text`."
    )
    source: Literal["auto", "stratagate", "mem0"] = Field(
        default="auto", description="Whose format it is in; `auto` finds out."
    )
    top_k: int = Field(
        default=5, ge=1, le=20, description="How many existing memories a candidate is shown with."
    )

    @model_validator(mode="after")
    def _is_one(self) -> ImportIn:
        if (self.text is None) == (self.document is None):
            raise field_error("invalid_value", "give either text or json")
        return self


class SkippedView(Wire):
    """An item of the file that is no candidate; `index` counts from 0."""

    index: int
    code: Literal["not_an_object", "incomplete", "empty", "over_limit"]


class ImportBegun(Wire):
    """The import to watch; nothing is written before it is confirmed."""

    import_id: str
    namespace: str
    status: Status
    candidates: int
    undecided: int = Field(description="Candidates that a decider has yet to look at.")
    skipped: list[SkippedView]
    duplicate: bool


class ImportTimeView(Wire):
    """When a memory was said and when it happened; a time that is no real date is words."""

    mentioned_at: str | None
    happened_start: str | None
    happened_end: str | None
    precision: str
    basis: str
    status: str
    original_text: str | None


class ImportMatchView(Wire):
    """An existing memory that a candidate resembles; one that is hidden by now has no words."""

    event_id: str
    score: float
    title: str | None
    summary: str | None
    status: str | None


class MergedView(Wire):
    """The one text that takes the place of several."""

    title: str
    summary: str


class DecisionView(Wire):
    """What is done with a candidate. `proposed`: what the decider asked for, followed or not."""

    action: Action
    confidence: float
    existing_event_ids: list[str]
    reason: str | None
    proposed: str | None
    rejected_event_ids: list[str] = Field(description="Ids that it had no right to name.")
    merged: MergedView | None


class ImportJobView(Wire):
    """The job about one part of an import; a dead one can be retried."""

    job_id: str
    state: str
    reason: str | None


class CandidateView(Wire):
    """One candidate. `answer` and `event_id` are there once the import is committed."""

    index: int
    is_erased: bool = Field(description="An erasure took its words.")
    title: str | None = None
    summary: str | None = None
    narrative: str | None = None
    memory_kind: str | None = None
    category: str | None = None
    scope: str | None = None
    criticality: str | None = None
    tags: list[str] = Field(default_factory=list)
    quotes: list[str] = Field(default_factory=list)
    provenance: str | None = Field(
        default=None, description="Where it came from, such as `external:mem0:3f0`."
    )
    time: ImportTimeView | None = None
    matches: list[ImportMatchView]
    decision: DecisionView | None
    requires_confirmation: bool
    answer: DecisionView | None
    event_id: str | None
    job: ImportJobView | None


class ImportProgress(Wire):
    """How many candidates there are, are decided, and wait for a person; actions by count."""

    total: int
    decided: int
    awaiting_confirmation: int
    actions: dict[str, int]


class SourceBlockView(Wire):
    """The block that keeps the import's text for good; no page but this shows an undone one."""

    block_id: str
    thread_id: str
    status: Literal["ready", "undone"]
    title: str
    tags: list[str]
    text: str


class ImportView(Wire):
    """An import: where it stands, and its preview candidate by candidate."""

    import_id: str
    namespace: str
    status: Status
    source: Literal["stratagate", "mem0", "recovered"]
    is_recovered: bool = Field(description="Read by a model: every candidate waits for a person.")
    top_k: int
    progress: ImportProgress
    candidates: list[CandidateView]
    skipped: list[SkippedView]
    jobs: list[ImportJobView] = Field(description="The jobs of what is not decided yet.")
    source_block: SourceBlockView | None
    created_at: datetime
    committed_at: datetime | None
    undone_at: datetime | None


class MergedIn(Wire):
    """The text that takes the place of the candidate's own."""

    title: str = Field(min_length=1, max_length=160)
    summary: str = Field(min_length=1, max_length=2000)


class DecisionIn(Wire):
    """A person's decision about one candidate; it overrules what was proposed."""

    candidate_index: int = Field(ge=0, le=10_000)
    action: Action
    existing_event_ids: list[EventId] = Field(
        default_factory=list,
        max_length=20,
        description="Of the candidate's matches; for MERGE, SUPERSEDE and CONFLICT at least one.",
    )
    merged: MergedIn | None = Field(default=None, description="For MERGE; absent: as proposed.")


class ConfirmIn(Wire):
    """The answers to what waits for a person."""

    decisions: list[DecisionIn] = Field(default_factory=list, max_length=200)
    ignore_unanswered: bool = Field(
        default=False,
        description="Leave out what waits for a person and has no answer; else that is a 409.",
    )


class RefusedLinkView(Wire):
    """A link that was not made, such as to an event that was said later."""

    event_id: str
    code: str


class ImportCommitted(Wire):
    """What a commit wrote."""

    import_id: str
    status: Literal["committed"]
    actions: dict[str, int]
    event_ids: list[str]
    superseded_event_ids: list[str]
    refused_links: list[RefusedLinkView]
    source_block_id: str | None
    job_id: str | None = Field(description="The one projection of the import's events.")
    duplicate: bool


class ImportUndone(Wire):
    """What an undo took back; the second one takes nothing."""

    import_id: str
    status: Literal["undone"]
    already_undone: bool
    removed_event_ids: list[str]
    restored_event_ids: list[str]
    source_block_id: str | None
    duplicate: bool


class ImportPrompt(Wire):
    """The words to paste into the other assistant."""

    language: Literal["en", "zh"]
    format: str
    prompt: str
