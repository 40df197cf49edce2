"""The tools over stdio, for desktop agents: a client of the HTTP API with the host's key.

Standard output carries the protocol and nothing else; logs go to standard error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import httpx

from retrieval.mcp.server import CallFailed, Fixed, MemoryServer, placed_call
from retrieval.tools.manifest import find_tool
from shared.errors import StrataGateError, Unavailable
from shared.http.problems import problem_of

_TIMEOUT_S = 60.0
_NO_REQUEST = ""


def serve_stdio(url: str, key: str, fixed: Fixed) -> None:
    """Serve the tools on standard input and output until the input ends."""
    anyio.run(_serve, url, key, fixed)


async def _serve(url: str, key: str, fixed: Fixed) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT_S) as api:

        async def answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return await _ask(api, name, arguments, fixed)

        await MemoryServer(answer, lambda: fixed).run_stdio_async()


async def _ask(
    api: httpx.AsyncClient, name: str, arguments: Mapping[str, Any], fixed: Fixed
) -> dict[str, Any]:
    try:
        call = placed_call(name, arguments, fixed)
        find_tool(name)  # the name becomes part of a path
        body = {
            "namespace": call.namespace,
            "thread_id": call.thread_id,
            "arguments": dict(call.arguments),
        }
        response = await api.post(f"/v1/tools/{name}", json=body)
        content = response.json()
    except StrataGateError as error:
        raise CallFailed(problem_of(error, _NO_REQUEST)) from error
    except (httpx.HTTPError, ValueError) as error:
        away = Unavailable(f"no answer of StrataGate at {api.base_url}")
        raise CallFailed(problem_of(away, _NO_REQUEST)) from error
    if not isinstance(content, dict) or not response.is_success:
        raise CallFailed(_flat(content) if isinstance(content, dict) else {})
    return content


def _flat(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Give pointers as the arguments stand in MCP: beside namespace and thread, not below."""
    errors = [
        {**one, "pointer": one["pointer"].removeprefix("/arguments")}
        for one in problem.get("errors", [])
    ]
    return {**problem, "errors": errors}
