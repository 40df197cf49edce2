"""The values of a validated proposal: what a projector's reply says once the unsound is out."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.graph import Cardinality, FactMode, LabelKind, NodeType, RecordStatus, Stance


@dataclass(frozen=True, slots=True)
class ProposedLabel:
    """An alias or tag with its own provenance."""

    kind: LabelKind
    value: str
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A value for a key of a node; a tuple is a list of values."""

    key: str
    mode: FactMode
    value: str | tuple[str, ...]
    stance: Stance
    confidence: float
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposedNode:
    """A sound node. `source_event_ids` are all events it cites, those of its parts too."""

    ref: str
    name: str
    type: NodeType
    status: RecordStatus
    confidence: float
    name_source_ids: tuple[str, ...]
    source_event_ids: tuple[str, ...]
    labels: tuple[ProposedLabel, ...] = ()
    facts: tuple[ProposedFact, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposedEdge:
    """A sound edge between two nodes of the same reply."""

    from_ref: str
    to_ref: str
    relation: str
    cardinality: Cardinality
    stance: Stance
    confidence: float
    source_event_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is left of a reply after validation."""

    reason: str
    nodes: tuple[ProposedNode, ...] = ()
    edges: tuple[ProposedEdge, ...] = ()
