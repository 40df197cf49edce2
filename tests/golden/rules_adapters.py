"""Golden cases of the pure rules, run through the product; and what section 0 overrules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from shared.domain import decay
from shared.domain.budget import estimate_tokens
from shared.domain.derivation import derivation_view
from shared.domain.events import Criticality, EventStatus
from shared.domain.gate import normalise_assessment
from shared.domain.layers import Layers, render_layers
from shared.domain.redaction import redact
from shared.domain.turns import Message, Role
from shared.domain.weights import event_weight
from shared.errors import InvalidInput
from tests.golden.vectors import cases

UNDEFINED = {"$js": "undefined"}


def message_from(raw: dict[str, Any]) -> Message:
    """Read a message of the golden files into the product's own."""
    return Message(
        id=raw["id"],
        role=Role(raw["role"]),
        content=raw["content"],
        occurred_at=datetime.fromisoformat(raw["createdAt"]) if "createdAt" in raw else None,
        thread_id=raw.get("threadId"),
        tool_calls=tuple(raw.get("toolCalls", ())),
    )


def message_to(message: Message, like: dict[str, Any]) -> dict[str, Any]:
    """Write a message back in the golden files' own form."""
    raw = {"id": message.id, "role": message.role.value, "content": message.content}
    if message.occurred_at is not None:
        raw["createdAt"] = message.occurred_at.isoformat()
    if message.thread_id is not None:
        raw["threadId"] = message.thread_id
    if "toolCalls" in like:
        raw["toolCalls"] = list(message.tool_calls)
    return raw


def js_number(value: Any) -> Any:
    """Turn the files' marks of NaN and Infinity into floats; all else is returned as it is."""
    if isinstance(value, dict) and set(value) == {"$js"}:
        named = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
        return named.get(value["$js"], value)
    return value


def layers(case: Any, _data: Any) -> Any:
    """The rendered levels, their sizes, and which guard fell back."""
    made: Layers = render_layers([message_from(raw) for raw in case["messages"]])
    tokens = made.tokens
    return {
        "l3": made.l3,
        "l4": made.l4,
        "l5": made.l5,
        "unguardedL4": made.unguarded_l4,
        "unguardedL3": made.unguarded_l3,
        "tokens": {
            "l3": tokens["l3"],
            "l4": tokens["l4"],
            "l5": tokens["l5"],
            "unguardedL4": tokens["unguarded_l4"],
            "unguardedL3": tokens["unguarded_l3"],
        },
        "guard": {
            "l4FellBackToL5": made.l4_fell_back_to_l5,
            "l3FellBackToL4": made.l3_fell_back_to_l4,
        },
    }


def derivation(case: Any, _data: Any) -> Any:
    """The messages as a model sees them."""
    view = derivation_view([message_from(raw) for raw in case["messages"]])
    pairs = zip(view, case["messages"], strict=True)
    return {"messages": [message_to(message, raw) for message, raw in pairs]}


def estimate(case: Any, _data: Any) -> Any:
    """The estimated size of a text."""
    return estimate_tokens(case)


def decayed(case: Any, _data: Any) -> Any:
    """The level and weight of a block some positions after its anchor."""
    anchor, latest, rate = case["anchorPosition"], case["latestPosition"], case["lambda"]
    return {
        "level": decay.level_at(
            case["anchorLevel"], anchor, latest_position=latest, decay_lambda=rate
        ),
        "weight": decay.decay_weight(anchor, latest, decay_lambda=rate),
    }


def expand_target(case: Any, _data: Any) -> Any:
    """The level that an expansion target asks for, or that it is refused."""
    target = None if case.get("target") == UNDEFINED else js_number(case.get("target"))
    try:
        return {"level": decay.expansion_level(target, case["current"])}
    except InvalidInput as error:
        return {"level": {"refused": error.status}}


def weights(case: Any, _data: Any) -> Any:
    """The retention weight of an event; its stored floor and cap are derived anew."""
    weight = case["weight"]
    return event_weight(
        case["currentTurn"] - weight["lastAdoptedTurn"],
        weight["mentionCount"],
        criticality=Criticality(case["criticality"]),
        status=EventStatus(case["status"]),
        pinned=weight["pinned"],
    )


def assessment(case: Any, _data: Any) -> Any:
    """The normalised assessment."""
    made = normalise_assessment(case["assessment"], case["batchEvidenceRefs"])
    return {
        "verdict": made.verdict.value,
        "evidenceRefs": list(made.evidence_refs),
        "rejectedEvidenceRefs": [
            {
                "inputIndex": item.input_index,
                "ref": item.ref,
                "reason": item.reason.value,
                "detail": item.detail,
            }
            for item in made.rejected
        ],
        "fit": made.fit,
        "missing": made.missing,
        "nextStrategy": made.next_strategy.value,
    }


