"""Reading a mem0 export: a list of memories, each one sentence with a creation time."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.domain.external_memory import (
    SUMMARY_LIMIT,
    Candidate,
    CandidateTime,
    ClaimedBasis,
    ClaimedPrecision,
    storable,
)

_TITLE = 80
_TAGS = 12
_TAG = 200
_LABEL = 200
_SPACES = re.compile(r"\s+")


def is_mem0(value: object) -> bool:
    """Tell whether a JSON value is such a list, bare or under `results`."""
    if isinstance(value, Mapping):
        value = value.get("results") if "candidates" not in value else None
    return isinstance(value, list) and any(
        isinstance(item, Mapping) and "memory" in item for item in value
    )


def parse_mem0_item(item: object) -> Candidate | None:
    """Return the candidate of one memory; None when it says nothing.

    When it was written down is `mentioned_at`; when it happened nobody says, so that is
    unknown. Its id is kept as a label of provenance.
    """
    if not isinstance(item, Mapping):
        return None
    memory = item.get("memory")
    text = _SPACES.sub(" ", storable(memory)).strip() if isinstance(memory, str) else ""
    if not text:
        return None
    created = item.get("created_at")
    return Candidate(
        title=_title(text),
        summary=text[:SUMMARY_LIMIT],
        tags=_tags(item),
        temporal=CandidateTime(
            mentioned_at=_when(created),
            precision=ClaimedPrecision.UNKNOWN,
            basis=ClaimedBasis.UNKNOWN,
        ),
        provenance=_provenance(item.get("id")),
    )


def _when(created: object) -> str | None:
    return storable(created).strip()[:_TAG] or None if isinstance(created, str) else None


def _title(text: str) -> str:
    if len(text) <= _TITLE:
        return text
    head = text[:_TITLE]
    return head.rsplit(" ", 1)[0] if " " in head else head


def _tags(item: Mapping[str, object]) -> tuple[str, ...]:
    metadata = item.get("metadata")
    values = list(metadata.values()) if isinstance(metadata, Mapping) else []
    categories = item.get("categories")
    if isinstance(categories, list):
        values.extend(categories)
    texts = (storable(value).strip()[:_TAG] for value in values if isinstance(value, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:_TAGS]


def _provenance(identity: object) -> str:
    label = storable(str(identity)).strip() if isinstance(identity, str | int) else ""
    return f"external:mem0:{label or 'unknown'}"[:_LABEL]
