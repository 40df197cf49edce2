"""Put a name for "he", "she", 他 and 她 where only one person can be meant.

One candidate named in this message or the one before; two candidates, or none, leave the
words as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from workers.models.rules.kinds import Statement
from workers.models.rules.people import people_in

_PRONOUN: Final = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)
_PRONOUN_ZH: Final = re.compile(r"(?<!其)[他她](?!们)")


def with_names(statements: Sequence[Statement], cast_names: Sequence[str]) -> list[Statement]:
    """Return a block's statements, in order, with lone pronouns named."""
    named: list[Statement] = []
    recent: dict[str, list[str]] = {}
    order: list[str] = []
    for statement in statements:
        message_id = statement.sentence.message.id
        if message_id not in recent:
            recent[message_id] = []
            order.append(message_id)
        people = [one for one in people_in(statement.told) if one not in cast_names]
        near = [*recent[message_id], *(recent[order[-2]] if len(order) > 1 else [])]
        candidates = set(people or near)
        if len(candidates) == 1 and not people:
            statement = _named(statement, next(iter(candidates)))
            people = [statement.meant] if statement.meant else []
        recent[message_id] += people
        named.append(statement)
    return named


def _named(statement: Statement, name: str) -> Statement:
    pattern = _PRONOUN_ZH if statement.sentence.is_chinese else _PRONOUN
    told = pattern.sub(name, statement.told, count=1)
    return replace(statement, told=told, meant=name if told != statement.told else None)
