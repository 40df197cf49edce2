"""The prompt of the project step: nodes, facts and edges that events speak of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from shared.domain.graph import MAX_EDGES, MAX_NODES, Cardinality, FactMode, NodeType
from workers.models.inputs import KnownNode, ProjectEvent, ProjectInput
from workers.models.port import Prompt, ReplyRoom
from workers.models.reply_schema import COUNTED_BY, NAMED_BY
from workers.prompts.aliases import Aliases
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    rules_of,
    time_view,
)

VERSION: Final = "project/4"
_NODES_BESIDE_EVENTS: Final = 3
_FEWEST_FACTS: Final = 4
_MOST_FACTS: Final = 12
_UNNAMED: Final = frozenset({"user", "assistant", "用户", "助手"})

Source = Annotated[str, Field(json_schema_extra={NAMED_BY: "event"})]
Sources = Annotated[list[Source], Field(min_length=1, max_length=12)]
Ref = Annotated[str, Field(json_schema_extra={NAMED_BY: "node"})]
Name = Annotated[str, Field(max_length=80)]
Item = Annotated[str, Field(max_length=120)]


class LabelProvenance(ReplyModel):
    """The events in which an alias or tag occurs."""

    value: Name
    source_event_ids: Sources


class MetadataProvenance(ReplyModel):
    """The events in which a node's name, aliases and tags occur."""

    name: Sources
    aliases: list[LabelProvenance] = Field(max_length=3)
    tags: list[LabelProvenance] = Field(max_length=2)


class FactReply(ReplyModel):
    """One proposed fact of a node. A confidence is taken where one comes."""

    key: str = Field(max_length=60)
    value: Annotated[str, Field(max_length=240)] | Annotated[list[Item], Field(max_length=8)]
    mode: FactMode
    status: Literal["active", "superseded", "disputed"]
    source_event_ids: Sources
    confidence: float | None = None


class NodeReply(ReplyModel):
    """One proposed node; its sources are those of its parts."""

    ref: Ref
    name: Name
    type: NodeType
    aliases: list[Name] = Field(max_length=3)
    tags: list[Name] = Field(max_length=2)
    metadata_provenance: MetadataProvenance
    facts: list[FactReply] = Field(json_schema_extra={COUNTED_BY: "facts"})
    status: Literal["active", "disputed"] = "active"
    confidence: float | None = None
    source_event_ids: list[str] = Field(default_factory=list)


class EdgeReply(ReplyModel):
    """One proposed relation between two nodes of the same reply."""

    # `from` is a keyword of the language, so the field is spelled out and only aliased.
    from_ref: Ref
    to_ref: Ref
    relation: str = Field(max_length=60)
    cardinality: Cardinality
    status: Literal["active", "superseded", "disputed"]
    source_event_ids: Sources
    confidence: float | None = None


class ProjectReply(ReplyModel):
    """What the projector answers."""

    # The reason comes last: a small model that had to begin with it talked itself out of any node.
    nodes: list[NodeReply] = Field(json_schema_extra={COUNTED_BY: "nodes"})
    edges: list[EdgeReply] = Field(json_schema_extra={COUNTED_BY: "edges"})
    reason: str = Field(max_length=240)


_SYSTEM: Final = f"""\
You keep a small knowledge graph of the people, projects, organizations, tools and places that \
events speak of. You get new events and the part of the graph that they may touch, and answer \
with what the new events say about it.

{DATA_RULE}

Rules
- The listed events are the only sources. Each node, alias, tag, fact and edge names the ids of \
the events that say it. The existing graph is there to recognise known things, never a source.
- nodes: things with a name of their own, above all who and what the events are about, such as \
the named participants. type is person, project, organization, tool or place; \
what is none of these is no node. ref is n1, n2 and so on, one for each node of this reply. Use \
the name of an existing node when an event speaks of it; put another spelling into aliases. \
metadataProvenance.name lists the events in which the name itself occurs; aliases and tags need \
the same.
- facts: what an event says about a node beyond its name, type, aliases and tags, which are no \
facts. key is a short, stable word for the property, reused from the existing node where it is \
there already. mode is state for one value at a time, set for values that add up, relation for a \
tie to something that is no node here. status is active for what holds, disputed where events \
contradict each other, superseded for what is said to be over.
- edges: between two refs of this reply; relation is a short verb phrase. cardinality is one only \
where there can be no second target at a time, such as living in one place; else many. List both \
ends as nodes, also when they exist already.
- Say only what the events say. A plan is a plan: never state it as done. Keep numbers, names and \
units as they are. Two things with the same name but of different kind are two nodes.
- Only if the events name nothing of the kind, answer with empty lists. reason says in a few \
words what the graph rests on, or why it is empty.

{REPLY_RULE}"""


def render(material: ProjectInput) -> Prompt:
    """Return the prompt for one part of the events."""
    names = {node.node_id: node.name for node in material.nodes}
    sources = sources_of(material).by_id
    payload: dict[str, Any] = {
        "events": [_event(event, sources) for event in material.events],
        "graph": {
            "nodes": [_node(node) for node in material.nodes],
            "edges": [
                {
                    "from": names.get(edge.from_node_id, edge.from_node_id),
                    "relation": edge.relation,
                    "to": names.get(edge.to_node_id, edge.to_node_id),
                    "isCurrent": edge.is_current,
                }
                for edge in material.edges
            ],
        },
    }
    most = room_of(material).most
    rule = f"Give at most {most['nodes']} nodes and {most['edges']} edges, the weightiest first."
    user = "\n".join([*rules_of(material), rule, data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def sources_of(material: ProjectInput) -> Aliases:
    """Return the names of one part's events."""
    return Aliases.of("e", (event.event_id for event in material.events))


def room_of(material: ProjectInput) -> ReplyRoom:
    """Return what a reply about one part may cite, and how much of a graph it holds.

    Where a participant has a name there is a node to give: the smallest models else give none.
    """
    events = len(material.events)
    nodes = min(MAX_NODES, events + _NODES_BESIDE_EVENTS)
    refs = tuple(f"n{number}" for number in range(1, nodes + 1))
    facts = min(_MOST_FACTS, max(_FEWEST_FACTS, events))
    most = {"nodes": nodes, "edges": min(MAX_EDGES, nodes), "facts": facts}
    people = {name.casefold() for event in material.events for name in event.participants}
    least = {"nodes": 1} if people - _UNNAMED else {}
    return ReplyRoom({"event": sources_of(material).names, "node": refs}, most, least)


def _event(event: ProjectEvent, names: Mapping[str, str]) -> dict[str, Any]:
    view: dict[str, Any] = {
        "id": names[event.event_id],
        "title": event.title,
        "summary": event.summary,
        "eventType": event.event_type,
        "status": event.status,
        "scope": event.scope,
        "participants": list(event.participants),
        "tags": list(event.tags),
        "quotes": list(event.quotes),
        "temporal": time_view(event.time),
    }
    if event.narrative:
        view["narrative"] = event.narrative
    return view


def _node(node: KnownNode) -> dict[str, Any]:
    return {
        "name": node.name,
        "type": node.type,
        "aliases": list(node.aliases),
        "tags": list(node.tags),
        "facts": [
            {
                "key": fact.key,
                "value": fact.value if isinstance(fact.value, str) else list(fact.value),
                "isCurrent": fact.is_current,
            }
            for fact in node.facts
        ],
    }
