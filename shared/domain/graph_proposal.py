"""Validate a projector's reply, item by item (D29): what is sound is kept, the rest is listed.

A node needs a name, a known type and provenance for its name; a fact, edge, alias or tag
needs legal sources of its own (D18). Dates in a reply are not read: validity comes from the
source events, whose dates were checked by code (D12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.domain.graph import (
    MAX_ALIASES,
    MAX_EDGES,
    MAX_ITEM,
    MAX_ITEMS,
    MAX_KEY,
    MAX_NAME,
    MAX_NODES,
    MAX_REASON,
    MAX_REF,
    MAX_RELATION,
    MAX_TAG,
    MAX_TAGS,
    MAX_VALUE,
    FactMode,
    LabelKind,
    NodeType,
    RecordStatus,
    Rejection,
    SourceEvent,
    Stance,
    name_key,
    text_key,
)
from shared.domain.graph_proposed import (
    Proposal,
    ProposedEdge,
    ProposedFact,
    ProposedLabel,
    ProposedNode,
)
from shared.domain.graph_reply_fields import (
    Refusal,
    Refusals,
    SourceCheck,
    confidence,
    get,
    has,
    listed,
    stance,
    text,
)

STATE_KEY = "state"
"""The key of the fact that a node's own `state` text becomes."""


__all__ = [
    "STATE_KEY",
    "GraphReplyError",
    "Proposal",
    "ProposedEdge",
    "ProposedFact",
    "ProposedLabel",
    "ProposedNode",
    "validate_proposal",
]


class GraphReplyError(ValueError):
    """Nothing of a reply can be used; `rejections` says why, item by item."""

    def __init__(self, detail: str, rejections: tuple[Rejection, ...] = ()) -> None:
        super().__init__(detail)
        self.rejections = rejections


@dataclass(frozen=True, slots=True)
class _Given:
    """What a node lends to facts that do not say it themselves."""

    sources: tuple[str, ...]
    stance: Stance
    confidence: float


def validate_proposal(
    reply: object,
    *,
    events: Mapping[str, SourceEvent],
    job_event_ids: frozenset[str],
) -> tuple[Proposal, tuple[Rejection, ...]]:
    """Return the sound part of a projector's reply and the list of what was refused.

    Raises GraphReplyError when the reply is no object with `nodes` or `edges`, or when it
    proposed something and no node is left. An explicitly empty reply is a valid, empty
    proposal.
    """
    if not isinstance(reply, Mapping) or not (has(reply, "nodes") or has(reply, "edges")):
        raise GraphReplyError("the reply is no object with a list of nodes")
    refusals = Refusals()
    check = SourceCheck(events=events, job_event_ids=job_event_ids, refusals=refusals)
    nodes = _read_nodes(listed(get(reply, "nodes")), check)
    edges = _read_edges(listed(get(reply, "edges")), check, {n.ref for n in nodes})
    rejections = tuple(refusals.items)
    if not nodes and rejections:
        raise GraphReplyError(f"nothing is left of the reply: {rejections[0].detail}", rejections)
    return Proposal(text(get(reply, "reason"), MAX_REASON), nodes, edges), rejections


def _read_nodes(items: list[Any], check: SourceCheck) -> tuple[ProposedNode, ...]:
    nodes: dict[str, ProposedNode] = {}
    for index, raw in enumerate(items):
        item = f"/nodes/{index}"
        if len(nodes) == MAX_NODES:
            check.refusals.add("too_many", item, f"a reply holds at most {MAX_NODES} nodes")
            continue
        with check.refusals.listing(item):
            node = _read_node(raw, check, item)
            if node.ref in nodes:
                raise Refusal("duplicate_ref", f"the ref {node.ref!r} is taken")
            nodes[node.ref] = node
    return tuple(nodes.values())


