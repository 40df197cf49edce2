"""LoCoMo conversations as turns (D49): two people over months, one session a sitting.

A turn opens with each session and again where speaker_a answers speaker_b; no turn crosses a
session. speaker_a is the user; a session that speaker_b opens has speaker_b for its human side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ingest.loaded import LoadedTurn
from shared.errors import InvalidInput

THREAD = "main"
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


def is_locomo(value: Any) -> bool:
    """Tell whether a JSON value is a conversation in the data set's own format."""
    if not isinstance(value, dict) or not isinstance(value.get("sample_id"), str):
        return False
    conversation = value.get("conversation")
    return isinstance(conversation, dict) and {"speaker_a", "speaker_b"} <= conversation.keys()


def locomo_turns(sample: dict[str, Any]) -> Iterator[LoadedTurn]:
    """Yield a conversation's turns in order; each session's last one ends it.

    Raises InvalidInput (`unknown_transcript`) when a session's date cannot be read.
    """
    conversation = sample["conversation"]
    for session in sorted(_sessions(conversation)):
        messages = conversation[f"session_{session}"]
        occurred_at = _date(conversation.get(f"session_{session}_date_time"), session)
        groups = _groups(messages, first=conversation["speaker_a"])
        for number, group in enumerate(groups, start=1):
            body = {
                "receipt_id": f"locomo:{sample['sample_id']}:{session}:{number}",
                "thread_id": THREAD,
                "occurred_at": occurred_at.isoformat(),
                "messages": _messages(group, conversation["speaker_a"]),
                "metadata": {"session": session},
            }
            yield LoadedTurn(sample["sample_id"], THREAD, body, number == len(groups))


def _sessions(conversation: dict[str, Any]) -> list[int]:
    numbers = [
        int(found[1])
        for name, messages in conversation.items()
        if (found := _SESSION.fullmatch(name)) and messages
    ]
    return numbers


def _groups(messages: Sequence[dict[str, Any]], first: str) -> list[list[dict[str, Any]]]:
    groups: list[list[dict[str, Any]]] = []
    previous = first
    for message in messages:
        if not groups or (message["speaker"] == first and previous != first):
            groups.append([])
        groups[-1].append(message)
        previous = message["speaker"]
    return groups


def _messages(group: Sequence[dict[str, Any]], speaker_a: str) -> list[dict[str, Any]]:
    # Every turn has a human side: where speaker_a is silent, it is speaker_b.
    human = speaker_a if any(m["speaker"] == speaker_a for m in group) else group[0]["speaker"]
    return [
        {
            "role": "user" if message["speaker"] == human else "assistant",
            "name": message["speaker"],
            "content": _content(message),
            "metadata": {"dia_id": message["dia_id"]},
        }
        for message in group
    ]


def _content(message: dict[str, Any]) -> str:
    caption = message.get("blip_caption")
    text = str(message["text"])
    return f"{text} [image: {caption}]" if caption else text


def _date(value: Any, session: int) -> datetime:
    try:
        # The data set says no zone; its dates are read as UTC (D49).
        return datetime.strptime(str(value).strip(), _DATE).replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidInput(
            f"session {session} has no date like '4:04 pm on 20 January, 2023'",
            code="unknown_transcript",
        ) from error
