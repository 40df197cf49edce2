"""One step of the tool loop: which ones are open, as a JSON schema, and how a reply is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.model_json import UnreadableReply, read_object
from workers.evaluation.answering.chat import ChatReply
from workers.evaluation.answering.memory_tools import ASSESS, EXPAND, SEARCHES

ANSWER: Final = "answer"
VERDICTS: Final = ("sufficient", "partial", "wrong")
_LONGEST_QUERY: Final = 300


@dataclass(frozen=True, slots=True)
class Step:
    """What a model does next; `items` are the numbers that it names, as shown to it."""

    action: str
    query: str = ""
    verdict: str = ""
    items: tuple[int, ...] = ()


def open_steps(
    *, may_answer: bool, expandable: Collection[int], spent: Collection[str] = ()
) -> dict[str, Any]:
    """Return the schema of a step while nothing waits for an assessment.

    `spent` are searches that are not open now, as their last reply showed nothing new.
    """
    searches = [name for name in SEARCHES if name not in spent] or SEARCHES
    forms = [_form(name, query={"type": "string"}) for name in searches]
    if expandable:
        forms.append(_form(EXPAND, item={"type": "integer", "enum": sorted(expandable)}))
    if may_answer:
        forms.append(_form(ANSWER))
    return _one_of(forms)


def assessment_step(numbers: Sequence[int]) -> dict[str, Any]:
    """Return the schema of a step while a reply with these items waits for its assessment."""
    named: dict[str, Any] = {"type": "integer"}
    if numbers:
        named["enum"] = list(numbers)
    items = {"type": "array", "items": named}
    # The evidence is named before it is judged: a model reads what it has just written.
    verdict = {"type": "string", "enum": list(VERDICTS)}
    return _one_of([_form(ASSESS, items=items, verdict=verdict)])


def read_step(reply: ChatReply, schema: Mapping[str, Any]) -> Step | None:
    """Return the step that a reply means, None where it is none of the open ones."""
    try:
        value: Any = read_object(reply.text)
    except UnreadableReply:
        return None
    value = value.get("step", value)
    forms = schema["properties"]["step"]["anyOf"]
    allowed = {form["properties"]["action"]["enum"][0] for form in forms}
    if not isinstance(value, dict) or value.get("action") not in allowed:
        return None
    return _read(value)


def _read(value: Mapping[str, Any]) -> Step | None:
    action = str(value["action"])
    if action in SEARCHES:
        query = " ".join(str(value.get("query") or "").split())[:_LONGEST_QUERY]
        return Step(action, query=query) if query else None
    if action == EXPAND:
        item = value.get("item")
        return Step(action, items=(item,)) if isinstance(item, int) else None
    if action == ASSESS:
        named = value.get("items")
        numbers = [n for n in named if isinstance(n, int)] if isinstance(named, list) else []
        verdict = str(value.get("verdict"))
        unique = tuple(dict.fromkeys(numbers))
        return Step(action, verdict=verdict, items=unique) if verdict in VERDICTS else None
    return Step(action)


def _form(action: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    properties = {"action": {"type": "string", "enum": [action]}, **fields}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(forms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"step": {"anyOf": list(forms)}},
        "required": ["step"],
        "additionalProperties": False,
    }
