"""The MCP server: the manifest as its tools, and somebody else's answer to each call.

Who answers is handed in: the use cases in this process (/mcp), or the HTTP API (stdio).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as McpTool

from retrieval.mcp.remedies import with_remedy
from retrieval.tools.calls import ToolCall
from retrieval.tools.manifest import GUIDE, TOOLS, Tool
from shared.errors import InvalidInput
from shared.http.health import release

_NAMESPACE = {"type": "string", "description": "The namespace to read, such as project:demo."}
_THREAD = {
    "type": ["string", "null"],
    "default": None,
    "description": "The conversation that asks; it narrows nothing by itself.",
}


class CallFailed(Exception):
    """A call that failed, with its problem document."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(problem.get("code", ""))
        self.problem = dict(problem)


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a connection says once for all its calls; the tools then have no such argument.

    So nothing that a model reads can talk it into another namespace or conversation.
    """

    namespace: str | None = None
    thread_id: str | None = None


Answer = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a call by the tool's name and its arguments, or raises CallFailed; nothing else."""


class MemoryServer(MCPServer[None]):
    """The tools of the manifest. `fixed` is asked at each request: one server, many connections."""

    def __init__(self, answer: Answer, fixed: Callable[[], Fixed]) -> None:
        super().__init__(
            "stratagate",
            title="StrataGate memory",
            instructions=GUIDE,
            version=release(),
            subscriptions=False,  # nothing here changes, so no connection has to be held open
        )
        self._answer = answer
        self._fixed = fixed

    async def list_tools(self) -> list[McpTool]:
        """List the manifest's tools, without the arguments that the connection has fixed."""
        fixed = self._fixed()
        return [_listed(tool, fixed) for tool in TOOLS]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult:
        """Answer a call; a failure is a tool error that holds the problem and its remedy."""
        try:
            reply = await self._answer(name, arguments)
        except CallFailed as failed:
            return _result(with_remedy(failed.problem), is_error=True)
        return _result(reply)


def placed_call(name: str, arguments: Mapping[str, Any], fixed: Fixed) -> ToolCall:
    """Return the call that MCP's flat arguments mean.

    Raises InvalidInput: without a namespace, and for one other than the connection's.
    """
    given = dict(arguments)
    namespace = _chosen(given.pop("namespace", None), fixed.namespace, "/namespace")
    thread_id = _chosen(given.pop("thread_id", None), fixed.thread_id, "/thread_id")
    if namespace is None:
        raise InvalidInput.at("/namespace", "this field is required", "missing_field")
    return ToolCall(name, namespace, thread_id, given)


def _chosen(given: object, fixed: str | None, pointer: str) -> str | None:
    if given is None:
        return fixed
    if not isinstance(given, str):
        raise InvalidInput.at(pointer, "expected a string", "invalid_value")
    if fixed is not None and given != fixed:
        raise InvalidInput.at(
            pointer, "this connection has chosen another; leave it out", "fixed_by_connection"
        )
    return given


def _listed(tool: Tool, fixed: Fixed) -> McpTool:
    schema = tool.parameters
    properties = dict(schema["properties"])
    required = list(schema.get("required", []))
    if fixed.thread_id is None:
        properties = {"thread_id": _THREAD, **properties}
    if fixed.namespace is None:
        properties = {"namespace": _NAMESPACE, **properties}
        required = ["namespace", *required]
    return McpTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema={**schema, "properties": properties, "required": required},
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=False,
            idempotent_hint=not tool.reads_only,
            open_world_hint=False,
        ),
    )


def _result(content: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    text = orjson.dumps(content).decode()
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=content,
        is_error=is_error,
    )
