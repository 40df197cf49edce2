"""Which evidence a context holds, and what it costs in tokens.

A message stands in a block's text where nearly all of its own words do, at whatever level, and is
half told where half of them do; the open tail holds its messages whole. It stands in the activated
section where that names an event which rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.budget import estimate_tokens
from shared.domain.search_terms import search_terms
from workers.evaluation.question_set import EVIDENCE_KEY, Conversation, Message

MOST: Final = 0.8
"""The share of a message's words from which on a text holds it."""

HALF: Final = 0.5
"""The share from which on it is half told, as a summary tells it."""

_EVENT: Final = re.compile(r"evt_[0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Given:
    """The messages that somebody gets to read: those told, those at least half told, the tokens."""

    told: frozenset[str]
    half_told: frozenset[str]
    tokens: int

    def __or__(self, other: Given) -> Given:
        """Return both together; what stands in both is paid for twice, as it would be."""
        return Given(
            self.told | other.told, self.half_told | other.half_told, self.tokens + other.tokens
        )


def given_by_context(
    reply: Mapping[str, Any], conversation: Conversation, sources: Mapping[str, frozenset[str]]
) -> Given:
    """Return the messages of a conversation that a context's reply holds.

    `sources` are the messages that each event rests on.
    """
    by_turn = {number: turn.messages for number, turn in enumerate(conversation.turns, start=1)}
    shares: dict[str, float] = {}
    for block in reply["blocks"]:
        first, last = block["turn_range"]
        held = frozenset(search_terms(block["content"]))
        for number in range(first, last + 1):
            shares |= {m.id: _share(m, held) for m in by_turn.get(number, ())}
    whole = {message["metadata"][EVIDENCE_KEY] for message in reply["open_tail"]}
    for event_id in _EVENT.findall(reply["activated"]["text"]):
        whole |= sources.get(event_id, frozenset())
    return Given(
        told=frozenset(whole | {name for name, share in shares.items() if share >= MOST}),
        half_told=frozenset(whole | {name for name, share in shares.items() if share >= HALF}),
        tokens=_tokens_of_context(reply),
    )


def given_by_messages(items: Sequence[Mapping[str, Any]]) -> Given:
    """Return what a reader of a raw search's hits gets."""
    told = frozenset(item["metadata"][EVIDENCE_KEY] for item in items)
    cards = [item["message"] for item in items]
    return Given(told, told, sum(_tokens_of_message(card) for card in cards))


def in_context(given: Given, gold: frozenset[str]) -> dict[str, float]:
    """Return a question's measures in what it is given: `IN_CONTEXT` of the cells."""
    wanted = len(gold) or 1
    return {
        "evidence": len(gold & given.told) / wanted,
        "half_told": len(gold & given.half_told) / wanted,
        "full": float(gold <= given.told),
        "tokens": float(given.tokens),
    }


def covered(ranked: Sequence[str], sources: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the messages that ranked events rest on, in the order in which they come up."""
    found: dict[str, None] = {}
    for event_id in ranked:
        found.update(dict.fromkeys(sorted(sources.get(event_id, ()))))
    return list(found)


def _share(message: Message, held: frozenset[str]) -> float:
    words = frozenset(search_terms(message.text))
    return len(words & held) / len(words) if words else 1.0


def _tokens_of_context(reply: Mapping[str, Any]) -> int:
    """Return the tokens of all that a host would insert, as the product estimates them."""
    blocks = sum(block["tokens"] + estimate_tokens(block["header"]) for block in reply["blocks"])
    tail = sum(_tokens_of_message(message) for message in reply["open_tail"])
    return int(blocks + tail + reply["activated"]["tokens"])


def _tokens_of_message(card: Mapping[str, Any]) -> int:
    """Return the tokens of one message as a line of a transcript."""
    return estimate_tokens(f"{card['name'] or card['role']}: {card['content']}")
