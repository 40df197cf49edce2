"""What a rule says of the sentences it recognises, and what a recognised sentence carries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from shared.domain.events import Criticality, EventType
from shared.domain.temporal import TimeExpression
from workers.models.rules.sentences import Sentence


class Turn(StrEnum):
    """What a sentence does to something said before."""

    NONE = "none"
    CORRECTS = "corrects"
    REPLACES = "replaces"
    CANCELS = "cancels"
    POSTPONES = "postpones"
    ENDS = "ends"
    COMPLETES = "completes"


STRONG = 3
"""From this strength on a sentence is an event of its own."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what its sentences are.

    `strength` is 1 (told in passing) to 4 (must not be missed). `status` is the standing in
    time that the words claim; what code derives from a date goes before it.
    """

    name: str
    pattern: re.Pattern[str]
    event_type: EventType = EventType.OTHER
    strength: int = STRONG
    status: str = "unknown"
    category: str | None = None
    criticality: Criticality = Criticality.ROUTINE
    turn: Turn = Turn.NONE
    unless: re.Pattern[str] | None = None

    def matches(self, text: str) -> bool:
        """Tell whether the sentence is one of this kind."""
        if not self.pattern.search(text):
            return False
        return self.unless is None or not self.unless.search(text)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence worth keeping: `quote` is verbatim, `told` the same in the third person.

    `image` is what an image beside it shows; `meant` is the person that its pronoun stands for.
    """

    sentence: Sentence
    quote: str
    told: str
    rule: Rule
    strength: int
    speaker: str | None
    category: str | None
    criticality: Criticality
    is_first_person: bool
    image: str | None = None
    meant: str | None = None


@dataclass(slots=True)
class Group:
    """Statements of one message that make one event; the first strong one leads."""

    lead: Statement
    times: Sequence[TimeExpression]
    members: list[Statement] = field(default_factory=list)
