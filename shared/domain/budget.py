"""Token budgets: an estimate of a text's size, and messages split to fit one (D39).

The estimate needs no tokenizer and errs on the safe side for scripts beyond ASCII. Splitting
never drops a character: the parts of a message, joined, are the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shared.domain.json_text import compact_json
from shared.domain.turns import Message

CHARS_PER_TOKEN = 4
"""How many ASCII characters one token is taken to hold."""

MESSAGE_OVERHEAD_TOKENS = 24
"""What a message's id, role, time and punctuation cost in a prompt."""

_ASCII_RUN = re.compile(r"[\x00-\x7f]+")
_BREAKS = ("\n\n", "\n", "。", "！", "？", "! ", "? ", ". ", " ")


def estimate_tokens(text: str) -> int:
    """Estimate the size of a text in model tokens; 0 for the empty text.

    A run of ASCII costs a token for every four characters begun, any other code point one
    token, which also ends the run.
    """
    if text.isascii():
        return -(-len(text) // CHARS_PER_TOKEN)
    runs = [len(run) for run in _ASCII_RUN.findall(text)]
    return sum(-(-run // CHARS_PER_TOKEN) for run in runs) + len(text) - sum(runs)


def message_tokens(message: Message) -> int:
    """Estimate what one message costs in a prompt, its tool calls and frame included."""
    calls = sum(estimate_tokens(compact_json(call)) for call in message.tool_calls)
    return MESSAGE_OVERHEAD_TOKENS + estimate_tokens(message.content) + calls


def split_messages(messages: Sequence[Message], budget: int) -> list[list[Message]]:
    """Group messages, in order, into parts of at most `budget` estimated tokens each.

    A message larger than the budget becomes several messages with the same id, cut at a
    paragraph, sentence or word where there is one. A single tool call larger than the budget
    stays whole and alone. Raises ValueError for a budget that no message can fit.
    """
    if budget <= MESSAGE_OVERHEAD_TOKENS:
        raise ValueError(f"a budget must exceed {MESSAGE_OVERHEAD_TOKENS} tokens, got {budget}")
    parts: list[list[Message]] = []
    room = 0
    for message in messages:
        for piece, cost in _pieces(message, budget):
            if not parts or cost > room:
                parts.append([])
                room = budget
            parts[-1].append(piece)
            room -= cost
    return parts


def _pieces(message: Message, budget: int) -> Iterator[tuple[Message, int]]:
    """Cut a message where it is larger than the budget; with each piece what it costs."""
    cost = message_tokens(message)
    if cost <= budget:
        yield message, cost
        return
    room = budget - MESSAGE_OVERHEAD_TOKENS
    for text in split_text(message.content, room):
        piece = replace(message, content=text, tool_calls=())
        yield piece, message_tokens(piece)
    for calls in _call_groups(message.tool_calls, room):
        piece = replace(message, content="", tool_calls=calls)
        yield piece, message_tokens(piece)


def _call_groups(
    calls: Sequence[Mapping[str, Any]], room: int
) -> Iterator[tuple[Mapping[str, Any], ...]]:
    group: list[Mapping[str, Any]] = []
    used = 0
    for call in calls:
        cost = estimate_tokens(compact_json(call))
        if group and used + cost > room:
            yield tuple(group)
            group, used = [], 0
        group.append(call)
        used += cost
    if group:
        yield tuple(group)


def split_text(text: str, budget: int) -> Iterator[str]:
    """Cut a text into pieces of at most `budget` (>= 1) tokens that join to the same text."""
    start = 0
    while start < len(text):
        end = start + _fitting(text, start, budget)
        if end < len(text):
            end = _break_before(text, start, end)
        yield text[start:end]
        start = end


def _fitting(text: str, start: int, budget: int) -> int:
    """Count the characters from `start` that fit: the estimate, run forward until it is full."""
    used = run = count = 0
    for index in range(start, len(text)):
        if text[index] <= "\x7f":
            used += run % CHARS_PER_TOKEN == 0
            run += 1
        else:
            used += 1
            run = 0
        if used > budget:
            break
        count += 1
    return count


def _break_before(text: str, start: int, end: int) -> int:
    """Find the best cut in the second half of the piece; else cut where the budget ends."""
    half = start + (end - start) // 2
    for mark in _BREAKS:
        at = text.rfind(mark, half, end)
        if at >= 0:
            return at + len(mark)
    return end
