"""Deep comparison of a golden output with ours: floats to 1e-12, times as instants."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_RELATIVE = 1e-12
_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})")
ABSENT = {"$js": "undefined"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the two outputs part, by JSON path from the output ("$")."""

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected!r}, got {self.actual!r}"


def differences(expected: Any, actual: Any, path: str = "$") -> list[Difference]:
    """List every place where the outputs differ; a key with no value equals an absent one."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key in dict.fromkeys([*expected, *actual]):
            ours, theirs = actual.get(key, ABSENT), expected.get(key, ABSENT)
            found += differences(theirs, ours, f"{path}.{key}")
        return found
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [Difference(path, expected, actual)]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [d for i, (e, a) in pairs for d in differences(e, a, f"{path}[{i}]")]
    return [] if _same(expected, actual) else [Difference(path, expected, actual)]


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=_RELATIVE, abs_tol=0.0)
    if isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        return _is_instant(expected) and _is_instant(actual) and _at(expected) == _at(actual)
    return type(expected) is type(actual) and bool(expected == actual)


def _is_instant(text: str) -> bool:
    return _INSTANT.fullmatch(text) is not None


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
