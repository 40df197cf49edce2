"""Reading an import's text: StrataGate's own format, or a mem0 list (D47).

Fences, a byte-order mark and leading prose are passed over. What cannot be read is an error
that says whether a model may try to recover candidates from the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from shared.domain.external_memory import (
    MAX_CANDIDATES,
    Candidate,
    normalise_candidate,
    storable,
)
from shared.domain.external_memory_mem0 import is_mem0, parse_mem0_item
from shared.domain.model_json import UnreadableReply, read_object, read_value
from shared.errors import InvalidInput

SCHEMAS: Final = ("stratagate.external-memory.v1", "stratagate.external-memory.v2")
SOURCE_TYPE: Final = "external_ai_memory_export"


class ImportSource(StrEnum):
    """Whose format the text is in; `auto` finds out."""

    AUTO = "auto"
    STRATAGATE = "stratagate"
    MEM0 = "mem0"


class UnreadableImport(InvalidInput):
    """The text of an import cannot be used as it is.

    `is_recoverable` tells whether a model may look for candidates in it: not when it names a
    format that is not ours.
    """

    code = "unreadable_import"

    def __init__(self, detail: str, *, is_recoverable: bool) -> None:
        super().__init__(detail)
        self.is_recoverable = is_recoverable


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """An item of the file that is not imported; `code` is not_an_object, incomplete, empty or
    over_limit."""

    index: int
    code: str


@dataclass(frozen=True, slots=True)
class ParsedImport:
    """The candidates of an import. `is_recovered` ones always wait for a person (D26)."""

    candidates: tuple[Candidate, ...]
    skipped: tuple[SkippedItem, ...] = ()
    source: ImportSource = ImportSource.STRATAGATE
    is_recovered: bool = False

    @property
    def reason(self) -> str:
        """Return one sentence on what was found."""
        count = len(self.candidates)
        return f"Parsed {count} candidate events from external memory export."


def parse_external_memory(text: str, source: ImportSource = ImportSource.AUTO) -> ParsedImport:
    """Return the candidates of an import's text.

    At most 200 valid ones are taken; the list is `candidates`, else `events`; a mem0 export (a
    list of memories, bare or under `results`) is read as well, unless `source` names the one
    format that is expected. Raises UnreadableImport.
    """
    if not text.replace("\ufeff", "").strip():
        raise UnreadableImport("External memory text must not be empty", is_recoverable=False)
    listed = read_value(text)
    root = listed if is_mem0(listed) else _root(text)
    if is_mem0(root) or (source is ImportSource.MEM0 and _lists_memories(root)):
        if source is ImportSource.STRATAGATE:
            raise UnreadableImport("This is a mem0 export", is_recoverable=False)
        return _collect(_mem0_items(root), mem0=True)
    if source is ImportSource.MEM0 or not isinstance(root, Mapping):
        raise UnreadableImport("This is not a mem0 export", is_recoverable=False)
    _check_word(root.get("schemaVersion"), SCHEMAS, "Unsupported external memory schema")
    _check_word(root.get("sourceType"), (SOURCE_TYPE,), "Invalid external memory sourceType")
    return _collect(_listed(root), mem0=False)


def parse_recovered(reply: Mapping[str, object]) -> ParsedImport:
    """Return the candidates that a model recovered from a malformed text, marked as such."""
    return replace(_collect(_listed(reply), mem0=False), is_recovered=True)


def _root(text: str) -> dict[str, object]:
    try:
        return read_object(text, required_keys=("candidates",))
    except UnreadableReply as error:
        raise UnreadableImport(
            f"Invalid external memory JSON: {error.detail}", is_recoverable=True
        ) from error


def _check_word(value: object, known: tuple[str, ...], complaint: str) -> None:
    if isinstance(value, str) and value.strip() and value.strip() not in known:
        raise UnreadableImport(
            f"{complaint}: {storable(value).strip()[:200]}", is_recoverable=False
        )


def _listed(root: Mapping[str, object]) -> list[object]:
    for key in ("candidates", "events"):
        items = root.get(key)
        if isinstance(items, list):
            return items
    return []


def _mem0_items(root: object) -> list[object]:
    items = root.get("results") if isinstance(root, Mapping) else root
    return items if isinstance(items, list) else []


def _lists_memories(root: object) -> bool:
    return isinstance(root, list) or (isinstance(root, Mapping) and root.get("results") == [])


def _collect(items: list[object], *, mem0: bool) -> ParsedImport:
    candidates: list[Candidate] = []
    skipped: list[SkippedItem] = []
    for index, item in enumerate(items):
        candidate = parse_mem0_item(item) if mem0 else normalise_candidate(item)
        if candidate is None:
            skipped.append(SkippedItem(index, _why_skipped(item, mem0=mem0)))
        elif len(candidates) >= MAX_CANDIDATES:
            skipped.append(SkippedItem(index, "over_limit"))
        else:
            candidates.append(candidate)
    source = ImportSource.MEM0 if mem0 else ImportSource.STRATAGATE
    return ParsedImport(tuple(candidates), tuple(skipped), source)


def _why_skipped(item: object, *, mem0: bool) -> str:
    if not isinstance(item, Mapping):
        return "not_an_object"
    return "empty" if mem0 else "incomplete"
