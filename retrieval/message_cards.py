"""Cards of source messages: always the redacted view, times in the zone they were given in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval.times import shown_in_zone
from shared.domain.spacing import collapse, trim
from shared.domain.turns import UNTHREADED
from shared.store.messages import StoredMessage

MAX_EXCERPT = 500
_LEAD = 120


@dataclass(frozen=True, slots=True)
class MessageCard:
    """One source message. `content` is whole unless `is_excerpt`."""

    message_id: str
    turn_id: str
    turn: int
    role: str
    name: str | None
    content: str
    is_excerpt: bool
    occurred_at: str | None
    thread_id: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str | None
    metadata: dict[str, Any]


def message_ref(message_id: str) -> str:
    """Return the evidence ref of a message; sealing does not change it (D33)."""
    return f"raw:{message_id}"


def message_card(stored: StoredMessage, *, content: str | None = None) -> MessageCard:
    """Return a message's card, whole or with an excerpt of its content."""
    message = stored.message
    said = message.occurred_at
    return MessageCard(
        message_id=message.id,
        turn_id=stored.turn_id,
        turn=stored.turn_sequence,
        role=message.role.value,
        name=message.name,
        content=message.content if content is None else content,
        is_excerpt=content is not None and content != message.content,
        occurred_at=None if said is None else shown_in_zone(said, message.zone),
        thread_id=message.thread_id or UNTHREADED,
        tool_calls=[_plain(call) for call in message.tool_calls],
        tool_call_id=message.tool_call_id,
        metadata=_plain(message.metadata),
    )


def excerpt(content: str, words: tuple[str, ...] = ()) -> str:
    """Return at most 500 code points of a text, from a little before the first of `words`.

    A text that fits is returned as it is.
    """
    if len(content) <= MAX_EXCERPT:
        return content
    folded = content.lower()
    places = [place for word in words if (place := folded.find(word.lower())) >= 0]
    start = max(0, min(places, default=0) - _LEAD)
    start = min(start, len(content) - MAX_EXCERPT)
    return trim(collapse(content[start : start + MAX_EXCERPT]))


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    return dict(value)
