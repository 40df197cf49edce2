"""What each tool takes: the bodies of its REST route, and beside them the ids of its path."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from retrieval.schemas import (
    AssessmentRequest,
    BlockExpansion,
    EventExpansion,
    NodeExpansion,
    Request,
    UseRequest,
)
from shared.domain.gate import MAX_REFS, MAX_TEXT, Strategy, Verdict

_BATCH = "The batch meant; left out, the latest of this conversation."


class ToolRequest(Request):
    """One call of a tool over REST."""

    namespace: str = Field(description="The namespace to read; the host's choice, not a model's.")
    thread_id: str | None = Field(
        default=None, description="The conversation that asks; it narrows nothing by itself."
    )
    arguments: dict[str, Any] = Field(
        default_factory=dict,
        description="As the tool's parameters say; a null counts as absent.",
    )


class BlocksListing(Request):
    """Which blocks are listed."""

    scope: Literal["session", "namespace"] = Field(
        default="session",
        description="session: this conversation's blocks and those without one; namespace: all.",
    )
    thread_id: str | None = None


class ExpandEvent(EventExpansion):
    """An event to read whole."""

    event_id: str = Field(description="An event_id of a reply, `evt_…`.")


class ExpandNode(NodeExpansion):
    """A graph node to read whole."""

    node_id: str = Field(description="A node_id of a reply, `nod_…`.")


class ExpandElement(NodeExpansion):
    """An element to read whole."""

    element_id: str = Field(description="An element_id of a reply, `nod_…`.")


class ExpandBlock(BlockExpansion):
    """A block to read at another level."""

    block_id: str = Field(description="A block_id of a reply, `blk_…`.")
    level: Any = Field(
        default=None,
        description="0 (title) to 5 (every message); left out, one level deeper than now.",
        json_schema_extra={"type": ["integer", "string", "null"]},
    )


class Assess(AssessmentRequest):
    """A judgement of a batch. The schema says what is meant; other JSON is normalised (D24)."""

    batch_id: str | None = Field(default=None, description=_BATCH)
    verdict: Any = Field(
        default=None,
        description="sufficient: the cited refs answer the question by themselves; partial: they "
        "help and something is missing; wrong: they do not speak of the question.",
        json_schema_extra={"type": "string", "enum": [verdict.value for verdict in Verdict]},
    )
    evidence_refs: Any = Field(
        default=None,
        description="Refs of this batch that carry the answer, copied exactly.",
        json_schema_extra={"type": "array", "items": {"type": "string"}, "maxItems": MAX_REFS},
    )
    fit: Any = Field(
        default=None,
        description=f"How the refs fit the question, in {MAX_TEXT} characters.",
        json_schema_extra={"type": "string"},
    )
    missing: Any = Field(
        default=None,
        description="What is still missing; empty when sufficient.",
        json_schema_extra={"type": "string"},
    )
    next_strategy: Any = Field(
        default=None,
        description="What you do next: answer only with sufficient, else where you look.",
        json_schema_extra={"type": "string", "enum": [strategy.value for strategy in Strategy]},
    )
    question: Any = Field(
        default=None,
        description="The question to be answered, for the advisories.",
        json_schema_extra={"type": "string"},
    )


class RecordUse(UseRequest):
    """What an answer used of a batch."""

    batch_id: str | None = Field(default=None, description=_BATCH)
    evidence_refs: list[str] = Field(
        max_length=200,
        description="The refs that the answer rests on, of those that the sufficient assessment "
        "accepted; empty when it rests on none.",
    )
    receipt_id: str | None = Field(
        default=None,
        description="Makes a repetition safe; left out, the batch's own id stands for it.",
    )
