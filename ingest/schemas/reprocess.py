"""Batch re-derivation on the wire: what is asked for, versions with their progress, and diffs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ingest.schemas.fields import Wire
from shared.domain.jobs import JobKind
from shared.domain.reprocessing import Reprocess, stages_from
from shared.http.problems import field_error

_KINDS = {kind.value: kind for kind in (JobKind.SUMMARIZE, JobKind.EXTRACT, JobKind.PROJECT)}


class ReprocessIn(Wire):
    """What to derive anew, beside what is live."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    stages: list[Literal["summarize", "extract", "project"]] = Field(
        min_length=1,
        max_length=3,
        description="A stage takes those after it along: what rests on it would else be stale.",
    )
    shadow: bool = Field(
        default=True, description="False: switch to the version as soon as it is whole."
    )
    provider: str | None = Field(default=None, min_length=1, max_length=100)
    model: str | None = Field(default=None, min_length=1, max_length=200)
    start: datetime | None = Field(
        default=None,
        alias="from",
        description="Blocks that ended before it keep their events. RFC 3339 with an offset.",
    )
    end: datetime | None = Field(
        default=None, alias="to", description="The same for blocks that ended after it."
    )

    @model_validator(mode="after")
    def _is_coherent(self) -> ReprocessIn:
        if (self.provider is None) != (self.model is None):
            raise field_error("invalid_value", "give provider and model together, or neither")
        for bound in (self.start, self.end):
            if bound is not None and bound.tzinfo is None:
                raise field_error("naive_time", "from and to need an offset (…+02:00)")
        if self.start and self.end and self.end < self.start:
            raise field_error("inverted_window", "to lies before from")
        is_bounded = self.start is not None or self.end is not None
        if is_bounded and set(self.stages) == {"project"}:
            raise field_error(
                "invalid_value",
                "a graph is built from all events: from and to bound summarize and extract",
            )
        return self

    @property
    def asked(self) -> Reprocess:
        """The request in the domain's words."""
        return Reprocess(
            stages=stages_from([_KINDS[one] for one in self.stages]),
            shadow=self.shadow,
            provider=self.provider,
            model=self.model,
            start=self.start,
            end=self.end,
        )


class StepEstimateView(Wire):
    """What one step of the run is expected to cost."""

    kind: str
    jobs: int
    calls: int
    input_tokens: int
    output_tokens: int


class EstimateView(Wire):
    """What the run is expected to cost; `days` under the token budget, null when it never ends."""

    steps: list[StepEstimateView]
    jobs: int
    tokens: int
    days: int | None


class ReprocessStarted(Wire):
    """The version that is built; watch it under `graph-versions`.

    `joined`: it was being built already, and what had failed is tried again.
    """

    graph_version_id: str
    stages: list[str]
    jobs: int
    joined: bool
    estimate: EstimateView
    duplicate: bool


class ProgressView(Wire):
    """Blocks of a version: all, held by it, on their way, and given up by their jobs."""

    total: int
    done: int
    waiting: int
    failed: int


class GraphVersionView(Wire):
    """A version of the graph with the derivation of events that it rests on."""

    graph_version_id: str
    state: Literal["live", "shadow", "retired", "dropped"]
    derivation_version: int
    request: dict[str, Any]
    progress: ProgressView
    is_whole: bool
    counts: dict[str, int]
    created_at: datetime
    switched_at: datetime | None


class GraphVersionPage(Wire):
    """A page of versions, newest first."""

    items: list[GraphVersionView]
    next_cursor: str | None


class ChangeView(Wire):
    """One difference: what it is about, before and after."""

    subject: str
    before: str | None
    after: str | None


class DifferenceView(Wire):
    """Counts, and up to 200 examples of each."""

    added: int
    changed: int
    gone: int
    same: int
    items: dict[str, list[ChangeView]]


class DiffView(Wire):
    """What readers would see change if the version were switched to."""

    graph_version_id: str
    compared_with: str | None
    nodes: DifferenceView
    facts: DifferenceView
    edges: DifferenceView
    events: DifferenceView


class SwitchIn(Wire):
    """How to switch."""

    accept_failed: bool = Field(
        default=False,
        description="Take the version without the blocks whose jobs failed: their events are "
        "carried over and projected later.",
    )


class SwitchedView(Wire):
    """What a switch did. `enqueued`: blocks that became ready since and are projected now."""

    graph_version_id: str
    previous_graph_version_id: str | None
    derivation_version: int
    switched: bool
    enqueued: int
    duplicate: bool


class DroppedView(Wire):
    """What a drop did."""

    graph_version_id: str
    cancelled_jobs: int
    duplicate: bool
