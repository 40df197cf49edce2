"""What of the graph has been fetched: nodes and relations by id, and where the next page begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

Node = Mapping[str, Any]
Edge = Mapping[str, Any]
UNSEEN = "unseen"
"""The type of a node that is known only from the far end of a relation."""
PAGE_NODES = 100
"""Nodes of one page: what the picture begins with, and what each expansion adds."""
SMOOTH_NODES = 500
"""Up to here names are drawn beside their nodes; beyond, only where the pointer is."""


@dataclass(slots=True)
class Explored:
    """The part of the graph that is shown; `at` is the day it stands for, None for now."""

    zone: str
    at: date | None = None
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    node_count: int = 0
    next_cursor: str | None = None

    def begin_again(self, at: date | None) -> None:
        """Forget what is shown, to fetch it as it was on another day."""
        self.at = at
        self.nodes.clear()
        self.edges.clear()
        self.next_cursor = None

    def add_page(self, drawn: Mapping[str, Any]) -> None:
        """Add a page of nodes; far ends of their relations become unseen nodes."""
        self.node_count = int(drawn["node_count"])
        self.next_cursor = drawn["next_cursor"]
        for node in drawn["nodes"]:
            self.nodes[node["node_id"]] = node
        for edge in drawn["edges"]:
            self.add_edge(edge)

    def add_edge(self, edge: Edge) -> None:
        """Add a relation and, where they are not known, the nodes at its ends."""
        if not edge["from_name"] or not edge["to_name"]:
            return  # the far end is not visible to this reader
        self.edges[edge["edge_id"]] = edge
        for end in ("from", "to"):
            self._name(edge[f"{end}_node_id"], edge[f"{end}_name"])

    def query(self) -> dict[str, str | None]:
        """Return the query values that ask for this day."""
        if self.at is None:
            return {"at": None, "timezone": None}
        return {"at": f"{self.at.isoformat()}T23:59:59", "timezone": self.zone}

    def neighbours(self, node_id: str) -> int:
        """Count the relations of a node that are shown."""
        return sum(
            node_id in (edge["from_node_id"], edge["to_node_id"]) for edge in self.edges.values()
        )

    @property
    def seen(self) -> list[Node]:
        """The nodes that were fetched themselves, by name."""
        found = [node for node in self.nodes.values() if node["type"] != UNSEEN]
        return sorted(found, key=lambda node: str(node["name"]).casefold())

    def _name(self, node_id: str, name: str) -> None:
        self.nodes.setdefault(
            node_id,
            {"node_id": node_id, "name": name, "type": UNSEEN, "current_state": "", "aliases": []},
        )
