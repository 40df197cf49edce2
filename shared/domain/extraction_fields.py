"""Lenient reading of single fields of a model's reply; each coercion is listed here.

camelCase and snake_case keys are one; a single object or string stands for a list of one;
"true" and "false" are booleans; words of an enumeration are taken in any case; an unknown word
becomes the default with a note. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from shared.domain.model_json import key_of

_Word = TypeVar("_Word", bound=StrEnum)


@dataclass(slots=True)
class Fields:
    """One object of a reply under folded keys, with the notes made while reading it."""

    values: Mapping[str, object]
    notes: list[str] = field(default_factory=list)

    def get(self, key: str) -> object:
        """Return the raw value of a key, or None."""
        return self.values.get(key_of(key))

    def text(self, key: str, *, limit: int) -> str:
        """Return a trimmed string of at most `limit` code points; '' for anything else."""
        value = self.get(key)
        return value.strip()[:limit].rstrip() if isinstance(value, str) else ""

    def optional_text(self, key: str, *, limit: int) -> str | None:
        """Return a non-blank string of at most `limit` code points, or None."""
        return self.text(key, limit=limit) or None

    def flag(self, key: str) -> bool | None:
        """Return a boolean, also from "true" or "false"; None for anything else."""
        value = self.get(key)
        if isinstance(value, bool):
            return value
        words = {"true": True, "false": False}
        found = words.get(value.strip().lower()) if isinstance(value, str) else None
        if found is not None:
            self.notes.append(f"{key} came as text")
        return found

    def items(self, key: str) -> list[object]:
        """Return a list; a single object or string is a list of one, null an empty one."""
        value = self.get(key)
        if isinstance(value, list):
            return value
        if isinstance(value, Mapping) or (isinstance(value, str) and value.strip()):
            self.notes.append(f"{key} came as one {_kind(value)}, not a list")
            return [value]
        return []

    def texts(self, key: str, *, count: int, limit: int) -> tuple[str, ...]:
        """Return unique non-blank strings of a list, at most `count`, each cut at `limit`."""
        strings = (item.strip()[:limit] for item in self.items(key) if isinstance(item, str))
        return tuple(dict.fromkeys(one for one in strings if one))[:count]

    def word(self, key: str, words: type[_Word], default: _Word) -> _Word:
        """Return a member of an enumeration, in any case; the default for the unknown."""
        value = self.get(key)
        if value is None or value == "":
            return default
        wanted = value.strip().lower() if isinstance(value, str) else None
        for member in words:
            if member.value == wanted:
                return member
        self.notes.append(f"unknown {key} {str(value)[:40]!r}: {default.value} is used")
        return default


def fields_of(value: Mapping[str, object]) -> Fields:
    """Return an object's fields under folded keys; the first of two equal spellings counts."""
    folded: dict[str, object] = {}
    for key, item in value.items():
        folded.setdefault(key_of(str(key)), item)
    return Fields(folded)


def event_fields(value: Mapping[str, object]) -> Fields:
    """Return an event's fields with those of a nested `temporal` object beside them."""
    fields = fields_of(value)
    nested = fields.get("temporal")
    if not isinstance(nested, Mapping):
        return fields
    inner = fields_of({str(key): item for key, item in nested.items()})
    return Fields({**inner.values, **fields.values})


def _kind(value: object) -> str:
    return "string" if isinstance(value, str) else "object"
