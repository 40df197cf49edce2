"""Labelled conversations: what was said, what is asked, and which messages hold the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

UNCATEGORISED: Final = "none"
"""The category of questions whose line names none."""

EVIDENCE_KEY: Final = "dia_id"
"""Where a loaded message's metadata holds its id of the file, so that hits can be told."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `id` is what evidence names, unique in its conversation."""

    id: str
    session: str
    role: str
    name: str | None
    text: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """Messages that go to the API as one turn, its body, and whether its session ends with it."""

    body: Mapping[str, Any]
    messages: Sequence[Message]
    ends_session: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation.

    `answer` is None where the file has none, as for most questions that cannot be answered
    (`answerable` false). `evidence` may be empty: such a question says nothing of retrieval.
    `wrong_answer` is what a careless reader would say to a question without an answer.
    """

    id: str
    text: str
    answer: str | None
    category: str
    evidence: frozenset[str]
    answerable: bool
    wrong_answer: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation and its questions, both in the file's order."""

    id: str
    turns: Sequence[Turn]
    questions: Sequence[Question]

    @property
    def messages(self) -> list[Message]:
        """The messages of all turns, in order."""
        return [message for turn in self.turns for message in turn.messages]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """All conversations of a path. `sha256` (hex) is of the bytes read; `name` is the file's."""

    name: str
    sha256: str
    conversations: Sequence[Conversation]

    def asked(self) -> Iterator[tuple[Conversation, Question]]:
        """Yield every question with its conversation."""
        for conversation in self.conversations:
            for question in conversation.questions:
                yield conversation, question