def redacted(case: Any, _data: Any) -> Any:
    """The text without its secrets."""
    return redact(case)


def lambda_suggestion(case: Any, _data: Any) -> Any:
    """The lambda that keeps decay per turn, and whether there is anything to suggest."""
    return {
        "show": case["newSize"] != case["currentSize"],
        "suggested": decay.suggest_lambda(
            case["lambda"], current_size=case["currentSize"], new_size=case["newSize"]
        ),
    }


ADAPTERS = {
    "layers": layers,
    "derivation": derivation,
    "estimate_tokens": estimate,
    "decay": decayed,
    "expand_target": expand_target,
    "weights": weights,
    "assessment": assessment,
    "redact": redacted,
    "lambda_suggestion": lambda_suggestion,
}

_TOOL_MARKS = ("tool_call", '"function"', '"arguments"')
_OPENS_JSON = ("{", "[", "```")
_LEFT_BY_THE_REFERENCE = (
    # What D27 and D38 ask for beyond the reference, looked for in the reference's own output.
    ("D27", r"\bsk-|AKIA|ASIA|AIza|xox[a-z]-|eyJ|-----BEGIN|\b[Bb]asic |://[^/\s]*:[^/\s]*@"),
    ("D27", r"\[REDACTED\][^\n]*[\"'”]|[\"']\s*[:=]|[：＝]"),
    ("D27", r"(?i)[_a-z](?:token|password|secret|api[_-]?key)\s*[:=]|passwd|pwd|passphrase"),
    ("D38", r"(?i)(?:password|token|secret|key|pin)\b.*\s(?:is|was|to)\s|密码|口令|密钥"),
)


def _overruled_layers() -> Iterator[tuple[str, str, str]]:
    """D6: prose of a person or model that mentions a marker word stays prose in L3."""
    for case in cases("layers"):
        if not any(_mentions_tools(raw) for raw in case["input"]["messages"]):
            continue
        ours, theirs = layers(case["input"], None), case["output"]
        for path in ("unguardedL3", "l3", "tokens", "guard"):
            inner = theirs[path] if isinstance(theirs[path], dict) else {"": theirs[path]}
            for key, value in inner.items():
                got = ours[path][key] if key else ours[path]
                if got != value and "L4" not in key.removesuffix("ToL4"):
                    yield case["name"], f"$.{path}.{key}".rstrip("."), "D6"


def _mentions_tools(raw: dict[str, Any]) -> bool:
    text = raw["content"].strip()
    if raw["role"] == "tool" or text.startswith(_OPENS_JSON):
        return False
    return any(mark in text.lower() for mark in _TOOL_MARKS)


def _overruled_targets() -> Iterator[tuple[str, str, str]]:
    """D7: a level in its plain forms, absent or null; " L3 " is level 3, all else is refused."""
    plain = {*range(6), *map(str, range(6)), *(f"{mark}{n}" for mark in "Ll" for n in range(6))}
    for case in cases("expand_target"):
        target = case["input"].get("target")
        is_plain = isinstance(target, str | int) and target in plain
        if isinstance(target, bool) or not (is_plain or target in (None, UNDEFINED)):
            yield case["name"], "$.level", "D7"


def _overruled_weights() -> Iterator[tuple[str, str, str]]:
    """D14: the cap follows from the status, so a stored one no longer cuts an active event."""
    for case in cases("weights"):
        weight, cap = case["input"]["weight"], case["input"]["weight"]["forcedCap"]
        was_cut = cap is not None and case["output"] == cap and not weight["pinned"]
        if was_cut and case["input"]["status"] == "active":
            yield case["name"], "$", "D14"


def _overruled_redactions() -> Iterator[tuple[str, str, str]]:
    """D27, D38: secrets that the reference leaves and ours takes."""
    for case in cases("redact"):
        if redact(case["input"]) == case["output"]:
            continue
        for decision, pattern in _LEFT_BY_THE_REFERENCE:
            if re.search(pattern, case["output"]):
                yield case["name"], "$", decision
                break


def _overruled() -> Iterator[tuple[tuple[str, str, str], str]]:
    rules = {
        "layers": _overruled_layers,
        "expand_target": _overruled_targets,
        "weights": _overruled_weights,
        "redact": _overruled_redactions,
    }
    for file, rule in rules.items():
        for name, path, decision in rule():
            yield (file, name, path), decision


OVERRULED = dict(_overruled())
