"""Read an import's body, before its transaction opens: the text, and the candidates in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingest.schemas.imports import ImportIn
from shared.domain.external_memory import Candidate
from shared.domain.external_memory_parse import (
    ImportSource,
    ParsedImport,
    SkippedItem,
    UnreadableImport,
    parse_external_memory,
)
from shared.domain.external_memory_stored import redacted_candidate
from shared.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PreparedImport:
    """A text to import. `candidates` None: it cannot be read as it is, and a model is to try."""

    text: str
    source: ImportSource
    top_k: int
    candidates: tuple[Candidate, ...] | None
    skipped: tuple[SkippedItem, ...]


def read_import(body: ImportIn) -> PreparedImport:
    """Return what is to be imported, every candidate redacted as readers will see it.

    Raises InvalidInput (`unreadable_import`) for an empty text and for a format that is not ours.
    """
    text = body.text if body.text is not None else _as_text(body.document)
    source = ImportSource(body.source)
    try:
        parsed = parse_external_memory(text, source)
    except UnreadableImport as error:
        if not error.is_recoverable:
            pointer = "/text" if body.text is not None else "/json"
            raise InvalidInput.at(pointer, error.detail, error.code) from error
        return PreparedImport(text, source, body.top_k, None, ())
    return _prepared(text, parsed, body.top_k)


def _prepared(text: str, parsed: ParsedImport, top_k: int) -> PreparedImport:
    return PreparedImport(
        text=text,
        source=parsed.source,
        top_k=top_k,
        candidates=tuple(redacted_candidate(one) for one in parsed.candidates),
        skipped=parsed.skipped,
    )


def _as_text(document: Mapping[str, Any] | list[Any] | None) -> str:
    """Write a JSON body as the text that is kept as the import's source."""
    return json.dumps(document, ensure_ascii=False, indent=2)
