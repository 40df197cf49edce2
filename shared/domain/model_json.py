"""Reading the JSON object out of a model's text, tolerantly but never by guessing.

Byte-order marks, code fences, chatter and reasoning blocks are passed over; duplicate keys,
NaN, two adjacent objects and a reply that was cut off are told apart from a good one.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, NoReturn

_FENCE = re.compile(r"^```[\w-]*\s*(.*?)\s*```$", re.DOTALL)
_STOP = re.compile(r"\{(?=\s*[\"}])|\{(?=\s*$)|<(/?)(?:think|thinking|reasoning)>", re.IGNORECASE)
_THINK_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_CUT_WORDS: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
_NO_JSON: Final = object()
_TAIL = 6
"""Half a literal, number or \\u escape at the very end of a text is at most this long."""


class UnreadableReply(Exception):
    """A model's reply cannot be used. `problems` are sentences for a repair request."""

    def __init__(self, detail: str, *, problems: tuple[str, ...] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.problems = problems or (detail,)


class MalformedReply(UnreadableReply):
    """Not the asked-for JSON; one repair is allowed."""


class TruncatedReply(UnreadableReply):
    """Cut off at the output limit; the same request must not be sent again."""


@dataclass(frozen=True, slots=True)
class _Found:
    value: dict[str, object]
    start: int
    end: int


def read_object(
    text: str, *, required_keys: Collection[str] = (), finish_reason: str | None = None
) -> dict[str, object]:
    """Return the one JSON object that a model's text means.

    Among several objects with prose between them the first that has `required_keys` is meant
    (camelCase and snake_case count as the same); where no key is asked for, or none has them,
    the last one is. What stands in a reasoning block never is. `finish_reason` is the provider's
    word for why the model stopped. Raises TruncatedReply or MalformedReply.
    """
    cleaned = text.replace("\ufeff", "").strip()
    whole = _whole(cleaned)
    if whole is not None:
        return whole
    try:
        found = _scan(cleaned)
    except MalformedReply as error:
        if finish_reason in _CUT_WORDS:
            raise TruncatedReply("the reply was cut off at the output limit") from error
        raise
    if not found and finish_reason in _CUT_WORDS:
        raise TruncatedReply("the reply was cut off before its JSON object")
    if not found:
        raise MalformedReply("the reply holds no JSON object")
    return _choose(cleaned, found, required_keys)


def read_value(text: str) -> object:
    """Return the JSON value that a whole text is, apart from a fence; None where it is none."""
    value = _decoded(text)
    return None if value is _NO_JSON else value


def key_of(name: str) -> str:
    """Return the form under which camelCase and snake_case spellings of a key are equal."""
    return name.replace("_", "").lower()


def _whole(text: str) -> dict[str, object] | None:
    value = _decoded(text)
    if value is _NO_JSON:
        return None
    if not isinstance(value, dict):
        raise MalformedReply("expected an object")
    return value


def _decoded(text: str) -> object:
    cleaned = text.replace("\ufeff", "").strip()
    fenced = _FENCE.match(cleaned)
    try:
        value: object = _DECODER.decode(fenced.group(1) if fenced else cleaned)
    except (ValueError, RecursionError):
        return _NO_JSON
    return value


def _scan(text: str) -> list[_Found]:
    found: list[_Found] = []
    fault: MalformedReply | None = None
    position = 0
    while (stop := _STOP.search(text, position)) is not None:
        if stop.group(0).startswith("<"):
            position = stop.end()
            if stop.group(1):  # a lone closing tag: all before it was the draft
                found, fault = [], None
                continue
            end = _THINK_END.search(text, position)
            if end is None:
                raise TruncatedReply("the reply ends inside its reasoning")
            position = end.end()
            continue
        try:
            value, end_at = _DECODER.raw_decode(text, stop.start())
        except (ValueError, RecursionError) as error:
            fault, position = _fault(text, stop.start(), error)
            continue
        found.append(_Found(value=value, start=stop.start(), end=end_at))
        position = end_at
    if fault is not None and not found:
        raise fault
    return found


def _fault(text: str, start: int, error: Exception) -> tuple[MalformedReply, int]:
    end = _balanced_end(text, start)
    if end is not None:
        return MalformedReply(f"the JSON object is malformed: {_reason(error)}"), end
    if isinstance(error, json.JSONDecodeError) and (
        error.msg.startswith("Unterminated string") or len(text) - error.pos <= _TAIL
    ):
        raise TruncatedReply("the reply ends inside its JSON object") from error
    raise MalformedReply(f"the JSON object is malformed: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, RecursionError):
        return "nested too deep"
    return str(error)


def _balanced_end(text: str, start: int) -> int | None:
    depth, in_string, escaped = 0, False, False
    for index in range(start, len(text)):
        char = text[index]
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return index + 1
    return None


def _choose(text: str, found: list[_Found], required: Collection[str]) -> dict[str, object]:
    wanted = {key_of(name) for name in required}
    fitting = [one for one in found if wanted <= {key_of(key) for key in one.value}]
    for one, following in itertools.pairwise(fitting or found):
        if not text[one.end : following.start].strip(" \t\r\n,"):
            raise MalformedReply("two JSON objects stand next to each other")
    return fitting[0].value if wanted and fitting else found[-1].value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"duplicate key {key[:80]!r}")
        result[key] = value
    return result


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, strict=False
)
