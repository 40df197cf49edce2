"""The tools over stdio, for desktop agents: a client of the HTTP API with the host's key.

Standard output carries the protocol and nothing else; logs go to standard error.
"""

from __future__ import annotations

import json
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
_BELOW = "/arguments"


def serve_stdio(url: str, key: str, fixed: Fixed) -> None:
    """Serve the tools on standard input and output until the input ends."""
    anyio.run(_serve, url, key, fixed)


async def _serve(url: str, key: str, fixed: Fixed) -> None:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT_S) as api:

        async def answer(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
            return await _ask(api, name, arguments, fixed)

        await MemoryServer(answer, lambda: fixed).run_stdio_async()


async def _ask(
    api: httpx.AsyncClient, name: str, arguments: Mapping[str, Any], fixed: Fixed
) -> dict[str, Any]:
    """Ask the API, and put whatever fails into the form of a problem."""
    try:
        call = placed_call(name, arguments, fixed)
        find_tool(name)  # the name becomes part of a path
        body = {
            "namespace": call.namespace,
            "thread_id": call.thread_id,
            "arguments": dict(call.arguments),
        }
        # In ASCII: a character that cannot be sent is the API's to refuse, with its place.
        response = await api.post(f"/v1/tools/{name}", content=json.dumps(body))
        content: Any = response.json()
        if not isinstance(content, dict):
            raise _no_answer(api)
    except StrataGateError as error:
        raise CallFailed(problem_of(error, _NO_REQUEST)) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise CallFailed(problem_of(_no_answer(api), _NO_REQUEST)) from error
    if not response.is_success:
        raise CallFailed(_flat(content))
    return content


def _no_answer(api: httpx.AsyncClient) -> Unavailable:
    return Unavailable(f"no answer of StrataGate at {api.base_url}")


def _flat(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Give pointers as the arguments stand in MCP: beside namespace and thread, not below."""
    errors = [
        {**one, "pointer": one["pointer"].removeprefix(_BELOW)} for one in problem.get("errors", [])
    ]
    detail = str(problem.get("detail", "")).removeprefix(_BELOW)
    return {**problem, "detail": detail, "errors": errors}
