"""Read single fields of a projector's reply: data from outside, so nothing is taken on trust.

Keys come in camelCase or snake_case. Lenient where the meaning is plain (one object for a
list, a number for text), silent never: what is refused is listed by the caller.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from shared.domain.graph import (
    DEFAULT_CONFIDENCE,
    MAX_SOURCES,
    VISIBLE_EVENT_STATUSES,
    Rejection,
    SourceEvent,
    Stance,
)

_SPACES = re.compile(r"\s+")
_MISSING = object()
_HUGE = 10**40


def get(item: Mapping[str, Any], key: str) -> Any:
    """Return the value under a snake_case key or its camelCase twin, or None."""
    value = item.get(key, _MISSING)
    return item.get(_camel(key)) if value is _MISSING else value


def has(item: Mapping[str, Any], key: str) -> bool:
    """Tell whether the key is there in either spelling, whatever its value."""
    return key in item or _camel(key) in item


def text(value: Any, limit: int) -> str:
    """Return clean text of at most `limit` code points; '' for what is not text.

    Numbers and booleans are read as their JSON text; NUL and lone surrogates, which no
    store keeps, are dropped; whitespace is collapsed.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < _HUGE else ""
    if isinstance(value, float):
        return str(value) if math.isfinite(value) else ""
    if not isinstance(value, str):
        return ""
    kept = "".join(c for c in value if c != "\x00" and unicodedata.category(c) != "Cs")
    return _SPACES.sub(" ", kept).strip()[:limit].strip()


def listed(value: Any) -> list[Any]:
    """Return a list as it is, nothing for None, and a single thing as a list of one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def confidence(value: Any, default: float = DEFAULT_CONFIDENCE) -> float:
    """Return a confidence within 0..1; the default when none is given or it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return default
    return float(min(1.0, max(0.0, value)))


def stance(value: Any, default: Stance) -> Stance:
    """Read a proposed status as a stance; an unknown one is the default."""
    word = text(value, 20).lower()
    if word == "active":
        return Stance.ASSERTED
    if word == "disputed":
        return Stance.CONTESTED
    return Stance.PAST if word in ("superseded", "archived") else default


class Refusal(Exception):
    """One item of a reply cannot be taken."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(slots=True)
class Refusals:
    """The list of what was refused, in the order it was met."""

    items: list[Rejection] = field(default_factory=list)

    def add(self, code: str, item: str, detail: str) -> None:
        """Note one refusal."""
        self.items.append(Rejection(code=code, detail=detail, item=item))

    @contextmanager
    def listing(self, item: str) -> Iterator[None]:
        """Read one item: a Refusal raised within is listed under `item` and goes no further."""
        try:
            yield
        except Refusal as refused:
            self.add(refused.code, item, str(refused))


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """Tells legal sources: events of the job that are active or superseded (D10, D29)."""

    events: Mapping[str, SourceEvent]
    job_event_ids: frozenset[str]
    refusals: Refusals

    def legal(self, value: Any, *, item: str) -> tuple[str, ...]:
        """Return the legal ids of a list, unique, at most 64.

        Where some are legal and some are not, the legal ones are kept and the others
        listed; where none is, the caller refuses the item and nothing is listed here.
        """
        ids = list(dict.fromkeys(i for i in listed(value) if isinstance(i, str)))
        kept = [i for i in ids if self._is_legal(i)]
        foreign = [i for i in ids if not self._is_legal(i)]
        if kept and foreign:
            named = ", ".join(text(i, 80) for i in foreign[:5])
            self.refusals.add("foreign_source", item, f"no event of this job: {named}")
        return tuple(kept[:MAX_SOURCES])

    def _is_legal(self, event_id: str) -> bool:
        event = self.events.get(event_id)
        return (
            event is not None
            and event_id in self.job_event_ids
            and event.status in VISIBLE_EVENT_STATUSES
        )


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(part.capitalize() for part in rest)
