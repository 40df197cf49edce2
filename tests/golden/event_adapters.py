"""Golden adapters for events and imports: how product code answers the vectors' questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from shared.domain.event_types import event_type_of, temporal_shape
from shared.domain.events import fingerprint
from shared.domain.external_memory import Candidate, CandidateTime
from shared.domain.external_memory_parse import UnreadableImport, parse_external_memory
from tests.golden import lifecycle_adapter, lifecycle_overruled
from tests.golden.comparing import Difference, differences

Adapter = Callable[[Any, Mapping[str, Any]], Any]

_CAMEL = {
    "memory_kind": "memoryKind",
    "mentioned_at": "mentionedAt",
    "happened_start": "happenedStart",
    "happened_end": "happenedEnd",
    "original_text": "originalText",
    "event_type": "eventType",
}


def answer_fingerprint(case_input: Any, _: Mapping[str, Any]) -> Any:
    return fingerprint(case_input["title"], case_input["summary"])


def answer_temporal(case_input: Any, _: Mapping[str, Any]) -> Any:
    if case_input["fn"] == "normalizeStandardEventType":
        return event_type_of(case_input["value"]).value
    return temporal_shape(case_input["value"])


def answer_import_parse(case_input: Any, _: Mapping[str, Any]) -> Any:
    try:
        parsed = parse_external_memory(case_input)
    except UnreadableImport as error:
        return {"ok": False, "errorType": "TypeError", "message": error.detail}
    return {
        "ok": True,
        "candidates": [candidate_json(one) for one in parsed.candidates],
        "reason": parsed.reason,
    }


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as the vectors write it: absent fields left out, lists always there."""
    lists = {"tags": list(candidate.tags), "quotes": list(candidate.quotes)}
    time = candidate.temporal
    return {
        **_present(asdict(candidate)),
        **lists,
        **({} if time is None else {"temporal": _time_json(time)}),
    }


def _time_json(time: CandidateTime) -> dict[str, Any]:
    fields = _present(asdict(time))
    if "participants" in fields:
        fields["participants"] = list(fields["participants"])
    return fields


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_CAMEL.get(key, key): _plain(item) for key, item in fields.items() if item is not None}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def compare_import_parse(expected: Any, actual: Any) -> list[Difference]:
    """Compare parse results; a parser's own words, and a long list's middle, are not compared."""
    return differences(*_comparable(expected, actual))


def _comparable(expected: Any, actual: Any) -> tuple[Any, Any]:
    head, placeholder, _ = expected.get("message", "").partition("<parser message>")
    if placeholder and actual.get("message", "").startswith(head):
        actual = {**actual, "message": expected["message"]}
    if isinstance(expected.get("candidates"), dict) and actual["ok"]:
        titles = [one["title"] for one in actual["candidates"]]
        told = {"count": len(titles), "first": titles[0], "last": titles[-1]}
        actual = {**actual, "candidates": told}
    return expected, actual


ADAPTERS: dict[str, Adapter] = {
    "fingerprint": answer_fingerprint,
    "temporal": answer_temporal,
    "import_parse": answer_import_parse,
    "lifecycle": lifecycle_adapter.answer,
}

COMPARE: dict[str, Callable[[Any, Any], list[Difference]]] = {
    "import_parse": compare_import_parse,
    "lifecycle": lifecycle_overruled.compare,
}

# The decision that overrules what a vector says, by (file, case, JSON path; "$" is all of it).
OVERRULED: dict[tuple[str, str, str], str] = {
    ("import_parse", "prose before json fails", "$"): "D47",  # leading prose is tolerated
    ("import_parse", "duplicate keys last wins", "$"): "D47",  # duplicate keys are malformed
    ("temporal", "eventType con structor", "$"): "D13",  # a plain table, no inherited members
    **lifecycle_overruled.overruled(),
}
