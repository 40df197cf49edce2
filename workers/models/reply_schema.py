"""The JSON schema that a task's reply is asked to follow, with the bounds that make it end.

A small model held by a grammar stops where the grammar lets it, so lists, texts and ids are
bounded here. What comes back is checked by the domain's rules all the same, which allow more.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel

from workers.models.port import ModelTask, ReplyRoom

NAMED_BY: Final = "x-named-by"
"""Marks a text that is one of a room's names, by their kind."""

COUNTED_BY: Final = "x-counted-by"
"""Marks a list whose greatest and smallest length a room gives, by its kind."""

_BOUNDS: Final = frozenset({"maxItems", "minItems", "maxLength", "minLength"})
# Words for readers of the code: the prompt says what fields mean.
_NOISE: Final = frozenset({"title", "description", "default", NAMED_BY, COUNTED_BY})
_NULL: Final = {"type": "null"}


def schema_of(task: ModelTask[object], *, is_bounded: bool = True) -> dict[str, Any]:
    """Return the schema of a task's reply, by alias.

    Fields with a default are accepted and not asked for, so they are not in it; nor are those
    that could name nothing in this task's room. Without bounds the lengths are left out, which
    some providers refuse; the names stay.
    """
    return _shaped(_full(task.reply_type), task.room, is_bounded) or {}


@lru_cache(maxsize=16)
def _full(reply_type: type[BaseModel]) -> Mapping[str, Any]:
    return reply_type.model_json_schema(by_alias=True)


def _shaped(node: Mapping[str, Any], room: ReplyRoom, is_bounded: bool) -> dict[str, Any] | None:
    """Return one schema as it is asked, None where nothing could satisfy it but null or []."""
    shaped = {key: value for key, value in node.items() if key not in _NOISE}
    if (kind := node.get(NAMED_BY)) is not None:
        names = room.names.get(kind, ())
        if not names:
            return None
        shaped = {"type": "string", "enum": list(names)}
    if (kind := node.get(COUNTED_BY)) is not None and kind in room.most:
        shaped["maxItems"] = room.most[kind]
        if kind in room.least:
            shaped["minItems"] = room.least[kind]
    if "items" in node:
        items = _shaped(node["items"], room, is_bounded)
        if items is None:
            return None
        shaped["items"] = items
    if "anyOf" in node:
        options = [_shaped(option, room, is_bounded) for option in node["anyOf"]]
        kept = [option for option in options if option is not None]
        if all(option == _NULL for option in kept):
            return None
        shaped["anyOf"] = kept
    if "properties" in node:
        shaped |= _object(node, room, is_bounded)
    if "$defs" in node:
        shaped["$defs"] = {
            name: _shaped(one, room, is_bounded) for name, one in node["$defs"].items()
        }
    return {key: value for key, value in shaped.items() if is_bounded or key not in _BOUNDS}


def _object(node: Mapping[str, Any], room: ReplyRoom, is_bounded: bool) -> dict[str, Any]:
    asked = {
        name: _shaped(one, room, is_bounded)
        for name, one in node["properties"].items()
        if name in node.get("required", ())
    }
    properties = {name: one for name, one in asked.items() if one is not None}
    return {"properties": properties, "required": list(properties)}
