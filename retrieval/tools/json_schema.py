"""The JSON schema of a tool's arguments, in the plain form that every model and client reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_REF = "#/$defs/"


def arguments_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """Return a model's schema with every reference written out and without titles.

    `thread_id` is left out: which conversation asks is said beside the arguments.
    """
    whole = arguments.model_json_schema(by_alias=True)
    schema: dict[str, Any] = _plain(whole, whole.get("$defs", {}))
    fields, required = schema["properties"], schema.get("required", [])
    fields.pop("thread_id", None)
    # What must be given comes first: a model reads it first.
    schema["properties"] = {name: fields[name] for name in (*required, *fields)}
    schema.pop("description", None)  # the tool's own says more
    return schema


def _plain(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = definitions[part["$ref"].removeprefix(_REF)]
        return _plain({**named, **{k: v for k, v in part.items() if k != "$ref"}}, definitions)
    return {
        key: _plain_fields(value, definitions)
        if key == "properties"
        else _plain(value, definitions)
        for key, value in part.items()
        if key not in ("$defs", "title")
    }


def _plain_fields(fields: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Keep every property's name, also one that is called like a word of the schema language."""
    return {name: _plain(field, definitions) for name, field in fields.items()}