def _read_node(raw: Any, check: SourceCheck, item: str) -> ProposedNode:
    if not isinstance(raw, Mapping):
        raise Refusal("malformed", "a node is an object")
    name = text(get(raw, "name"), MAX_NAME)
    if not name:
        raise Refusal("missing_name", "a node needs a name")
    kind = text(get(raw, "type"), 40).lower()
    if kind not in set(NodeType):
        raise Refusal("unknown_type", f"{name!r} is of unknown type {kind!r}")
    provenance = get(raw, "metadata_provenance")
    provenance = provenance if isinstance(provenance, Mapping) else {}
    named_by = check.legal(_sources_in(get(provenance, "name")), item=f"{item}/name")
    if not named_by:
        raise Refusal("missing_name_provenance", f"no legal source names {name!r}")
    own = check.legal(get(raw, "source_event_ids"), item=item)
    if not own and listed(get(raw, "source_event_ids")):
        check.refusals.add("foreign_source", item, "its sources are no events of this job")
    given = _Given(
        sources=own or named_by,
        stance=stance(get(raw, "status"), Stance.ASSERTED),
        confidence=confidence(get(raw, "confidence")),
    )
    labels = _read_labels(raw, provenance, check, item=item, name=name)
    facts = _read_facts(raw, check, item=item, given=given)
    parts = [named_by, *(x.source_event_ids for x in labels), *(f.source_event_ids for f in facts)]
    return ProposedNode(
        ref=text(get(raw, "ref"), MAX_REF) or name[:MAX_REF],
        name=name,
        type=NodeType(kind),
        status=_node_status(given.stance),
        confidence=given.confidence,
        name_source_ids=named_by,
        source_event_ids=tuple(dict.fromkeys([*own, *(i for part in parts for i in part)])),
        labels=labels,
        facts=facts,
    )


def _node_status(node_stance: Stance) -> RecordStatus:
    # A reply may call what it says of a node past; the node itself does not end by that.
    return RecordStatus.DISPUTED if node_stance is Stance.CONTESTED else RecordStatus.ACTIVE


def _read_labels(
    raw: Mapping[str, Any],
    provenance: Mapping[str, Any],
    check: SourceCheck,
    *,
    item: str,
    name: str,
) -> tuple[ProposedLabel, ...]:
    labels: list[ProposedLabel] = []
    for field_name, kind, limit, size in (
        ("aliases", LabelKind.ALIAS, MAX_ALIASES, MAX_NAME),
        ("tags", LabelKind.TAG, MAX_TAGS, MAX_TAG),
    ):
        fold = name_key if kind is LabelKind.ALIAS else text_key
        sources = {
            fold(text(value, size)): ids for value, ids in _by_value(get(provenance, field_name))
        }
        seen = {name_key(name)} if kind is LabelKind.ALIAS else set()
        for index, entry in enumerate(listed(get(raw, field_name))):
            value = text(entry, size)
            key = fold(value)
            if not value or key in seen:
                continue
            seen.add(key)
            at = f"{item}/{field_name}/{index}"
            legal = check.legal(sources.get(key), item=at)
            if not legal:
                check.refusals.add("missing_provenance", at, f"no legal source for {value!r}")
            elif sum(x.kind is kind for x in labels) == limit:
                check.refusals.add("too_many", at, f"a node holds at most {limit} {field_name}")
            else:
                labels.append(ProposedLabel(kind, value, legal))
    return tuple(labels)


def _read_facts(
    raw: Mapping[str, Any],
    check: SourceCheck,
    *,
    item: str,
    given: _Given,
) -> tuple[ProposedFact, ...]:
    entries = [(f"{item}/facts/{i}", fact) for i, fact in enumerate(listed(get(raw, "facts")))]
    if text(get(raw, "state"), MAX_VALUE):
        state = {"key": STATE_KEY, "value": get(raw, "state")}
        entries.insert(0, (f"{item}/state", state))
    facts: list[ProposedFact] = []
    for at, entry in entries:
        with check.refusals.listing(at):
            facts.append(_read_fact(entry, check, item=at, given=given))
    return tuple(facts)


