"""The kinds of record that a bundle holds, with the fields of each: format 1.

Kinds and fields are the contract with bundles that people keep: a change is a new version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of record: its table, its fields with their types, its own id and what it counts.

    A type is `id`, `ref <prefix>`, `text`, `name`, `int`, `number`, `bool`, `time`, `json`,
    `texts` or `ids`; `?` at its end allows null. `json` and `ids` may hold ids of the bundle.
    """

    name: str
    table: str
    fields: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)


def _sources(record: str, prefix: str) -> Kind:
    fields = {f"{record}_id": f"ref {prefix}", "event_id": "ref evt"}
    return Kind(f"{record}_source", f"{record}_sources", fields)


_VALIDITY: Final = {
    "status": "text",
    "stance": "text",
    "valid_from": "time?",
    "valid_until": "time?",
    "recorded_at": "time",
    "confidence": "number",
}
KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        "thread",
        "threads",
        {
            "thread_id": "name",
            "turn_count": "int",
            "sealed_turn_count": "int",
            "block_count": "int",
            "ready_count": "int",
            "erased_turn_count": "int",
            "erased_block_count": "int",
            "created_at": "time",
            "last_turn_at": "time?",
        },
    ),
    Kind(
        "turn",
        "turns",
        {
            "turn_id": "id trn",
            "thread_id": "thread",
            "sequence": "int",
            "namespace_turn": "int",
            "receipt_id": "text?",
            "occurred_at": "time",
            "zone": "text",
            "time_basis": "text",
            "agent": "json?",
            "labels": "json",
            "metadata": "json",
            "created_at": "time",
            "size_bytes": "int",
        },
    ),
    Kind(
        "message",
        "messages",
        {
            "message_id": "id msg",
            "thread_id": "thread",
            "turn_id": "ref trn",
            "turn_sequence": "int",
            "position": "int",
            "role": "text",
            "name": "text?",
            "origin": "text?",
            "content": "text",
            "redacted_content": "text?",
            "tool_calls": "json",
            "redacted_tool_calls": "json?",
            "tool_call_id": "text?",
            "occurred_at": "time",
            "zone": "text",
            "metadata": "json",
        },
    ),
    Kind(
        "block",
        "blocks",
        {
            "block_id": "id blk",
            "thread_id": "thread",
            "sequence": "int",
            "start_turn": "int",
            "end_turn": "int",
            "formed_turn": "int",
            "started_at": "time",
            "ended_at": "time",
            "created_at": "time",
        },
    ),
    Kind(
        "layer",
        "block_layers",
        {"block_id": "ref blk", "level": "int", "content": "text", "tokens": "int"},
    ),
    Kind(
        "state",
        "block_states",
        {
            "block_id": "ref blk",
            "thread_id": "thread",
            "status": "text",
            "anchor_level": "int",
            "anchor_position": "int?",
            "lifted_at": "time?",
            "lifted_by": "text?",
            "ready_at": "time?",
            "updated_at": "time",
        },
    ),
    Kind(
        "summary",
        "block_summaries",
        {
            "block_id": "ref blk",
            "title": "text",
            "tags": "texts",
            "summary": "text",
            "keypoints": "texts",
            "should_extract": "bool",
            "job_id": "text",
            "prompt_version": "text",
            "model": "text",
            "created_at": "time",
        },
        {"derivation_version": 1},
    ),
    Kind(
        "receipt",
        "request_receipts",
        {"receipt_id": "text", "request_hash": "text", "answer": "ids json?", "created_at": "time"},
        {"operation": "turn"},
    ),
    Kind(
        "event",
        "events",
        {
            "event_id": "id evt",
            "thread_id": "thread",
            "block_id": "ref blk",
            "job_id": "text",
            "title": "text",
            "summary": "text",
            "narrative": "text?",
            "tags": "texts",
            "quotes": "quotes",
            "participants": "texts",
            "event_type": "text",
            "scope": "text",
            "criticality": "text",
            "category": "text?",
            "mentioned_at": "time?",
            "zone": "text",
            "happened_start": "text?",
            "happened_end": "text?",
            "happened_from": "time?",
            "happened_until": "time?",
            "precision": "text",
            "basis": "text",
            "time_status": "text",
            "original_text": "text?",
            "fingerprint": "text",
            "status": "text",
            "status_before": "text?",
            "superseded_by": "later evt?",
            "pinned": "bool",
            "formed_turn": "int",
            "last_adopted_turn": "int",
            "mention_count": "int",
            "created_at": "time",
            "updated_at": "time",
            "curation_revision": "int",
        },
        {"derivation_version": 1},
    ),
    Kind(
        "event_source",
        "event_sources",
        {"event_id": "ref evt", "message_id": "ref msg", "position": "int"},
    ),
    Kind(
        "event_link",
        "event_links",
        {
            "event_id": "ref evt",
            "kind": "text",
            "other_event_id": "ref evt",
            "created_at": "time",
        },
    ),
    Kind(
        "graph_version",
        "graph_versions",
        {"graph_version_id": "id gvn", "created_at": "time", "switched_at": "time?"},
        {"state": "live", "derivation_version": 1, "request": {}},
    ),
    Kind(
        "node",
        "nodes",
        {
            "node_id": "id nod",
            "graph_version_id": "ref gvn",
            "type": "text",
            "name": "text",
            "key": "text",
            "status": "text",
            "confidence": "number",
            "created_at": "time",
            "updated_at": "time",
        },
    ),
    Kind(
        "label",
        "labels",
        {
            "label_id": "id lbl",
            "node_id": "ref nod",
            "kind": "text",
            "value": "text",
            "key": "text",
            "created_at": "time",
        },
    ),
    Kind(
        "fact",
        "facts",
        {
            "fact_id": "id fct",
            "node_id": "ref nod",
            "mode": "text",
            "key": "text",
            "value": "json",
            **_VALIDITY,
        },
    ),
    Kind(
        "edge",
        "edges",
        {
            "edge_id": "id edg",
            "from_node_id": "ref nod",
            "to_node_id": "ref nod",
            "relation": "text",
            "cardinality": "text",
            **_VALIDITY,
        },
    ),
    _sources("node", "nod"),
    _sources("label", "lbl"),
    _sources("fact", "fct"),
    _sources("edge", "edg"),
    Kind(
        "batch",
        "batches",
        {
            "batch_id": "id bat",
            "thread_id": "text?",
            "tool": "text",
            "query": "text?",
            "request": "json",
            "created_at": "time",
            "expires_at": "time",
        },
        {"state": "recorded"},
    ),
    Kind(
        "batch_item",
        "batch_items",
        {
            "batch_id": "ref bat",
            "position": "int",
            "evidence_ref": "ids text",
            "event_ids": "refs evt",
            "rank_score": "number?",
        },
    ),
    Kind(
        "assessment",
        "assessments",
        {
            "assessment_id": "id asm",
            "batch_id": "ref bat",
            "verdict": "text",
            "evidence_refs": "ids texts",
            "rejected_evidence_refs": "ids json",
            "fit": "text",
            "missing": "text",
            "next_strategy": "text",
            "question": "text?",
            "advisories": "ids json",
            "created_at": "time",
        },
    ),
    Kind(
        "use_receipt",
        "use_receipts",
        {
            "use_receipt_id": "id rcp",
            "receipt_id": "text",
            "request_hash": "text",
            "batch_id": "ref bat",
            "assessment_id": "ref asm?",
            "evidence_refs": "ids texts",
            "answer": "ids json",
            "audit": "ids json",
            "created_at": "time",
        },
    ),
    Kind(
        "use_receipt_event",
        "use_receipt_events",
        {"use_receipt_id": "ref rcp", "event_id": "ref evt", "reinforced": "bool"},
    ),
)
"""Every kind, in the order in which a bundle holds them: what is named comes first."""

KIND_OF: Final[Mapping[str, Kind]] = {kind.name: kind for kind in KINDS}
