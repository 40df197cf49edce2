"""The tools over HTTP: what there is, and a call by name; the same permissions and replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from retrieval.routes.edge import Edge
from retrieval.tools.arguments import ToolRequest
from retrieval.tools.calls import ToolCall, asked_for
from retrieval.tools.manifest import GUIDE, TOOLS
from retrieval.tools.running import run_tool
from shared.domain.tenancy import Caller, Permission
from shared.http.dependencies import ClockOf, DatabaseOf, IdempotencyKey, SettingsOf, caller
from shared.http.refusals import refuses

router = APIRouter(prefix="/v1/tools", tags=["tools"])


@dataclass(frozen=True, slots=True)
class ToolCard:
    """One tool as a model is told of it; `parameters` is the JSON schema of its arguments."""

    name: str
    title: str
    description: str
    permission: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolList:
    """Every tool, and how they are used together."""

    items: list[ToolCard]
    next_cursor: str | None
    instructions: str


def _tool_edge(
    caller: Annotated[Caller, Depends(caller(Permission.READ, Permission.USE))],
    database: DatabaseOf,
    clock: ClockOf,
    settings: SettingsOf,
) -> Edge:
    return Edge(caller, database, clock, settings)


ToolEdge = Annotated[Edge, Depends(_tool_edge)]


@router.get("", summary="The tools, as a model is told of them")
def get_tools(_edge: ToolEdge) -> ToolList:
    """With JSON schemas that a model's function calling takes as they are."""
    cards = [
        ToolCard(tool.name, tool.title, tool.description, tool.permission.value, tool.parameters)
        for tool in TOOLS
    ]
    return ToolList(cards, None, GUIDE)


@router.post(
    "/{tool_name}",
    openapi_extra=refuses(
        "unknown_tool",
        "unknown_batch",
        "batch_expired",
        "batch_recorded",
        "not_assessed",
        "not_adopted",
        "block_pending",
        "result_too_large",
        "invalid_time",
        "naive_time",
        "unknown_zone",
        "inverted_window",
        "wrong_id_type",
    ),
    summary="Call a tool by name",
)
def post_tool(
    tool_name: str, asked: ToolRequest, edge: ToolEdge, key: IdempotencyKey, request: Request
) -> dict[str, Any]:
    """The answer of the tool's REST route, with `data_notice` before what is recalled."""
    call = ToolCall(tool_name, asked.namespace, asked.thread_id, asked.arguments, key)
    # As if they stood in the path: the log line and the audit of a 404 tell what was asked for.
    request.path_params.update(asked_for(call))
    return run_tool(edge, call, limit_bytes=edge.settings.tool_result_limit_bytes)
