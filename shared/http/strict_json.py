"""JSON as the contract takes it: bounded depth, storable characters and numbers, nothing else.

What Postgres or a model could not hold (NUL, lone surrogates, numbers beyond 64 bits, NaN) is
refused here with the pointer of its place, so that no later part has to think of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Never

from shared.errors import FieldError, InvalidInput

MAX_DEPTH = 64
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
# Every quote begins a match, closed or not: a string left open must not be scanned twice.
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])|\d{19}|\d[eE]|[\ud800-\udfff\x00]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def decode(body: bytes) -> str:
    """Return a body's text; InvalidInput (`invalid_encoding`) when it is not UTF-8."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            "the body is not UTF-8; send JSON encoded as UTF-8", code="invalid_encoding"
        ) from error


def parse(text: str, base: str = "") -> Any:
    """Return the value of a JSON text; InvalidInput names what is wrong and where.

    `base` is the pointer of the text itself, for items of a list.
    """
    _check_depth(text, base)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _invalid(base, f"not valid JSON at {place}: {error.msg}", "malformed_json") from error
    except ValueError as error:
        raise _invalid(
            base, "a number is not finite or has too many digits", "number_out_of_range"
        ) from error
    if _SUSPECT.search(text):
        check_values(value, base)
    return value


def check_values(value: Any, base: str = "") -> None:
    """Raise InvalidInput for the first string or number that cannot be stored as it is."""
    for pointer, found in _walk(value, base):
        if isinstance(found, str):
            if _UNSTORABLE.search(found):
                raise _invalid(
                    pointer,
                    "holds a NUL or a lone surrogate, which cannot be stored; remove it",
                    "unstorable_character",
                )
        elif isinstance(found, float):
            if not math.isfinite(found):
                raise _invalid(pointer, "must be a finite number", "number_out_of_range")
        elif not _LOWEST <= found <= _HIGHEST:
            raise _invalid(
                pointer, "an integer must fit 64 bits; send it as a string", "number_out_of_range"
            )


def split_items(text: str) -> list[str]:
    """Return the texts of a JSON array's items, so that each can be parsed by itself.

    Raises InvalidInput when the text is no array; an item's own faults are left to its parse.
    """
    bare = text.strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        raise InvalidInput.at(
            "", "expected a JSON array, or one JSON object a line", "malformed_json"
        )
    items: list[str] = []
    depth, start = 0, 1
    for found in _STRUCTURE.finditer(bare):
        mark = found.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == "," and depth == 1:
            items.append(bare[start : found.start()])
            start = found.end()
        if depth == 0 and found.end() != len(bare):
            raise InvalidInput.at("", "text follows the JSON array", "malformed_json")
    last = bare[start:-1]
    return [*items, last] if items or last.strip() else []


def _check_depth(text: str, base: str) -> None:
    depth = 0
    for found in _STRUCTURE.finditer(text):
        mark = found.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _invalid(base, f"nested deeper than {MAX_DEPTH} levels", "json_too_deep")
        elif mark in "]}":
            depth -= 1


def _walk(value: Any, base: str) -> Iterator[tuple[str, str | int | float]]:
    """Yield every string, key and number with its pointer, in reading order, without recursion."""
    pending: list[tuple[str, Any]] = [(base, value)]
    while pending:
        pointer, item = pending.pop()
        if isinstance(item, dict):
            entries = [(f"{pointer}/{_escaped(key)}", key, inner) for key, inner in item.items()]
            yield from ((place, key) for place, key, _ in entries)
            pending.extend((place, inner) for place, _, inner in reversed(entries))
        elif isinstance(item, list):
            pending.extend((f"{pointer}/{n}", item[n]) for n in range(len(item) - 1, -1, -1))
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            yield pointer, item


def _escaped(key: str) -> str:
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", key).replace("~", "~0").replace("/", "~1")


def _invalid(pointer: str, message: str, code: str) -> InvalidInput:
    shown = f"{pointer}: {message}" if pointer else message
    return InvalidInput(shown, code=code, errors=(FieldError(pointer, code, message),))


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)
