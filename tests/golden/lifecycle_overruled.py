"""What section 0 changes in the lifecycle scenarios, and which words are not compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.golden.comparing import Difference, differences
from tests.golden.vectors import cases

_SAID = "said"


def compare(expected: Any, actual: Any) -> list[Difference]:
    """Compare two outputs: of errors and fixed sentences only that they are there."""
    return differences(_without_words(expected), _without_words(actual))


def overruled() -> dict[tuple[str, str, str], str]:
    """Build the overruled fields: those named one by one, and those that a rule finds."""
    found = dict(_NAMED)
    for case in cases("lifecycle"):
        for path, decision in _by_rule(case["output"], "$"):
            if decision == "D12" and case["name"] == _IMPORT[1]:
                continue  # an import's mention is the candidate's own, and it has none
            key = ("lifecycle", case["name"], path)
            if not any(_covers(key, other) for other in _NAMED):
                found[key] = decision
    return found


_EXTRACTION = ("lifecycle", "event-extraction")
_USES = ("lifecycle", "use-receipts-and-governance")
_IMPORT = ("lifecycle", "external-import")
_LATER = "$.pendingBlockBecomesReadyLater"
_NAMED: dict[tuple[str, str, str], str] = {
    # a turn must hold a human message
    ("lifecycle", "append-errors-and-ingestion-receipts", "$.emptyTextsAccepted"): "D41",
    # sealing goes on until the tail is shorter than the size
    ("lifecycle", "block-size-change", "$.appendAfterShrinkSealsOnlyOneBlock.tail"): "D40",
    # a block with content needs a key point
    ("lifecycle", "invalid-summaries", "$[5]"): "D8",
    # no legal source, no event; its block stays unready and does not age others
    (*_EXTRACTION, "$.foreignRefsFallBackToAllMessages"): "D10",
    (*_EXTRACTION, "$.skip.events"): "D10",
    (*_EXTRACTION, f"{_LATER}.order[2][1]"): "D10",
    (*_EXTRACTION, f"{_LATER}.order[3][2]"): "D10",
    (*_EXTRACTION, f"{_LATER}.order[4][2]"): "D10",
    (*_EXTRACTION, f"{_LATER}.seen.timeline"): "D10",
    (*_EXTRACTION, f"{_LATER}.context"): "D10",
    # an explicit no is a success with nothing in it
    (*_EXTRACTION, "$.skip.job.status"): "D9",
    # only known ids are linked; restoring returns the status from before
    (*_USES, "$.initial[2].temporal.supersedesEventIds"): "D14",
    (*_USES, "$.restoreSuperseded.status"): "D14",
    # each candidate is decided by its own job; a commit re-checks its own targets only
    (*_IMPORT, "$.errors.noDecider"): "D36",
    (*_IMPORT, "$.errors.staleRevision"): "D47",
}


def _by_rule(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _by_rule(item, f"{path}[{index}]")
    if not isinstance(value, dict):
        return
    if value.get("forcedCap") is not None:
        yield f"{path}.forcedCap", "D14"  # the cap follows from the status
    if value.get("lastRetrievedAt") is not None:
        yield f"{path}.lastRetrievedAt", "D23"  # a search writes nothing
    if isinstance(value.get("temporal"), dict) and "mentionedAt" not in value["temporal"]:
        yield f"{path}.temporal.mentionedAt", "D12"  # always the cited message's time
    for key, item in value.items():
        yield from _by_rule(item, f"{path}.{key}")


def _covers(key: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    return key[:2] == other[:2] and key[2].startswith((f"{other[2]}.", f"{other[2]}["))


def _without_words(value: Any) -> Any:
    if isinstance(value, list):
        row = [_without_words(item) for item in value]
        # a decision or a failed job told as a row ends with its reason
        is_told = len(row) > 1 and row[0] in ("failed", "IGNORE") and isinstance(row[-1], str)
        return [*row[:-1], _SAID] if is_told else row
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if not _is_no_link(key, item)}
        return {key: _word(key, item) for key, item in kept.items()}
    return value


def _is_no_link(key: str, value: Any) -> bool:
    return key == "conflictsWithEventIds" and value == []


def _word(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return _without_words(value)
    is_fixed = key in ("error", "lastError") or (key == "reason" and not value.startswith("r "))
    return _SAID if is_fixed else value
