"""Tool traces in words: what a result says, and which messages are nothing but a tool payload.

A message is recognised only where the whole of it, or of the one fenced block that it is, is
the payload, or where its role is `tool` (D6); prose that mentions a tool call is prose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from shared.domain.json_text import number_text, parse_json
from shared.domain.spacing import collapse, trim

UNKNOWN_KIND = "unknown_kind"
"""Stands for the name of a trace item that names no tool."""

_TEXT_LIMIT = 160
_ERROR_LIMIT = 140
_INPUT_KEYS = frozenset({"arguments", "params", "input", "request"})
_FENCE_OPEN = re.compile(r"^```(?:json)?", re.IGNORECASE)
_MARKER = re.compile(r'tool_calls?|"function"|"arguments"', re.IGNORECASE)
_NAME_PAIR = re.compile(r'"name"\s*:\s*"([^"]+)"')
_PAYLOAD_START = re.compile(r'[\[\s]*\{\s*"')
_OPENERS, _CLOSERS = "{[", "}]"


def tool_call_line(call: Mapping[str, Any]) -> str:
    """Describe one trace item in a line: its name and what came of it.

    Items in the chat form `{"function": {"name": …}}` are named from there; an item without
    any name is marked `unknown_kind` and never refused.
    """
    summary = result_summary(call.get("result"))
    line = f"Tool call: {tool_name(call) or UNKNOWN_KIND}"
    return f"{line} ({summary})" if summary else line


def tool_name(call: Mapping[str, Any]) -> str | None:
    """Return the name of the tool a trace item called, or None when it names none."""
    name = call.get("name")
    if isinstance(name, str) and name.strip():
        return name
    function = call.get("function")
    inner = function.get("name") if isinstance(function, Mapping) else None
    return inner if isinstance(inner, str) and inner.strip() else None


def result_summary(value: Any) -> str:
    """Say in at most 160 characters what a tool returned; empty for nothing at all."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _text_summary(value)
    if isinstance(value, bool | int | float):
        return number_text(value)
    return _structure_summary(value if isinstance(value, Mapping) else {})


def recognised_tool_json(content: str, *, is_tool: bool) -> str | None:
    """Return the line that stands for a tool payload, or None when the message is none.

    `is_tool` says that the role is `tool`: then a payload that does not parse counts as soon
    as it holds one of the marker words. Of other roles it must be shaped as a payload from
    its first character to its last.
    """
    text = _unfenced(content)
    is_json, value = parse_json(text)
    if is_json:
        return _parsed_line(value)
    if not _MARKER.search(text) or not (is_tool or _is_payload_shaped(text)):
        return None
    names = ", ".join(dict.fromkeys(_NAME_PAIR.findall(text)))
    return f"Tool call: {names} (raw arguments omitted)" if names else _NAMELESS


_NAMELESS = "Tool call (raw arguments omitted)"


def _text_summary(text: str) -> str:
    short = trim(collapse(text))
    is_json, value = parse_json(short)
    return result_summary(value) if is_json else short[:_TEXT_LIMIT]


def _structure_summary(value: Mapping[str, Any]) -> str:
    if isinstance(value.get("error"), str):
        return "failed: " + collapse(value["error"])[:_ERROR_LIMIT]
    for key in ("summary", "message"):
        if isinstance(value.get(key), str):
            return collapse(value[key])[:_TEXT_LIMIT]
    counts = ", ".join(
        f"{key}: {len(item)}"
        for key, item in value.items()
        if isinstance(item, list | tuple) and key not in _INPUT_KEYS
    )
    if counts:
        return counts[:_TEXT_LIMIT]
    if isinstance(value.get("ok"), bool):
        return "completed" if value["ok"] else "not completed"
    return "structured result returned"


def _unfenced(content: str) -> str:
    text = trim(content)
    opened = _FENCE_OPEN.match(text)
    if opened is None:
        return text
    return trim(text[opened.end() :].removesuffix("```"))


def _parsed_line(value: Any) -> str | None:
    names = ", ".join(dict.fromkeys(_tool_names(value)))
    if not names:
        return None
    top = value if isinstance(value, Mapping) else {}
    result = top.get("result")
    summary = result_summary(top.get("content") if result is None else result)
    return f"Tool call: {names} ({summary})" if summary else f"Tool call: {names}"


def _tool_names(value: Any) -> list[str]:
    """Collect tool names in reading order; iterative, so that depth cannot exhaust the stack."""
    names: list[str] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            names.extend(_names_of(item))
            pending.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            pending.extend(reversed(item))
    return names


def _names_of(item: Mapping[str, Any]) -> list[str]:
    function = item.get("function")
    found = (
        item.get("name") if "arguments" in item or "parameters" in item else None,
        item.get("tool"),
        function.get("name") if isinstance(function, Mapping) else None,
    )
    return [name for name in found if isinstance(name, str) and name]


def _is_payload_shaped(text: str) -> bool:
    """Tell whether the text opens as a JSON object and closes at its last character or never."""
    if not _PAYLOAD_START.match(text):
        return False
    depth = 0
    in_string = escaped = False
    for index, char in enumerate(text):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char in _OPENERS:
            depth += 1
        elif char in _CLOSERS:
            depth -= 1
            if depth <= 0:
                return index == len(text) - 1
    return True
