"""Content parts of chat messages in words: text stays, media become a mark, reasoning goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT_KEYS = ("text", "refusal", "transcript")
_TEXT_KINDS = frozenset({"text", "input_text", "output_text", "refusal"})
_DROPPED = frozenset({"reasoning", "thinking", "redacted_thinking"})
_MARKS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "input_file": "file",
}
_GAP = "\n\n"
_LONGEST_KIND = 40


def plain_text(content: Any) -> str:
    """Return the text of a message's content: a string as it is, parts joined by blank lines."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return _GAP.join(text for text in map(_part_text, content) if text)


def _part_text(part: str | Mapping[str, Any]) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("type")
    if kind in _DROPPED:
        return ""
    for key in _TEXT_KEYS:
        if isinstance(part.get(key), str):
            return str(part[key])
    # A text without text, or nothing at all, marks no place where something stood.
    if kind in _TEXT_KINDS or not any(part.values()):
        return ""
    return _mark(kind, part)


def _mark(kind: object, part: Mapping[str, Any]) -> str:
    """Say that something stood here which is not text; a file's name is kept."""
    name = str(kind)[:_LONGEST_KIND] if isinstance(kind, str) and kind else "part"
    described = part.get(name)
    file_name = described.get("filename") if isinstance(described, Mapping) else None
    shown = _MARKS.get(name, name)
    return f"[{shown}: {file_name}]" if isinstance(file_name, str) else f"[{shown}]"
