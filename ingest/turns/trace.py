"""Tool calls of a message as trace objects `{id?, name, arguments?, result?}`, nothing refused.

An item that names no tool is kept as it came and marked, so that one odd item costs neither the
turn nor its block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.tool_json import UNKNOWN_KIND, tool_name
from shared.errors import InvalidInput
from shared.http import strict_json


def trace_of(tool_calls: Sequence[Any], function_call: Mapping[str, Any] | None) -> list[Any]:
    """Return the trace objects of a message, in order, the older `function_call` last."""
    items = [*tool_calls, *([function_call] if function_call is not None else [])]
    return [_trace(item) for item in items]


def _trace(item: Any) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        return {"raw": item, UNKNOWN_KIND: True}
    if tool_name(item) is None:
        return {**item, UNKNOWN_KIND: True}
    function = item.get("function")
    if isinstance(item.get("name"), str) or not isinstance(function, Mapping):
        return _with_arguments_read(dict(item))
    # The chat form wraps the call; what stands beside the wrapper is kept.
    outer = {key: value for key, value in item.items() if key not in ("function", "type")}
    call_id = {"id": outer.pop("id")} if "id" in outer else {}
    return _with_arguments_read({**call_id, **function, **outer})


def _with_arguments_read(call: dict[str, Any]) -> dict[str, Any]:
    """Read arguments that came as JSON text; text that is no JSON object or list stays text."""
    arguments = call.get("arguments")
    if isinstance(arguments, str):
        try:
            value = strict_json.parse(arguments)
        except InvalidInput:
            # Not JSON, or JSON that cannot be stored as a value: its text can.
            return call
        if isinstance(value, dict | list):
            call["arguments"] = value
    return call
