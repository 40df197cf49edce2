"""Ways of calling the tools: over REST, and over MCP with the SDK's own client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from tests.integration.retrieval.world import NS, World

T = TypeVar("T")


class Tools:
    """The tools over REST, with a key of the world's tenant."""

    def __init__(self, world: World) -> None:
        self.world = world

    def post(self, name: str, arguments: Any = None, **more: Any) -> httpx.Response:
        """Call a tool; `headers` and fields of the envelope may be given."""
        headers = more.pop("headers", None)
        body = {"namespace": NS, "arguments": arguments or {}, **more}
        return self.world.post(f"/v1/tools/{name}", body, headers=headers)

    def call(self, name: str, arguments: Any = None, **more: Any) -> Any:
        """Call a tool and return its result, which must be there."""
        answer = self.post(name, arguments, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, name: str, arguments: Any = None, **more: Any) -> tuple[int, Any]:
        """Call a tool that must fail; return status and problem but for the request's id."""
        answer = self.post(name, arguments, **more)
        assert not answer.is_success, answer.text
        problem = answer.json()
        problem.pop("request_id")
        return answer.status_code, problem


def over_mcp(
    url: str, key: str, script: Callable[[Client], Awaitable[T]], *, query: str = "", **client: Any
) -> T:
    """Run a script with the SDK's client against /mcp."""

    async def run() -> T:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http_client,
            Client(
                streamable_http_client(f"{url}/mcp{query}", http_client=http_client), **client
            ) as agent,
        ):
            return await script(agent)

    return anyio.run(run)


def content_of(result: CallToolResult) -> dict[str, Any]:
    """Return what a call that worked has told."""
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content or {}
    assert content
    return content


def problem_of(result: CallToolResult) -> dict[str, Any]:
    """Return what a call that failed has told."""
    assert result.is_error, result.content
    content: dict[str, Any] = result.structured_content or {}
    assert content
    return content
