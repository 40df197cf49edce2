"""Keep encoded files out of what models read: a long base64 or hex run becomes a short marker.

Such a run tells a model nothing, costs its whole window and tempts it to answer in prose. L5
keeps the text; the marker holds its size and digest, so that two files can be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Final

from shared.domain.turns import Message

SHORTEST_RUN: Final = 256
"""Characters from which a run without a blank counts: no word or number is so long."""

_RUN = re.compile(
    # One unbroken run, or lines as mail and keys break them, each full but the last.
    r"(?:[A-Za-z0-9+/_-]{60,80}\r?\n){3,}[A-Za-z0-9+/_-]+={0,2}"
    rf"|[A-Za-z0-9+/_-]{{{SHORTEST_RUN},}}={{0,2}}"
)
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_FEWEST_KINDS: Final = 8


def without_encoded_runs(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages with each encoded run of their texts replaced by its marker."""
    return tuple(_shown(message) for message in messages)


def shown_text(text: str) -> str:
    """Replace encoded runs of a text: `[encoded data omitted: 2024 chars, sha256 …]`."""
    return _RUN.sub(_marker, text)


def _shown(message: Message) -> Message:
    content = shown_text(message.content)
    return message if content == message.content else replace(message, content=content)


def _marker(match: re.Match[str]) -> str:
    run = match.group(0)
    # Letters without any digit are somebody's long cry or a rule of dashes, not a file.
    is_encoded = _DIGIT.search(run) and _LETTER.search(run) and len(set(run)) >= _FEWEST_KINDS
    if not is_encoded:
        return run
    digest = sha256(run.encode("ascii")).hexdigest()[:16]
    return f"[encoded data omitted: {len(run)} chars, sha256 {digest}; the whole text is in L5]"
