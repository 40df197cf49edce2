"""A small store in memory for the graph's tests: fold replies one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.domain.graph import FoldResult, GraphState, Rejection, SourceEvent
from shared.domain.graph_fold import apply_changes, fold
from shared.domain.graph_proposal import validate_proposal
from shared.domain.graph_view import NodeView, node_views

START = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    """Return a day counted from the first of January 2026."""
    return START + timedelta(days=number)


def event(event_id: str, said: int, **fields: Any) -> SourceEvent:
    """Make an active event said on that day."""
    return SourceEvent(event_id, fields.pop("status", "active"), day(said), **fields)


def node(name: str, source: str, *, kind: str = "project", **parts: Any) -> dict[str, Any]:
    """Make a reply's node with provenance for its name; its ref is its name."""
    return {
        "ref": name,
        "name": name,
        "type": kind,
        "metadataProvenance": {"name": [source], **parts.pop("provenance", {})},
        "sourceEventIds": [source],
        **parts,
    }


def fact(key: str, value: Any, *sources: str, **parts: Any) -> dict[str, Any]:
    """Make a reply's fact."""
    return {"key": key, "value": value, "sourceEventIds": list(sources), **parts}


def edge(start: str, relation: str, end: str, source: str, **parts: Any) -> dict[str, Any]:
    """Make a reply's edge."""
    return {
        "fromRef": start,
        "toRef": end,
        "relation": relation,
        "sourceEventIds": [source],
        **parts,
    }


def reply(*nodes: Mapping[str, Any], edges: Iterable[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Make a reply."""
    return {"reason": "", "nodes": list(nodes), "edges": list(edges)}


@dataclass
class Graph:
    """One namespace's graph, with its events."""

    events: dict[str, SourceEvent] = field(default_factory=dict)
    state: GraphState = field(default_factory=GraphState)
    rejections: tuple[Rejection, ...] = ()
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def know(self, *events: SourceEvent) -> Graph:
        """Add events or replace them."""
        self.events |= {e.id: e for e in events}
        return self

    def set_status(self, event_id: str, status: str, **fields: Any) -> None:
        """Change an event's status, as curation or supersession does."""
        self.events[event_id] = replace(self.events[event_id], status=status, **fields)

    def project(self, said: Mapping[str, Any], *job_event_ids: str) -> FoldResult:
        """Validate and fold a reply over these events (all known ones when none is named)."""
        job = frozenset(job_event_ids or self.events)
        proposal, refused = validate_proposal(said, events=self.events, job_event_ids=job)
        result = fold(
            self.state,
            proposal,
            events=self.events,
            job_event_ids=job,
            now=day(300),
            new_id=lambda kind: f"{kind}_{next(self._ids):04d}",
        )
        self.state = apply_changes(self.state, result.changes)
        self.rejections = (*refused, *result.rejections)
        return result

    def view(self, name: str, *, at: datetime | None = None) -> NodeView:
        """Return the view of the node shown under that name."""
        return {v.name: v for v in self.views(at=at)}[name]

    def views(self, *, at: datetime | None = None) -> tuple[NodeView, ...]:
        """Return the views of all visible nodes."""
        return node_views(self.state, self.events, at=at)

    def names(self) -> set[str]:
        """Return the names of all visible nodes."""
        return {v.name for v in self.views()}
