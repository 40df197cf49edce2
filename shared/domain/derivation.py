"""What models see of a conversation: whole words of people, bulky tool traffic shortened.

The view exists for one model call and is never stored; L5 stays whole. Ids, roles and times
are kept, so that a reply can cite its sources.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shared.domain.json_text import compact_json, without_cycles
from shared.domain.tool_json import result_summary, tool_name
from shared.domain.turns import Message, Origin, Role

_TOOL_TEXT_LIMIT = 2400
_ARGUMENTS_LIMIT = 1200
_RESULT_LIMIT = 2400
_CODE_LIMIT = 240
_CODE_KEYS = frozenset({"code", "command", "program", "script", "source", "sourcecode"})
_KEY_JOINTS = re.compile(r"[\s_-]+")
_OWN_TOOL = "memory_"
# Within one line: so that no mark forms from what stood on both sides of a passage.
_CONTEXT_MARK = re.compile(r"<(?P<end>/?)memory[-_]context\b[^<>\n]*>", re.IGNORECASE)


def model_view(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what a model may read as evidence: this service's own output left out, then short.

    A reply that was fed back from memory must never become a new memory (D41).
    """
    return derivation_view(without_own_memory(messages))


def derivation_view(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Shorten tool texts over 2400 characters, arguments over 1200 and results over 2400.

    User and assistant text is kept whole; lengths are code points.
    """
    return tuple(_shortened(message) for message in messages)


def without_own_memory(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Leave out injected messages, `memory_*` traces and marked memory-context passages.

    A message that held nothing else disappears; one that was empty before is kept.
    """
    kept: list[Message] = []
    for message in without_memory_tools(messages):
        if message.origin is Origin.INJECTED:
            continue
        content = without_memory_context(message.content)
        if content == message.content:
            kept.append(message)
        elif content.strip() or message.tool_calls:
            kept.append(replace(message, content=content))
    return tuple(kept)


def without_memory_tools(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop calls of `memory_*` tools and the tool messages that answer them."""
    own_call_ids = {
        call["id"]
        for message in messages
        for call in message.tool_calls
        if is_memory_tool(tool_name(call)) and isinstance(call.get("id"), str)
    }
    kept: list[Message] = []
    for message in messages:
        answers_own = message.role is Role.TOOL and (
            message.tool_call_id in own_call_ids or is_memory_tool(message.name)
        )
        if answers_own:
            continue
        calls = tuple(call for call in message.tool_calls if not is_memory_tool(tool_name(call)))
        if len(calls) == len(message.tool_calls):
            kept.append(message)
        elif calls or message.content.strip():
            kept.append(replace(message, tool_calls=calls))
    return tuple(kept)


def without_memory_context(text: str) -> str:
    """Cut every closed `<memory-context>…</memory-context>` passage out, with those inside it.

    What stood before a passage and what stood behind it come out as two lines, for nobody said
    them as one sentence. An opening mark without its end is left alone: it may be somebody's
    own words.
    """
    passages = _passages(text)
    if not passages:
        return text
    pieces: list[str] = []
    done, has_words = 0, False
    for start, end in [*passages, (len(text), len(text))]:
        piece = text[done:start]
        says = bool(piece.strip())
        pieces += ["\n", piece] if says and has_words and done else [piece]
        done, has_words = end, has_words or says
    return "".join(pieces)


def _passages(text: str) -> list[tuple[int, int]]:
    """Return the outermost closed passages, in order."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for mark in _CONTEXT_MARK.finditer(text):
        if not mark["end"]:
            opened.append(mark.start())
        elif opened:
            start = opened.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, mark.end()))
    return found


def is_memory_tool(name: str | None) -> bool:
    """Tell whether a tool is one of the memory's own."""
    return name is not None and name.startswith(_OWN_TOOL)


def _shortened(message: Message) -> Message:
    content = message.content
    if not message.tool_calls and (
        message.role is not Role.TOOL or len(content) <= _TOOL_TEXT_LIMIT
    ):
        return message
    if message.role is Role.TOOL and len(content) > _TOOL_TEXT_LIMIT:
        content = _cut_tool_text(content)
    calls = tuple(_shortened_call(call) for call in message.tool_calls)
    return replace(message, content=content, tool_calls=calls)


def _cut_tool_text(text: str) -> str:
    head, tail = _TOOL_TEXT_LIMIT * 6 // 10, _TOOL_TEXT_LIMIT * 2 // 10
    omitted = len(text) - head - tail
    note = f"[tool message content compacted: {omitted} chars omitted; full value remains in L5]"
    return f"{text[:head]}\n{note}\n{text[-tail:]}"


def _shortened_call(call: Mapping[str, Any]) -> dict[str, Any]:
    view = dict(call)
    if "arguments" in view:
        arguments = _without_code(without_cycles(view["arguments"]), key=None)
        view["arguments"] = _compacted(arguments, "arguments", _ARGUMENTS_LIMIT)
    if "result" in view:
        view["result"] = _compacted(without_cycles(view["result"]), "result", _RESULT_LIMIT)
    function = view.get("function")
    if isinstance(function, Mapping):
        view["function"] = _shortened_call(function)
    return view


def _without_code(value: Any, *, key: str | None) -> Any:
    """Replace long program texts; `key` is the code key that holds the value, if one does."""
    if isinstance(value, str):
        if key is None or len(value) <= _CODE_LIMIT:
            return value
        return f"[{key} omitted: {len(value)} chars; full value remains in L5]"
    if isinstance(value, list):
        return [_without_code(item, key=key) for item in value]
    if isinstance(value, dict):
        return {
            name: _without_code(item, key=name if _is_code_key(name) else None)
            for name, item in value.items()
        }
    return value


def _is_code_key(name: str) -> bool:
    return _KEY_JOINTS.sub("", name).lower() in _CODE_KEYS


def _compacted(value: Any, kind: str, limit: int) -> Any:
    text = value if isinstance(value, str) else compact_json(value)
    if len(text) <= limit:
        return value
    head, tail = max(160, limit * 48 // 100), max(80, limit * 20 // 100)
    view: dict[str, Any] = {
        "_stratagate": f"tool {kind} compacted; full value remains in L5",
        "originalChars": len(text),
    }
    if summary := result_summary(value):
        view["summary"] = summary
    view |= {"head": text[:head], "tail": text[-tail:]}
    view["omittedChars"] = len(text) - head - tail
    return view
