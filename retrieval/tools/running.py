"""Run one tool call: permission, arguments, one transaction, and the reply as plain JSON.

REST and MCP come here alike, so that a tool has one meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

import orjson
from pydantic import ValidationError

from retrieval.assess import assess_batch
from retrieval.batches import latest_batch, named_batch
from retrieval.blocks import expand_block, get_blocks
from retrieval.elements import expand_element, search_elements
from retrieval.expand import expand_event, expand_node
from retrieval.graph_search import search_graph
from retrieval.raw import search_raw
from retrieval.reader import Reader
from retrieval.receipts import record_use
from retrieval.schemas import Request
from retrieval.search import search_events
from retrieval.tools.arguments import Assess, ExpandBlock, RecordUse
from retrieval.tools.calls import ToolCall
from retrieval.tools.manifest import DATA_NOTICE, Tool, find_tool
from shared.auth import require
from shared.domain.gate import Verdict
from shared.domain.tenancy import Caller, check_name
from shared.errors import Conflict, InvalidInput, StrataGateError
from shared.http.dependencies import check_receipt_id
from shared.http.problems import invalid_of
from shared.ids import Prefix, check_id
from shared.store.batches import StoredBatch, latest_assessment
from shared.store.database import WriteTx

_BY_MEANING = frozenset({"memory_search_events", "memory_search_raw"})
"""Tools that also compare what a query means, where vectors are on."""

_OF_REFS = frozenset({"not_adopted", "not_assessed"})
_NAMED_REFS = 20


class Edge(Protocol):
    """What a call needs of its edge: who asks, and a transaction on a namespace in reach."""

    @property
    def caller(self) -> Caller:
        """Who asks."""

    def writing(
        self, ns: str, thread_id: str | None = None, query: str | None = None, /
    ) -> AbstractContextManager[tuple[WriteTx, Reader]]:
        """Open the one transaction of the call; NotFound when the namespace is out of reach."""


def run_tool(
    edge: Edge, call: ToolCall, *, limit_bytes: int, base: str = "/arguments"
) -> dict[str, Any]:
    """Run a call and return its reply; nothing is stored when it raises.

    `base` is the pointer of the arguments in what the client sent. Raises what the tool's REST
    route raises, NotFound (`unknown_tool`), and InvalidInput (`result_too_large`) when the reply
    has more than `limit_bytes` bytes of JSON.
    """
    tool = find_tool(call.name)
    require(edge.caller, (tool.permission,))
    namespace = check_name(call.namespace, "/namespace")
    arguments = _read_arguments(tool, call, base)
    thread_id = _thread_of(call, arguments, base)
    query = getattr(arguments, "query", None) if tool.name in _BY_MEANING else None
    with edge.writing(namespace, thread_id, query) as (tx, reader):
        try:
            reply = _RUN[tool.name](tx, reader, arguments)
        except StrataGateError as error:
            raise _placed(error, base) from error
        return _as_json(tool, reply, limit_bytes)


def _read_arguments(tool: Tool, call: ToolCall, base: str) -> Request:
    """Validate as the REST route does; a null of a known field counts as absent.

    Models that must fill every field of a schema send null for what they leave out.
    """
    known = {info.alias or name for name, info in tool.arguments.model_fields.items()}
    given = {k: v for k, v in call.arguments.items() if v is not None or k not in known}
    if "receipt_id" in known and call.receipt_id is not None:
        given.setdefault("receipt_id", call.receipt_id)
    try:
        return tool.arguments.model_validate(given)
    except ValidationError as error:
        raise invalid_of(error.errors(include_url=False), base) from error


def _thread_of(call: ToolCall, arguments: Request, base: str) -> str | None:
    named: str | None = getattr(arguments, "thread_id", None)
    if named is not None and call.thread_id not in (None, named):
        raise InvalidInput.at(
            f"{base}/thread_id", "names another thread than the call; leave it out", "invalid_value"
        )
    return call.thread_id if named is None else named


def _as_json(tool: Tool, reply: object, limit_bytes: int) -> dict[str, Any]:
    content = orjson.dumps(reply)
    if len(content) > limit_bytes:
        raise InvalidInput(
            f"the result has {len(content)} bytes, over the {limit_bytes} of a tool's result; "
            "ask for less: a lower limit or level, a narrower query or scope",
            code="result_too_large",
        )
    shown: dict[str, Any] = orjson.loads(content)
    return {"data_notice": DATA_NOTICE, **shown} if tool.recalls else shown


def _placed(error: StrataGateError, base: str) -> StrataGateError:
    """Move the pointers that a use case gave to where the arguments stand."""
    if not (base and error.errors):
        return error
    first = error.errors[0].pointer
    if first and error.detail.startswith(first):
        error.detail = base + error.detail
    error.errors = tuple(replace(one, pointer=base + one.pointer) for one in error.errors)
    return error


def _expand_event(tx: WriteTx, reader: Reader, asked: Any) -> object:
    return expand_event(tx, reader, check_id(asked.event_id, Prefix.EVENT, "/event_id"))


def _expand_node(tx: WriteTx, reader: Reader, asked: Any) -> object:
    return expand_node(tx, reader, check_id(asked.node_id, Prefix.NODE, "/node_id"), asked=asked)


def _expand_element(tx: WriteTx, reader: Reader, asked: Any) -> object:
    return expand_element(
        tx, reader, check_id(asked.element_id, Prefix.NODE, "/element_id"), asked=asked
    )


def _expand_block(tx: WriteTx, reader: Reader, asked: ExpandBlock) -> object:
    block_id = check_id(asked.block_id, Prefix.BLOCK, "/block_id")
    return expand_block(tx, reader, block_id, level=asked.level)


def _assess(tx: WriteTx, reader: Reader, asked: Assess) -> object:
    batch = _batch_meant(tx, reader, asked.batch_id)
    own = replace(reader, thread_id=batch.thread_id)
    return assess_batch(tx, own, batch, raw=asked.model_dump(exclude={"batch_id"}))


def _record_use(tx: WriteTx, reader: Reader, asked: RecordUse) -> object:
    receipt_id = asked.receipt_id
    if receipt_id is not None:
        receipt_id = check_receipt_id(receipt_id, "/receipt_id")
    batch = _batch_meant(tx, reader, asked.batch_id)
    own = replace(reader, thread_id=batch.thread_id)
    # A batch is recorded once, so its id is as good a receipt as any that a model would make up.
    receipt_id = receipt_id or batch.batch_id
    try:
        return record_use(tx, own, batch, asked=asked, receipt_id=receipt_id)
    except Conflict as error:
        if error.code in _OF_REFS:
            error.detail = f"{error.detail}; {_what_may_be_used(tx, batch)}"
        raise


def _what_may_be_used(tx: WriteTx, batch: StoredBatch) -> str:
    """Say what a model could have named instead (section 19)."""
    assessment = latest_assessment(tx, batch.batch_id)
    is_sufficient = assessment is not None and assessment.verdict == Verdict.SUFFICIENT.value
    adopted = assessment.evidence_refs if assessment is not None and is_sufficient else ()
    verdict = "none" if assessment is None else assessment.verdict
    return (
        f"batch {batch.batch_id} is {batch.state}, its verdict {verdict}; "
        f"adopted: {', '.join(adopted) or 'none'}; "
        f"available: {', '.join(batch.refs[:_NAMED_REFS]) or 'none'}"
    )


def _batch_meant(tx: WriteTx, reader: Reader, batch_id: str | None) -> StoredBatch:
    if batch_id is None:
        return latest_batch(tx, reader)
    return named_batch(tx, reader, check_id(batch_id, Prefix.BATCH, "/batch_id"))


_RUN: Mapping[str, Callable[[WriteTx, Reader, Any], object]] = {
    "memory_search_events": search_events,
    "memory_expand_event": _expand_event,
    "memory_search_graph": search_graph,
    "memory_expand_graph_node": _expand_node,
    "memory_search_elements": search_elements,
    "memory_expand_element": _expand_element,
    "memory_search_raw": search_raw,
    "memory_get_blocks": lambda tx, reader, asked: get_blocks(tx, reader, scope=asked.scope),
    "memory_expand_block": _expand_block,
    "memory_assess": _assess,
    "memory_record_use": _record_use,
}
