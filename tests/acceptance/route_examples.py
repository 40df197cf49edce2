"""Example requests for every route, or why a route can name nothing of another tenant.

A route is known by its method and path in the OpenAPI document. Values in braces stand for ids
and names, in bodies and queries as in paths. A route in neither list fails test_tenancy.py.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from shared.ids import Prefix
from tests.acceptance.memory import turn

NAMESPACE = "ns"
THREAD = "thread"
PREFIXES = {
    "trn": Prefix.TURN,
    "msg": Prefix.MESSAGE,
    "blk": Prefix.BLOCK,
    "evt": Prefix.EVENT,
    "nod": Prefix.NODE,
    "gvn": Prefix.GRAPH_VERSION,
    "imp": Prefix.IMPORT,
    "bat": Prefix.BATCH,
    "era": Prefix.ERASURE,
    "exp": Prefix.EXPORT,
    "job": Prefix.JOB,
    "key_id": Prefix.KEY,
    "cfl": Prefix.CONFLICT,
}
"""What stands for ids; most are path parameters of the document."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request: its body and query. `begins`: it begins a namespace that is not there yet.

    `chosen` fills what in the path is neither an id nor a namespace. `file`: sent as it is.
    """

    body: Any = None
    query: dict[str, str] = field(default_factory=dict)
    begins: bool = False
    chosen: dict[str, str] = field(default_factory=dict)
    file: bytes | None = None


NO_BODY = Example()
HOST_EVENTS = [
    {"type": "turn/start"},
    {"type": "user/message", "content": "Hello from another host."},
    {"type": "turn/end"},
]


MERGED = {"candidate_index": 0, "action": "MERGE", "existing_event_ids": ["{evt}"]}
REFS = ["event:{evt}", "raw:{msg}", "block:{blk}:level:0", "graph-node:{nod}:expanded"]


def tool(name: str, **arguments: Any) -> Example:
    """A call of a tool by name."""
    body = {"namespace": "{ns}", "thread_id": "{thread}", "arguments": arguments}
    return Example(body, chosen={"tool_name": name})


def empty_bundle() -> bytes:
    """The bundle of a namespace in which nothing was said."""
    counters = ("turn_count", "block_count", "erased_turn_count", "erased_block_count")
    first = {"record": "bundle", "format": "stratagate.bundle", "version": 1, "policy": {}}
    line = json.dumps(first | dict.fromkeys(counters, 0)).encode() + b"\n"
    last = {"record": "end", "counts": {}, "sha256": hashlib.sha256(line).hexdigest()}
    return gzip.compress(line + json.dumps(last).encode() + b"\n")


EXAMPLES: dict[str, tuple[Example, ...]] = {
    # Before whatever else begins a namespace: it takes an empty one.
    "POST /v1/namespaces/{ns}/restore": (Example(file=empty_bundle(), begins=True),),
    "POST /v1/namespaces/{ns}/turns": (
        Example(turn("tenancy", "Hello from another tenant."), begins=True),
    ),
    "POST /v1/namespaces/{ns}/turns/batch": (
        Example([turn("tenancy-batch", "And hello again.")], begins=True),
    ),
    "POST /v1/namespaces/{ns}/host-events": (
        Example({"session": "tenancy-host", "events": HOST_EVENTS}, begins=True),
    ),
    "POST /v1/namespaces/{ns}/threads/{thread}/seal": (NO_BODY,),
    "POST /v1/namespaces/{ns}/erasures": (
        Example({"selector": {"turn": "{trn}"}, "dry_run": True}),
        Example({"selector": {"event": "{evt}"}, "dry_run": True}),
        Example({"selector": {"label": "nobody=here"}}),
    ),
    "POST /v1/namespaces/{ns}/exports": (NO_BODY,),
    "GET /v1/exports/{exp}": (NO_BODY,),
    "GET /v1/exports/{exp}/bundle": (NO_BODY,),
    "GET /v1/erasures/{era}": (NO_BODY,),
    "POST /v1/erasures/{era}/verify": (
        Example({"ids": ["{trn}", "{evt}", "{msg}", "{blk}"], "receipt_ids": ["first"]}),
    ),
    "DELETE /v1/namespaces/{ns}": (NO_BODY,),
    "PUT /v1/namespaces/{ns}": (Example({"block_turn_size": 3}, begins=True),),
    "GET /v1/namespaces/{ns}": (NO_BODY,),
    "PATCH /v1/namespaces/{ns}": (Example({"block_turn_size": 5}),),
    "POST /v1/namespaces/{ns}/imports": (Example({"text": '{"candidates": []}'}, begins=True),),
    "GET /v1/imports/{imp}": (NO_BODY,),
    "POST /v1/imports/{imp}/confirm": (
        Example({"decisions": [MERGED], "ignore_unanswered": True}),
        Example({"ignore_unanswered": True}),
    ),
    "POST /v1/imports/{imp}/undo": (NO_BODY,),
    "POST /v1/namespaces/{ns}/reprocess": (Example({"stages": ["project"]}),),
    "GET /v1/namespaces/{ns}/graph-versions": (NO_BODY,),
    "GET /v1/namespaces/{ns}/graph-versions/{gvn}": (NO_BODY,),
    "GET /v1/namespaces/{ns}/graph-versions/{gvn}/diff": (NO_BODY,),
    "POST /v1/namespaces/{ns}/graph-versions/{gvn}/switch": (NO_BODY,),
    "POST /v1/namespaces/{ns}/graph-versions/{gvn}/drop": (NO_BODY,),
    "PATCH /v1/namespaces/{ns}/curation/events/{evt}": (Example({"pinned": True}),),
    "GET /v1/namespaces/{ns}/curation/conflicts": (
        NO_BODY,
        Example(query={"event_id": "{evt}", "state": "all"}),
    ),
    "POST /v1/namespaces/{ns}/curation/conflicts/{cfl}/resolve": (
        Example({"keep": "both"}),
        Example({"keep": "{evt}"}),
    ),
    "GET /v1/jobs": (Example(query={"namespace": "{ns}"}),),
    "GET /v1/jobs/{job}": (NO_BODY,),
    "POST /v1/jobs/{job}/retry": (NO_BODY,),
    "POST /v1/jobs/{job}/cancel": (NO_BODY,),
    "GET /v1/usage": (Example(query={"namespace": "{ns}"}),),
    "GET /v1/audit-log": (
        Example(query={"namespace": "{ns}"}),
        Example(query={"namespace": "{ns}", "subject": "{evt}"}),
    ),
    "POST /v1/keys/{key_id}/rotate": (Example({"overlap_s": 60}),),
    "DELETE /v1/keys/{key_id}": (NO_BODY,),
    "POST /v1/retrieval/{ns}/events/search": (Example({"query": "pnpm"}),),
    "POST /v1/retrieval/{ns}/events/{evt}/expand": (Example({}),),
    "GET /v1/retrieval/{ns}/events": (NO_BODY,),
    "GET /v1/retrieval/{ns}/events/{evt}": (NO_BODY,),
    "GET /v1/retrieval/{ns}/timeline": (NO_BODY,),
    "POST /v1/retrieval/{ns}/graph/search": (Example({"query": "Orion"}),),
    "POST /v1/retrieval/{ns}/graph/nodes/{nod}/expand": (Example({}),),
    "GET /v1/retrieval/{ns}/graph": (NO_BODY,),
    "GET /v1/retrieval/{ns}/graph/nodes/{nod}/history": (NO_BODY,),
    "GET /v1/retrieval/{ns}/model-replies": (NO_BODY,),
    "POST /v1/retrieval/{ns}/raw/search": (Example({"query": "pnpm"}),),
    "GET /v1/retrieval/{ns}/threads": (NO_BODY,),
    "GET /v1/retrieval/{ns}/turns/{trn}/receipt": (NO_BODY,),
    "GET /v1/retrieval/{ns}/threads/{thread}/batches": (NO_BODY,),
    "GET /v1/retrieval/{ns}/usage-audit": (
        NO_BODY,
        Example(query={"event_id": "{evt}", "turn_id": "{trn}", "batch_id": "{bat}"}),
    ),
    "GET /v1/retrieval/{ns}/blocks": (Example(query={"scope": "namespace"}),),
    "GET /v1/retrieval/{ns}/blocks/{blk}": (NO_BODY,),
    "GET /v1/retrieval/{ns}/threads/{thread}/blocks": (NO_BODY,),
    "POST /v1/retrieval/{ns}/blocks/search": (Example({"query": "pnpm"}),),
    "POST /v1/retrieval/{ns}/blocks/{blk}/expand": (Example({"level": 5}),),
    "POST /v1/retrieval/{ns}/context": (Example({"thread_id": "{thread}"}),),
    "POST /v1/batches/{bat}/assessment": (
        Example(
            {"verdict": "sufficient", "evidence_refs": ["event:{evt}"], "next_strategy": "answer"}
        ),
        Example({"verdict": "partial", "evidence_refs": REFS}),
    ),
    "POST /v1/batches/{bat}/use": (
        Example({"evidence_refs": ["event:{evt}"], "receipt_id": "tenancy-use"}),
        Example({"evidence_refs": REFS, "receipt_id": "tenancy-refs"}),
    ),
    "POST /v1/tools/{tool_name}": (
        tool("memory_search_events", query="pnpm"),
        tool("memory_expand_event", event_id="{evt}"),
        tool("memory_search_graph", query="Orion"),
        tool("memory_expand_graph_node", node_id="{nod}"),
        tool("memory_search_elements", query="Orion"),
        tool("memory_expand_element", element_id="{nod}"),
        tool("memory_search_raw", query="pnpm"),
        tool("memory_get_blocks", scope="namespace"),
        tool("memory_expand_block", block_id="{blk}", level=5),
        tool("memory_assess", batch_id="{bat}", verdict="wrong"),
        tool("memory_assess", batch_id="{bat}", verdict="partial", evidence_refs=REFS),
        tool("memory_record_use", batch_id="{bat}", evidence_refs=[]),
    ),
}

NAMES_NOTHING = {
    "GET /v1/namespaces": "lists the tenant's own",
    "GET /v1/policy": "the tenant's own",
    "PATCH /v1/policy": "the tenant's own",
    "GET /v1/keys": "lists the tenant's own",
    "POST /v1/keys": "makes one of the tenant's own; a namespace it lists may not be there yet",
    "GET /v1/import-prompt": "the same for everybody",
    "GET /v1/tools": "the same for everybody",
    "POST /v1/host-events": "derives the namespace, which the other host-events route has in its"
    " path",
    "GET /health/live": "no key, no tenant",
    "GET /health/ready": "no key, no tenant",
    "GET /metrics": "no key, no tenant",
    "GET /version": "no key, no tenant",
}
"""The routes that take no id and no namespace, and why that is so."""


def filled(value: Any, names: dict[str, str]) -> Any:
    """Return a value with every `{name}` in its strings replaced."""
    if isinstance(value, str):
        for name, put in names.items():
            value = value.replace(f"{{{name}}}", put)
        return value
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in value.items()}
    return value
