"""Turns and messages: what a platform posts, in order, before anything is derived (D2, D41)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

UNTHREADED = "unthreaded"
"""The reserved name of the group of turns posted without a thread (D43)."""

IMPORT_THREADS = "external-import:"
"""How the reserved names of the threads that hold the text of imports begin."""

_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Mn", "Mc", "Me"})
# Letters and a symbol by their category, yet blank: Hangul fillers and the empty Braille cell.
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Origin(StrEnum):
    """Where the words of a message come from; injected context is never a human message."""

    HUMAN = "human"
    MODEL = "model"
    TOOL = "tool"
    INJECTED = "injected"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a turn.

    `content` is plain text, untrimmed. `tool_calls` are the trace objects as they came, keys
    in order ({name, arguments?, result?} and what else a host sent). `occurred_at` is aware,
    in UTC; `zone` is the offset ("+02:00") or IANA name it was given in.
    """

    id: str
    role: Role
    content: str
    occurred_at: datetime | None = None
    zone: str = "UTC"
    thread_id: str | None = None
    name: str | None = None
    origin: Origin | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def is_human(message: Message) -> bool:
    """Tell whether a person said this: a user message that no host injected (D41)."""
    return message.role is Role.USER and message.origin in (None, Origin.HUMAN)


def has_human_message(messages: tuple[Message, ...]) -> bool:
    """Tell whether a turn holds what a turn must: one human message with something in it."""
    return any(is_human(m) and _shows_something(m.content) for m in messages)


def _shows_something(text: str) -> bool:
    """Tell whether a reader would see anything: blanks, controls and lone marks show nothing."""
    return any(unicodedata.category(sign) not in _UNSEEN and sign not in _FILLERS for sign in text)
