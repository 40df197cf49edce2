"""Nodes, facts and edges as the rules gather them, and the reply they become.

A node's name, alias and tag is borne out by the events in which it occurs; what no event spells
is left out together with what hangs on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.domain.graph import MAX_EDGES, MAX_NODES, NodeType, name_key, text_key
from workers.models.inputs import KnownNode, ProjectEvent

USER: Final = "User"
USER_ALIAS: Final = "用户"
_CONFIDENCE: Final = 0.8


@dataclass(frozen=True, slots=True)
class Fact:
    """A value of a node: one at a time (`state`) or added to others (`set`)."""

    key: str
    value: str
    mode: str
    status: str = "active"


@dataclass(slots=True)
class Entry:
    """One node of the reply with all that was gathered of it."""

    ref: str
    name: str
    type: NodeType
    sources: dict[str, None] = field(default_factory=dict)
    facts: dict[Fact, dict[str, None]] = field(default_factory=dict)


@dataclass(slots=True)
class Book:
    """What the events of one job say, under the names that the graph already knows."""

    events: Mapping[str, ProjectEvent]
    known: Collection[KnownNode] = ()
    entries: dict[tuple[NodeType, str], Entry] = field(default_factory=dict)
    edges: dict[tuple[str, str, str, str, str], dict[str, None]] = field(default_factory=dict)

    def node(self, name: str, kind: NodeType, event_id: str) -> Entry:
        """Return the node of that name, made where it is new, as spoken of by the event.

        A first name is the person of this job whose full name begins with it, if only one does.
        """
        spelled = self._known_name(name, kind)
        if kind is NodeType.PERSON:
            spelled = self._full_name(spelled)
        slot = (kind, name_key(spelled))
        entry = self.entries.get(slot)
        if entry is None:
            entry = Entry(f"n{len(self.entries) + 1}", spelled, kind)
            self.entries[slot] = entry
        entry.sources.setdefault(event_id)
        return entry

    def fact(self, entry: Entry, fact: Fact, event_id: str) -> None:
        """Add a fact of a node, or another source of it."""
        entry.facts.setdefault(fact, {}).setdefault(event_id)

    def edge(
        self,
        start: Entry,
        relation: str,
        end: Entry,
        event_id: str,
        *,
        cardinality: str = "many",
        status: str = "active",
    ) -> None:
        """Add a relation between two nodes, or another source of it."""
        if start.ref != end.ref:
            key = (start.ref, relation, end.ref, cardinality, status)
            self.edges.setdefault(key, {}).setdefault(event_id)

    def known_type(self, name: str) -> NodeType | None:
        """Return of what type a name is in the graph or in this reply, where it is there."""
        key = name_key(name)
        for kind, other in self.entries:
            if other == key:
                return kind
        for node in self.known:
            if key in {name_key(one) for one in (node.name, *node.aliases)}:
                return NodeType(node.type)
        return None

    def key_holding(self, owner: str, value: str) -> str | None:
        """Return under which single-valued key an owner has a value now."""
        wanted = text_key(value)
        for (_, key), entry in self.entries.items():
            if key == name_key(owner):
                for fact in entry.facts:
                    if fact.mode == "state" and text_key(fact.value) == wanted:
                        return fact.key
        for node in self.known:
            if name_key(node.name) == name_key(owner):
                for known in node.facts:
                    if isinstance(known.value, str) and text_key(known.value) == wanted:
                        return known.key
        return None

    def reply(self) -> dict[str, Any]:
        """Return the projector's reply: at most 24 nodes, those with most sources first."""
        spelt = [(entry, self._spelling(entry)) for entry in self.entries.values()]
        sound = [(entry, named) for entry, named in spelt if named]
        sound.sort(key=lambda pair: -len(pair[0].sources))
        nodes = [self._node(entry, named) for entry, named in sound[:MAX_NODES]]
        refs = {node["ref"] for node in nodes}
        edges = [
            {
                "fromRef": start,
                "toRef": end,
                "relation": relation,
                "cardinality": cardinality,
                "status": status,
                "confidence": _CONFIDENCE,
                "sourceEventIds": list(sources),
            }
            for (start, relation, end, cardinality, status), sources in self.edges.items()
            if start in refs and end in refs
        ]
        return {"nodes": nodes, "edges": edges[:MAX_EDGES]}

    def _node(self, entry: Entry, named: list[str]) -> dict[str, Any]:
        aliases = self._aliases(entry)
        return {
            "ref": entry.ref,
            "name": entry.name,
            "type": entry.type.value,
            "aliases": [one["value"] for one in aliases],
            "tags": [],
            "metadataProvenance": {"name": named, "aliases": aliases, "tags": []},
            "status": "active",
            "confidence": _CONFIDENCE,
            "sourceEventIds": list(dict.fromkeys([*named, *entry.sources])),
            "facts": [
                {
                    "key": fact.key,
                    "value": fact.value,
                    "mode": fact.mode,
                    "status": fact.status,
                    "confidence": _CONFIDENCE,
                    "sourceEventIds": list(sources),
                }
                for fact, sources in entry.facts.items()
            ],
        }

    def _aliases(self, entry: Entry) -> list[dict[str, Any]]:
        other = USER_ALIAS if entry.name == USER else _first_name(entry)
        if other is None:
            return []
        ids = [one for one in entry.sources if other in text_of(self.events[one])]
        return [{"value": other, "sourceEventIds": ids}] if ids else []

    def _spelling(self, entry: Entry) -> list[str]:
        """Return the events of the job in which the node's name occurs."""
        wanted = text_key(entry.name)
        return [one for one in entry.sources if wanted in text_key(text_of(self.events[one]))]

    def _full_name(self, name: str) -> str:
        if " " in name or not name.isascii():
            return name
        full = {
            one
            for event in self.events.values()
            for one in event.participants
            if one.startswith(f"{name} ")
        }
        return full.pop() if len(full) == 1 else name

    def _known_name(self, name: str, kind: NodeType) -> str:
        key = name_key(name)
        return next(
            (one.name for one in self.known if one.type == kind and name_key(one.name) == key), name
        )


def text_of(event: ProjectEvent) -> str:
    """Return all words of an event in which a name may occur."""
    return "\n".join((event.title, event.summary, *event.quotes, *event.participants))


def _first_name(entry: Entry) -> str | None:
    if entry.type is not NodeType.PERSON or not entry.name.isascii() or " " not in entry.name:
        return None
    return entry.name.split()[0]
