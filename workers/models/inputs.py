"""The typed material of each model task, redacted and bounded, as the steps load it.

Everything here is data for a model to read; ids are there so that a reply can cite them.
`cuts` counts the earlier replies of the same job that were cut off at the output limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from shared.domain.events import EventTime
from shared.domain.external_memory import Candidate
from shared.domain.turns import Message


@dataclass(frozen=True, slots=True)
class SummarizeInput:
    """One part of one sealed block: the messages as models may see them (D39, D41)."""

    messages: tuple[Message, ...]
    part: int = 1
    parts: int = 1
    language: str | None = None
    cuts: int = 0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The key points of the block before or after the target, as context only."""

    block_id: str
    sequence: int
    start_turn: int
    end_turn: int
    keypoints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """An earlier event that a reply may name in its links; never evidence by itself."""

    event_id: str
    title: str
    summary: str
    status: str
    scope: str
    time: EventTime


@dataclass(frozen=True, slots=True)
class ExtractInput:
    """One part of the target block, and what lies around it.

    `allowed_source_message_ids` are the legal sources of the whole block, the same in every
    part; `zone` holds for messages without one of their own.
    """

    block_id: str
    sequence: int
    start_turn: int
    end_turn: int
    ended_at: datetime
    zone: str
    messages: tuple[Message, ...]
    allowed_source_message_ids: tuple[str, ...]
    previous: Neighbour | None = None
    following: Neighbour | None = None
    timeline: tuple[TimelineItem, ...] = ()
    part: int = 1
    parts: int = 1
    language: str | None = None
    cuts: int = 0


@dataclass(frozen=True, slots=True)
class ProjectEvent:
    """An event of the job: the only legal source of what the graph is told."""

    event_id: str
    title: str
    summary: str
    event_type: str
    status: str
    scope: str
    time: EventTime
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    narrative: str | None = None


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One fact of an existing node."""

    key: str
    value: str | tuple[str, ...]
    is_current: bool


@dataclass(frozen=True, slots=True)
class KnownNode:
    """An existing node that the events may speak of; at most its last 12 facts."""

    node_id: str
    name: str
    type: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownEdge:
    """An existing relation between two of the known nodes, by their ids."""

    from_node_id: str
    relation: str
    to_node_id: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class ProjectInput:
    """The events of one projection, and the part of the graph they may touch."""

    events: tuple[ProjectEvent, ...]
    nodes: tuple[KnownNode, ...] = ()
    edges: tuple[KnownEdge, ...] = ()
    part: int = 1
    parts: int = 1
    language: str | None = None
    cuts: int = 0


@dataclass(frozen=True, slots=True)
class ImportMatch:
    """An event that an imported candidate resembles; the only kind of legal target."""

    event_id: str
    title: str
    summary: str
    status: str
    time: EventTime


@dataclass(frozen=True, slots=True)
class ImportDecideInput:
    """One candidate of an import, and what is remembered already that resembles it, best first."""

    candidate: Candidate
    matches: tuple[ImportMatch, ...]
    part: int = 1
    parts: int = 1
    language: str | None = None
    cuts: int = 0


@dataclass(frozen=True, slots=True)
class ImportRecoverInput:
    """One part of an import's text that is no export as it stands, redacted."""

    text: str
    part: int = 1
    parts: int = 1
    language: str | None = None
    cuts: int = 0
