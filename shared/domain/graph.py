"""The values of the knowledge graph: nodes, labels, facts, edges, and what a fold gives back.

A record names its source events; its `status` and `valid_until` are a cache that the fold
keeps in step. What is current is always a view over records and their sources' status
(graph_view), so forgetting or restoring an event needs no rewrite here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

MAX_REF = 120
MAX_NAME = 160
MAX_RELATION = 100
MAX_KEY = 160
MAX_VALUE = 1200
MAX_ITEMS = 40
MAX_ITEM = 240
MAX_ALIASES = 20
MAX_TAGS = 12
MAX_TAG = 160
MAX_SOURCES = 64
MAX_NODES = 24
MAX_EDGES = 32
MAX_REASON = 500
DEFAULT_CONFIDENCE = 0.8

EVENT_ACTIVE = "active"
EVENT_SUPERSEDED = "superseded"
VISIBLE_EVENT_STATUSES = frozenset({EVENT_ACTIVE, EVENT_SUPERSEDED})
"""An event of another status (forgotten, archived) supports nothing a reader may see."""

Cardinality = Literal["one", "many"]


class NodeType(StrEnum):
    """What a node may be; the same name with another type is another node."""

    PERSON = "person"
    PROJECT = "project"
    ORGANIZATION = "organization"
    TOOL = "tool"
    PLACE = "place"


class RecordStatus(StrEnum):
    """Where a record stands; `archived` is set by people alone and is never shown."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    ARCHIVED = "archived"


class FactMode(StrEnum):
    """How values of one key live together: one at a time, many, or one as a relation (D17)."""

    STATE = "state"
    SET = "set"
    RELATION = "relation"


class LabelKind(StrEnum):
    """What a label is to its node; each needs provenance of its own (D18)."""

    NAME = "name"
    ALIAS = "alias"
    TAG = "tag"


class Stance(StrEnum):
    """How the projector put a record forward; unlike `status` it never changes afterwards."""

    ASSERTED = "asserted"
    CONTESTED = "contested"
    PAST = "past"


@dataclass(frozen=True, slots=True)
class Node:
    """An entity. `name` is the first one it was known by and never changes; `key` is its
    identity key. `source_event_ids` are all events that speak of it, oldest mention first.
    """

    id: str
    type: NodeType
    name: str
    key: str
    status: RecordStatus
    confidence: float
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """A name, alias or tag with its own sources; unique by node, kind and key."""

    id: str
    node_id: str
    kind: LabelKind
    value: str
    key: str
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one key over one unbroken stretch of statements.

    A list said as a `state` stays one value (a tuple); items of a `set` are facts of their own.
    `valid_*` is when it held, `recorded_at` when it was first written (D45).
    """

    id: str
    node_id: str
    mode: FactMode
    key: str
    value: str | tuple[str, ...]
    status: RecordStatus
    valid_from: datetime | None
    valid_until: datetime | None
    recorded_at: datetime
    confidence: float
    source_event_ids: tuple[str, ...]
    stance: Stance = Stance.ASSERTED


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two nodes; only a `one` edge closes its predecessor (D17)."""

    id: str
    from_node_id: str
    to_node_id: str
    relation: str
    cardinality: Cardinality
    status: RecordStatus
    valid_from: datetime | None
    valid_until: datetime | None
    recorded_at: datetime
    confidence: float
    source_event_ids: tuple[str, ...]
    stance: Stance = Stance.ASSERTED


@dataclass(frozen=True, slots=True)
class GraphState:
    """What the store loaded: the nodes matching `proposal_keys` (by name or alias) with all
    their labels and facts and all edges that leave them.
    """

    nodes: tuple[Node, ...] = ()
    labels: tuple[Label, ...] = ()
    facts: tuple[Fact, ...] = ()
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """What the graph needs to know of an event.

    `status` is the event's (active, superseded, forgotten, archived). `is_plan`: something
    intended, not done. `conflicts_with`: events it is in open, unresolved conflict with.
    """

    id: str
    status: str
    said_at: datetime
    happened_start: datetime | None = None
    happened_end: datetime | None = None
    is_plan: bool = False
    superseded_by: str | None = None
    conflicts_with: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """Full records to write; a changed record has the id it had and new content."""

    nodes_added: tuple[Node, ...] = ()
    nodes_changed: tuple[Node, ...] = ()
    labels_added: tuple[Label, ...] = ()
    labels_changed: tuple[Label, ...] = ()
    facts_added: tuple[Fact, ...] = ()
    facts_changed: tuple[Fact, ...] = ()
    edges_added: tuple[Edge, ...] = ()
    edges_changed: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """One item refused: stable `code`, `detail` for people, `item` as a JSON pointer."""

    code: str
    detail: str
    item: str


@dataclass(frozen=True, slots=True)
class FoldResult:
    """Outcome of one fold. `node_ids_by_event`: for each event of the job, the nodes citing it."""

    changes: GraphChanges
    rejections: tuple[Rejection, ...] = ()
    node_ids_by_ref: Mapping[str, str] = field(default_factory=dict)
    node_ids_by_event: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_SPACES = re.compile(r"\s+")
_JOINERS = re.compile(r"[\s_-]+")


def text_key(text: str) -> str:
    """Fold a key, value, tag or relation for comparison: NFKC, lower case, single spaces."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()


def name_key(name: str) -> str:
    """Fold a name for identity: NFKC, lower case, without spaces, underscores and hyphens.

    A name made of nothing else keeps its joiners, so that no name has an empty key.
    """
    folded = unicodedata.normalize("NFKC", name).lower()
    return _JOINERS.sub("", folded) or folded.strip()


def value_key(value: str | tuple[str, ...]) -> str:
    """Fold a fact's value for comparison; the order of a list says nothing."""
    items = (value,) if isinstance(value, str) else value
    return "\x00".join(sorted({text_key(item) for item in items}))
