"""What an endpoint understands of a request, and how to ask it more simply.

A dialect begins with everything and loses what the endpoint complains about: the reply format
falls from a bounded JSON schema to one without lengths, to JSON, to plain words, and parameters
that it does not know are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson

from workers.models.port import ModelTask
from workers.models.reply_schema import schema_of

Format = Literal["json_schema", "json_object", "plain"]
_SIMPLER: Final[Mapping[Format, Format]] = {"json_schema": "json_object", "json_object": "plain"}
_EFFORTS: Final = ("none", "minimal", "low")
_FORMAT_WORDS = re.compile(r"response_format|json_schema|json_object|schema|grammar|guided")
_BOUND_WORDS = re.compile(r"\b(?:max|min)_?(?:items|length)\b|repetition")
# What may be said of a schema that holds too much as well as of schemas in general.
_SCHEMA_WORDS = re.compile(r"schema|grammar|guided")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One form of request.

    `effort` is how little reasoning is asked for before the answer, None where it cannot be
    said; `has_template_switch` says it once more for servers of open models. `has_bounds` tells
    whether the schema says how long lists and texts may be.
    """

    reply_format: Format = "json_schema"
    has_bounds: bool = True
    cap_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    effort: str | None = "none"
    has_template_switch: bool = True

    def without(self, complaint: str) -> tuple[Dialect, bool] | None:
        """Return the next simpler dialect after a 400 with these words; None at the end.

        The flag tells whether the words name what was left out. If not, it is a guess, to be
        remembered only when it works.
        """
        named = self._without_named(complaint)
        if named is not None:
            return named, True
        if self._may_lose_bounds and _SCHEMA_WORDS.search(complaint):
            return replace(self, has_bounds=False), False
        if self.effort is not None or self.has_template_switch:
            return replace(self, effort=None, has_template_switch=False), False
        if self._may_lose_bounds:
            return replace(self, has_bounds=False), False
        simpler = _SIMPLER.get(self.reply_format)
        return (replace(self, reply_format=simpler), False) if simpler else None

    def _without_named(self, complaint: str) -> Dialect | None:
        if self.has_template_switch and "chat_template_kwargs" in complaint:
            return replace(self, has_template_switch=False)
        if self.effort is not None and "reasoning" in complaint:
            return replace(self, effort=self._less_quiet(complaint))
        if self.cap_field == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, cap_field="max_completion_tokens")
        if self._may_lose_bounds and _BOUND_WORDS.search(complaint):
            return replace(self, has_bounds=False)
        if self._may_lose_bounds and _SCHEMA_WORDS.search(complaint):
            return None
        simpler = _SIMPLER.get(self.reply_format)
        if simpler and _FORMAT_WORDS.search(complaint):
            return replace(self, reply_format=simpler)
        return None

    @property
    def _may_lose_bounds(self) -> bool:
        return self.has_bounds and self.reply_format == "json_schema"

    def _less_quiet(self, complaint: str) -> str | None:
        """Return the least effort that the endpoint says it does know, None when it names none."""
        left = _EFFORTS[_EFFORTS.index(self.effort) + 1 :] if self.effort in _EFFORTS else ()
        return next((one for one in left if re.search(rf"['\"`]{one}['\"`]", complaint)), None)


def request_of(task: ModelTask[object], model: str, dialect: Dialect) -> dict[str, Any]:
    """Return the body of a chat completion that asks for a task in a dialect."""
    schema = schema_of(task, is_bounded=dialect.has_bounds)
    system = task.prompt.system
    if dialect.reply_format != "json_schema":
        words = orjson.dumps(schema).decode()
        system += f"\nThe JSON object must follow this JSON schema:\n{words}"
    request: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": task.prompt.user},
        ],
        dialect.cap_field: task.max_output_tokens,
    }
    if dialect.effort is not None:
        request["reasoning_effort"] = dialect.effort
    if dialect.has_template_switch:
        request["chat_template_kwargs"] = {"enable_thinking": False}
    if dialect.reply_format == "json_schema":
        named = {"name": task.kind.value, "strict": True, "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    elif dialect.reply_format == "json_object":
        request["response_format"] = {"type": "json_object"}
    return request
