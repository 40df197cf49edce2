"""Who speaks in a block: the user and an assistant, or two people with names of their own.

An assistant's word about the user is no evidence. Only where both sides carry a person's name
is the other side a person who tells of itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.provenance import is_evidence
from shared.domain.turns import Message, Origin, Role, is_human
from workers.models.rules.voice_en import Persons

# Names of machines and of roles: neither is a person who tells of itself.
_MACHINE: Final = re.compile(
    r"\b(?:ai|bot|chatbot|assistant|gpt\S*|chatgpt|claude|gemini|copilot"
    r"|llama|qwen|deepseek|mistral|agent|system|model|user|human|tool)\b"
    r"|助手|机器人|智能|用户",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cast:
    """The people of a block; `names` are those who may be believed about themselves."""

    names: tuple[str, ...]
    is_between_people: bool

    def persons(self, message: Message) -> Persons:
        """Return who speaks in a message, and to whom."""
        speaker = message.name if message.name in self.names else None
        others = [name for name in self.names if name != speaker]
        return Persons(speaker, others[0] if speaker and len(others) == 1 else None)

    def may_tell(self, message: Message) -> bool:
        """Tell whether what the message says is evidence of what it says."""
        if not is_evidence(message):
            return False
        if is_human(message):
            return True
        return self.is_between_people and _is_person(message)


def cast_of(messages: Sequence[Message]) -> Cast:
    """Return who speaks in the messages."""
    humans = {one.name for one in messages if is_human(one) and one.name}
    instructions = " ".join(one.content for one in messages if one.role is Role.SYSTEM)
    others = {
        one.name
        for one in messages
        if one.name and _is_person(one) and one.name not in instructions
    }
    is_between_people = bool(humans) and bool(others)
    named = (
        one.name
        for one in messages
        if one.name in humans or (is_between_people and one.name in others)
    )
    return Cast(tuple(dict.fromkeys(name for name in named if name)), is_between_people)


def _is_person(message: Message) -> bool:
    return (
        message.role is Role.ASSISTANT
        and message.origin in (None, Origin.HUMAN)
        and message.name is not None
        and not _MACHINE.search(message.name)
        and not message.tool_calls
    )
