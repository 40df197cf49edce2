"""The prompt of the project step: nodes, facts and edges that events speak of."""

from __future__ import annotations

from typing import Any, Final, Literal

from shared.domain.graph import Cardinality, FactMode, NodeType
from workers.models.inputs import KnownNode, ProjectEvent, ProjectInput
from workers.models.port import Prompt
from workers.prompts.rendering import (
    DATA_RULE,
    REPLY_RULE,
    ReplyModel,
    data_section,
    rules_of,
    time_view,
)

VERSION: Final = "project/1"


class LabelProvenance(ReplyModel):
    """The events in which an alias or tag occurs."""

    value: str
    source_event_ids: list[str]


class MetadataProvenance(ReplyModel):
    """The events in which a node's name, aliases and tags occur."""

    name: list[str]
    aliases: list[LabelProvenance]
    tags: list[LabelProvenance]


class FactReply(ReplyModel):
    """One proposed fact of a node."""

    key: str
    value: str | list[str]
    mode: FactMode
    status: Literal["active", "superseded", "disputed"]
    confidence: float
    source_event_ids: list[str]


class NodeReply(ReplyModel):
    """One proposed node."""

    ref: str
    name: str
    type: NodeType
    aliases: list[str]
    tags: list[str]
    metadata_provenance: MetadataProvenance
    status: Literal["active", "disputed"]
    confidence: float
    source_event_ids: list[str]
    facts: list[FactReply]


class EdgeReply(ReplyModel):
    """One proposed relation between two nodes of the same reply."""

    # `from` is a keyword of the language, so the field is spelled out and only aliased.
    from_ref: str
    to_ref: str
    relation: str
    cardinality: Cardinality
    status: Literal["active", "superseded", "disputed"]
    confidence: float
    source_event_ids: list[str]


class ProjectReply(ReplyModel):
    """What the projector answers."""

    reason: str
    nodes: list[NodeReply]
    edges: list[EdgeReply]


_SYSTEM: Final = f"""\
You keep a small knowledge graph of the people, projects, organizations, tools and places that \
events speak of. You get new events and the part of the graph that they may touch, and answer \
with what the new events say about it.

{DATA_RULE}

Rules
- The listed events are the only sources. Each node, alias, tag, fact and edge names the ids of \
the events that say it. The existing graph is there to recognise known things, never a source.
- nodes: things with a name of their own. type is person, project, organization, tool or place; \
what is none of these is no node. ref is a short handle of your own, unique in this reply. Use the \
name of an existing node when an event speaks of it; put another spelling into aliases. \
metadataProvenance.name lists the events in which the name itself occurs; aliases and tags need \
the same.
- facts: key is a short, stable word for the property, reused from the existing node where it is \
there already. mode is state for one value at a time, set for values that add up, relation for a \
tie to something that is no node here. status is active for what holds, disputed where events \
contradict each other, superseded for what is said to be over.
- edges: between two refs of this reply; relation is a short verb phrase. cardinality is one only \
where there can be no second target at a time, such as living in one place; else many. List both \
ends as nodes, also when they exist already.
- Say only what the events say. A plan is a plan: never state it as done. Keep numbers, names and \
units as they are. Two things with the same name but of different kind are two nodes.
- If the events say nothing about such things, answer with empty lists and the reason.

{REPLY_RULE}"""


def render(material: ProjectInput) -> Prompt:
    """Return the prompt for one part of the events."""
    names = {node.node_id: node.name for node in material.nodes}
    payload: dict[str, Any] = {
        "events": [_event(event) for event in material.events],
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
    user = "\n".join([*rules_of(material), data_section(payload)])
    return Prompt(version=VERSION, system=_SYSTEM, user=user)


def _event(event: ProjectEvent) -> dict[str, Any]:
    view: dict[str, Any] = {
        "id": event.event_id,
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
