"""LoCoMo conversations as turns (D49), and their questions with the messages that answer them.

A turn opens with each session and again where speaker_a answers speaker_b; no turn crosses a
session. speaker_a is the user; a session that speaker_b opens has speaker_b for its human side.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared.errors import InvalidInput

THREAD = "main"
_CITED = re.compile(r"D(\d+):0*(\d+)(?:-(?:D?\d+:)?0*(\d+))?")
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


def is_locomo(value: Any) -> bool:
    """Tell whether a JSON value is a conversation in the data set's own format."""
    if not isinstance(value, dict) or not isinstance(value.get("sample_id"), str):
        return False
    conversation = value.get("conversation")
    return isinstance(conversation, dict) and {"speaker_a", "speaker_b"} <= conversation.keys()


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One turn as the API takes it, and whether its session ends with it."""

    body: Mapping[str, Any]
    ends_session: bool


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """A question, its category (5: unanswerable) and the dia_ids of the messages that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


def locomo_turns(sample: Mapping[str, Any]) -> Iterator[LocomoTurn]:
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
            yield LocomoTurn(body, number == len(groups))


def locomo_questions(sample: Mapping[str, Any]) -> list[LocomoQuestion]:
    """Return the questions that name at least one message of the conversation, in order.

    Evidence is written by hand: `D8:6; D9:17`, `D30:05` and `D2:3-D2:5` are read too.
    """
    conversation = sample["conversation"]
    known = {m["dia_id"] for n in _sessions(conversation) for m in conversation[f"session_{n}"]}
    asked = [
        LocomoQuestion(
            text=question["question"],
            category=int(question["category"]),
            evidence=frozenset(_evidence(question.get("evidence", ()), known)),
        )
        for question in sample["qa"]
    ]
    return [question for question in asked if question.evidence]


def _evidence(written: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for text in written:
        for found in _CITED.finditer(text.replace("D:", "D")):
            session, first, last = found[1], int(found[2]), int(found[3] or found[2])
            for number in range(first, last + 1):
                if f"D{session}:{number}" in known:
                    yield f"D{session}:{number}"


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
