"""Read a conversation file into turns to post: chat transcripts, plain JSONL, LoCoMo.

Pure: text in, bodies out. Receipts are made of the content, so that loading a file again adds
nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.loaded import LoadedTurn
from ingest.locomo import is_locomo, loaded_turns
from shared.errors import InvalidInput

_HUMAN = "user"


@dataclass(frozen=True, slots=True)
class Destination:
    """Where turns go that do not say so themselves."""

    namespace: str
    thread_id: str | None


def read_transcript(text: str, destination: Destination) -> list[LoadedTurn]:
    """Return the turns of a file in order; the last of each conversation ends its session.

    Recognises LoCoMo (one conversation or a list), an OpenAI chat transcript (a list of messages,
    or an object with `messages`, or one such object a line), and JSONL of `{role, content}`.
    Raises InvalidInput (`unknown_transcript`) for anything else.
    """
    values = _values(text)
    conversations = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if conversations and all(is_locomo(value) for value in conversations):
        return [turn for value in conversations for turn in loaded_turns(value)]
    if conversations and all(_is_message(value) for value in conversations):
        return list(_turns(conversations, destination, {}))
    if conversations and all(_is_chat(value) for value in conversations):
        return [
            turn
            for value in conversations
            for turn in _turns(value["messages"], destination, value)
        ]
    raise InvalidInput(
        "this file is no transcript we know: expected chat messages {role, content} as a JSON "
        'list, as {"messages": [...]} or one a line, or a LoCoMo conversation',
        code="unknown_transcript",
    )


def group_turns(messages: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split chat messages into turns: each begins at a user message that follows another role.

    What stands before the first user message, such as a system prompt, belongs to the first turn.
    """
    turns: list[list[dict[str, Any]]] = []
    previous = _HUMAN
    for message in messages:
        begins = message["role"] == _HUMAN and previous != _HUMAN
        if not turns or (begins and any(m["role"] == _HUMAN for m in turns[-1])):
            turns.append([])
        turns[-1].append(message)
        previous = message["role"]
    return turns


def _turns(
    messages: Sequence[dict[str, Any]], destination: Destination, source: dict[str, Any]
) -> Iterator[LoadedTurn]:
    thread_id = source.get("thread_id", destination.thread_id)
    groups = group_turns(messages)
    # Position counts beside content: a person may say the same words in two turns.
    running = hashlib.sha256(json.dumps(thread_id).encode())
    for number, group in enumerate(groups, start=1):
        running.update(json.dumps(group, sort_keys=True).encode())
        body: dict[str, Any] = {
            "receipt_id": f"file:{running.hexdigest()[:32]}:{number}",
            "messages": group,
        }
        if thread_id is not None:
            body["thread_id"] = thread_id
        body |= {name: source[name] for name in ("occurred_at", "timezone") if name in source}
        yield LoadedTurn(
            namespace=destination.namespace,
            thread_id=thread_id,
            body=body,
            ends_session=number == len(groups),
        )


def _values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise _malformed(whole) from whole
        try:
            return [json.loads(line) for line in lines]
        except json.JSONDecodeError as error:
            raise _malformed(error) from error


def _malformed(error: json.JSONDecodeError) -> InvalidInput:
    return InvalidInput(
        f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}",
        code="malformed_json",
    )


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_chat(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    return bool(value["messages"]) and all(_is_message(m) for m in value["messages"])
