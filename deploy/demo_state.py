"""What the demo says of a node: what holds now, since when or as a plan, and what held before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_DAY = slice(10)
_DONE = "done"


def state_lines(beliefs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the lines of what holds now and of what held before, from a node's history.

    Values of one key that stand equally are one line. A plan holds as a plan only, and says so;
    all else says since which day it holds, and what is done, on which day it was.
    """
    now: dict[tuple[str, str], list[str]] = {}
    before: dict[tuple[str, str], list[str]] = {}
    for belief in beliefs:
        fact = belief["fact"]
        if fact is not None:
            mark, lines = (_standing(fact), now) if belief["is_current"] else ("", before)
            values = lines.setdefault((fact["key"], mark), [])
            values += [value for value in _values(fact["value"]) if value not in values]
    return _joined(now), _joined(before)


def _standing(fact: Mapping[str, Any]) -> str:
    if fact["status"] == "disputed":
        return " [disputed]"
    if fact["is_planned"]:
        return " [planned]"
    word = "on" if fact["key"] == _DONE else "since"
    return f" ({word} {fact['valid_from'][_DAY]})" if fact["valid_from"] else ""


def _values(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _joined(lines: Mapping[tuple[str, str], list[str]]) -> list[str]:
    return [f"{key}: {', '.join(values)}{mark}" for (key, mark), values in lines.items()]
