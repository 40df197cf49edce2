"""Levels 0 to 2 of a block: a model's summary, checked and bounded before it counts (D8).

Nothing here invents a summary. A reply that fails the check leaves its block unready, with the
reasons named, and the block keeps its native messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.domain.spacing import collapse, trim

MAX_TITLE = 120
MAX_TAGS = 12
MAX_TAG = 200
MAX_SUMMARY = 2000
MAX_KEYPOINTS = 20
MAX_KEYPOINT = 1000
"""Limits of a summary's parts, in code points and items."""

_PLACEHOLDERS = frozenset(
    {
        "n/a", "na", "none", "null", "nil", "undefined", "todo", "tbd", "placeholder",
        "untitled", "title", "summary", "string", "text", "keypoint", "key point",
        "pending", "unknown", "lorem ipsum", "无", "暂无", "标题", "摘要", "待定",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Summary:
    """The derived head of a block: L0 title and tags, L1 summary, L2 key points.

    `should_extract` is false only where the block holds nothing worth remembering (D9).
    """

    title: str
    tags: tuple[str, ...]
    summary: str
    keypoints: tuple[str, ...]
    should_extract: bool


class InvalidSummary(ValueError):
    """A model's reply is no summary; `reasons` says what is wrong with it, one a part."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def validate_summary(reply: Mapping[str, Any], has_content: bool) -> Summary:
    """Return the reply as a bounded Summary.

    Asks for a title and a summary that say something, `tags` and `keypoints` as lists, at
    least one key point when the block `has_content`, and a truth value `should_extract`.
    Overlong parts are cut to the limits above. Raises InvalidSummary with every reason.
    """
    reasons: list[str] = []
    title = _text(reply, "title", limit=MAX_TITLE, reasons=reasons)
    summary = _text(reply, "summary", limit=MAX_SUMMARY, reasons=reasons)
    tags = _texts(reply, "tags", limit=MAX_TAG, reasons=reasons)[:MAX_TAGS]
    keypoints = _texts(reply, "keypoints", limit=MAX_KEYPOINT, reasons=reasons)
    if has_content and not keypoints and isinstance(reply.get("keypoints"), list | tuple):
        reasons.append("keypoints: at least one is needed, for the block has content")
    should_extract = reply.get("should_extract")
    if not isinstance(should_extract, bool):
        reasons.append("should_extract: must be true or false")
    if reasons:
        raise InvalidSummary(tuple(reasons))
    return Summary(
        title=title,
        tags=tags,
        summary=summary,
        keypoints=keypoints[:MAX_KEYPOINTS],
        should_extract=should_extract is True,
    )


def render_summary(summary: Summary, level: int) -> str:
    """Return the text of level 0, 1 or 2; level 2 without key points is the level 1 text.

    Raises ValueError for a level that is rendered from the messages instead.
    """
    if level == 0:
        return f"{summary.title}\nTags: {', '.join(summary.tags) or 'none'}"
    if level == 1 or (level == 2 and not summary.keypoints):
        return summary.summary
    if level == 2:
        return "\n".join(f"- {point}" for point in summary.keypoints)
    raise ValueError(f"level {level} is rendered from the messages, not from the summary")


def block_header(block_id: str, level: int, *, first_turn: int, last_turn: int) -> str:
    """Return the line above a block's text: its id, its turns of the thread, and its level."""
    return f"Block: {block_id} | Turns: {first_turn}-{last_turn} | Level: L{level}"


def _text(reply: Mapping[str, Any], key: str, *, limit: int, reasons: list[str]) -> str:
    value = reply.get(key)
    if not isinstance(value, str):
        reasons.append(f"{key}: must be a text")
        return ""
    text = trim(value)
    if not text:
        reasons.append(f"{key}: must not be blank")
    elif is_placeholder(text):
        reasons.append(f"{key}: says nothing of the block")
    if key == "title":
        text = collapse(text)
    return trim(text[:limit])


def _texts(
    reply: Mapping[str, Any], key: str, *, limit: int, reasons: list[str]
) -> tuple[str, ...]:
    value = reply.get(key)
    if not isinstance(value, list | tuple):
        reasons.append(f"{key}: must be a list of texts")
        return ()
    texts = (trim(item)[:limit] for item in value if isinstance(item, str))
    kept = (text for text in texts if text and not is_placeholder(text))
    return tuple(dict.fromkeys(kept))


def is_placeholder(text: str) -> bool:
    """Tell whether a text says nothing: a stand-in word alone, or no letter and no digit."""
    words = text.strip(" .…<>[](){}\"'*_-").casefold()
    return words in _PLACEHOLDERS or not any(char.isalnum() for char in text)
