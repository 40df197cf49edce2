"""Candidates of an import: what another assistant's export says, bounded and typed (D26, D47).

Ids, pins, weights and counts of the file are not read. Times stay the strings they were; see
`external_memory_preview` for what they become.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from shared.domain.events import Criticality, Scope, fingerprint

MAX_CANDIDATES: Final = 200
TITLE_LIMIT: Final = 160
SUMMARY_LIMIT: Final = 2000
_NARRATIVE = 8000
_TAGS = 12
_QUOTES = 12
_QUOTE = 500
_SHORT = 200
_EVENT_TYPE = 80
_PARTICIPANTS = 24
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_Word = TypeVar("_Word", bound=StrEnum)


class MemoryKind(StrEnum):
    """What sort of memory the other assistant says it is."""

    INSTRUCTION = "instruction"
    PREFERENCE = "preference"
    FACT = "fact"
    EVENT = "event"


class MemoryCategory(StrEnum):
    """What a memory is about."""

    INSTRUCTION = "instruction"
    IDENTITY = "identity"
    CAREER = "career"
    PROJECT = "project"
    PREFERENCE = "preference"


class ClaimedPrecision(StrEnum):
    """How exact a candidate says its time is."""

    INSTANT = "instant"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"
    RANGE = "range"
    UNKNOWN = "unknown"


class ClaimedBasis(StrEnum):
    """What a candidate says its time rests on."""

    EXPLICIT = "explicit"
    RELATIVE = "relative"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


class ClaimedStatus(StrEnum):
    """Whether a candidate says it happened."""

    OCCURRED = "occurred"
    PLANNED = "planned"
    ONGOING = "ongoing"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CandidateTime:
    """The temporal words of a candidate, as they came; None where absent or of a wrong type."""

    mentioned_at: str | None = None
    happened_start: str | None = None
    happened_end: str | None = None
    original_text: str | None = None
    precision: ClaimedPrecision | None = None
    basis: ClaimedBasis | None = None
    status: ClaimedStatus | None = None
    event_type: str | None = None
    participants: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory offered for import.

    `provenance` names where it came from in the other system ("external:mem0:3f0"); it is a
    label, never a key.
    """

    title: str
    summary: str
    memory_kind: MemoryKind | None = None
    category: MemoryCategory | None = None
    narrative: str | None = None
    tags: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    scope: Scope | None = None
    criticality: Criticality | None = None
    confidence: float | None = None
    temporal: CandidateTime | None = None
    provenance: str | None = None

    @property
    def fingerprint(self) -> str:
        """Return the key under which exact repetitions meet."""
        return fingerprint(self.title, self.summary)


def normalise_candidate(value: object) -> Candidate | None:
    """Return the candidate a JSON value describes, or None without a title and a summary.

    Unknown fields and words are left out, never an error; enumerations are case-sensitive.
    """
    if not isinstance(value, Mapping):
        return None
    title = _text(value.get("title"), TITLE_LIMIT)
    summary = _text(value.get("summary"), SUMMARY_LIMIT)
    if title is None or summary is None:
        return None
    category = _word(value.get("category"), MemoryCategory)
    tags = _texts(value.get("tags"), count=_TAGS, limit=_SHORT)
    if category is not None:
        tags = tuple(dict.fromkeys((category.value, *tags)))[:_TAGS]
    return Candidate(
        title=title,
        summary=summary,
        memory_kind=_word(value.get("memoryKind"), MemoryKind),
        category=category,
        narrative=_text(value.get("narrative"), _NARRATIVE),
        tags=tags,
        quotes=_texts(value.get("quotes"), count=_QUOTES, limit=_QUOTE),
        scope=_word(value.get("scope"), Scope),
        criticality=_word(value.get("criticality"), Criticality),
        confidence=confidence_of(value.get("confidence")),
        temporal=_temporal(value.get("temporal")),
    )


def confidence_of(value: object) -> float | None:
    """Return a number clamped to 0..1; None for anything that is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(min(1, max(0, value)))


def _temporal(value: object) -> CandidateTime | None:
    if not isinstance(value, Mapping):
        return None
    participants = value.get("participants")
    people = _texts(participants, count=_PARTICIPANTS, limit=_SHORT)
    time = CandidateTime(
        mentioned_at=_text(value.get("mentionedAt"), _SHORT),
        happened_start=_text(value.get("happenedStart"), _SHORT),
        happened_end=_text(value.get("happenedEnd"), _SHORT),
        original_text=_text(value.get("originalText"), _SHORT),
        precision=_word(value.get("precision"), ClaimedPrecision),
        basis=_word(value.get("basis"), ClaimedBasis),
        status=_word(value.get("status"), ClaimedStatus),
        event_type=_text(value.get("eventType"), _EVENT_TYPE),
        participants=people or None,
    )
    if time.precision is ClaimedPrecision.UNKNOWN or time.basis is ClaimedBasis.UNKNOWN:
        return replace(time, happened_start=None, happened_end=None)
    return time


def storable(text: str) -> str:
    """Return the text without NUL and lone surrogates, which no database and no reply can hold.

    Escapes of a file's strings make them out of text that was sound when it came.
    """
    return _UNSTORABLE.sub("", text)


def _text(value: object, limit: int) -> str | None:
    if not isinstance(value, str):
        return None
    return storable(value).strip()[:limit] or None


def _texts(value: object, *, count: int, limit: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    valid = [text for item in value if (text := _text(item, limit)) is not None]
    return tuple(dict.fromkeys(valid[:count]))


def _word(value: object, words: type[_Word]) -> _Word | None:
    return next((member for member in words if member.value == value), None)
