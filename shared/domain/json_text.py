"""JSON as text inside transcripts: compact writing, tolerant of whatever a host sent."""

from __future__ import annotations

import json
from typing import Any

_TOO_DEEP = "[nested too deeply to show]"
_CYCLE = "[circular value]"
_TOO_LONG = "[number too long to show]"


def compact_json(value: Any) -> str:
    """Write a value without blanks, keys in the order they came, non-ASCII as it is.

    Values that JSON has no form for are written as their text; a cycle is marked; a value
    nested beyond the interpreter's depth is replaced by a marker, never an error.
    """
    try:
        return json.dumps(
            without_cycles(value), ensure_ascii=False, separators=(",", ":"), default=str
        )
    except RecursionError:
        return f'"{_TOO_DEEP}"'
    except ValueError:  # the interpreter refuses to write integers of thousands of digits
        return f'"{_TOO_LONG}"'


def parse_json(text: str) -> tuple[bool, Any]:
    """Read a text as JSON: (True, value), or (False, None) for anything that is not JSON.

    NaN and Infinity are not JSON; too deep or too long for the interpreter counts as not JSON.
    """
    try:
        return True, json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False, None


def number_text(value: int | float) -> str:
    """Write a number or truth value as JSON does: `true`, `17`, and 2.0 as `2`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # the interpreter refuses to write integers of thousands of digits
        return _TOO_LONG


def without_cycles(value: Any, ancestors: tuple[int, ...] = ()) -> Any:
    """Copy a JSON-like value with every reference back to an ancestor marked instead."""
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) in ancestors:
        return _CYCLE
    inner = (*ancestors, id(value))
    if isinstance(value, dict):
        return {str(key): without_cycles(item, inner) for key, item in value.items()}
    return [without_cycles(item, inner) for item in value]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