def _read_fact(raw: Any, check: SourceCheck, *, item: str, given: _Given) -> ProposedFact:
    if not isinstance(raw, Mapping):
        raise Refusal("malformed", "a fact is an object")
    key = text(get(raw, "key"), MAX_KEY)
    value = _read_value(get(raw, "value"), check, item)
    if not key or not value:
        raise Refusal("missing_value", "a fact needs a key and a value")
    # Without a list of its own a fact rests on its node's sources; an empty list is a list.
    own = get(raw, "source_event_ids")
    sources = given.sources if own is None else check.legal(own, item=item)
    if not sources:
        raise Refusal("missing_source", f"no legal source for the fact {key!r}")
    word = text(get(raw, "mode"), 20).lower() or FactMode.STATE.value
    if word not in set(FactMode):
        check.refusals.add("unknown_mode", item, f"{word!r} is no mode; read as 'state'")
        word = FactMode.STATE.value
    return ProposedFact(
        key=key,
        mode=FactMode(word),
        value=value,
        stance=stance(get(raw, "status"), given.stance),
        confidence=confidence(get(raw, "confidence"), given.confidence),
        source_event_ids=sources,
    )


def _read_value(raw: Any, check: SourceCheck, item: str) -> str | tuple[str, ...]:
    if not isinstance(raw, list | tuple):
        return text(raw, MAX_VALUE)
    items = tuple(dict.fromkeys(v for v in (text(entry, MAX_ITEM) for entry in raw) if v))
    if len(items) > MAX_ITEMS:
        check.refusals.add("too_many", item, f"a list holds at most {MAX_ITEMS} items")
    return items[:MAX_ITEMS]


def _read_edges(items: list[Any], check: SourceCheck, refs: set[str]) -> tuple[ProposedEdge, ...]:
    edges: list[ProposedEdge] = []
    for index, raw in enumerate(items):
        item = f"/edges/{index}"
        if len(edges) == MAX_EDGES:
            check.refusals.add("too_many", item, f"a reply holds at most {MAX_EDGES} edges")
            continue
        with check.refusals.listing(item):
            edges.append(_read_edge(raw, check, item, refs))
    return tuple(edges)


def _read_edge(raw: Any, check: SourceCheck, item: str, refs: set[str]) -> ProposedEdge:
    if not isinstance(raw, Mapping):
        raise Refusal("malformed", "an edge is an object")
    ends = [text(get(raw, key), MAX_REF) for key in ("from_ref", "to_ref")]
    for end in ends:
        if end not in refs:
            raise Refusal("missing_end", f"the node {end!r} is not there")
    if ends[0] == ends[1]:
        raise Refusal("self_loop", "an edge joins two nodes")
    relation = text(get(raw, "relation"), MAX_RELATION)
    if not relation:
        raise Refusal("missing_relation", "an edge needs a relation")
    sources = check.legal(get(raw, "source_event_ids"), item=item)
    if not sources:
        raise Refusal("missing_source", f"no legal source for {relation!r}")
    is_single = text(get(raw, "cardinality"), 20).lower() == "one"
    return ProposedEdge(
        from_ref=ends[0],
        to_ref=ends[1],
        relation=relation,
        cardinality="one" if is_single else "many",
        stance=stance(get(raw, "status"), Stance.ASSERTED),
        confidence=confidence(get(raw, "confidence")),
        source_event_ids=sources,
    )


def _sources_in(value: Any) -> Any:
    return get(value, "source_event_ids") if isinstance(value, Mapping) else value


def _by_value(value: Any) -> list[tuple[Any, Any]]:
    """Read provenance of aliases or tags: `[{value, sourceEventIds}]` or `{value: ids}`."""
    if isinstance(value, Mapping) and not has(value, "source_event_ids"):
        return list(value.items())
    entries = [e for e in listed(value) if isinstance(e, Mapping)]
    return [(get(e, "value"), get(e, "source_event_ids")) for e in entries]
