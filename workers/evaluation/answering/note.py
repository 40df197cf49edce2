"""A note: a piece of what was said, as a prompt shows it, and the messages it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from workers.evaluation.question_set import Message

NO_NOTES: Final = "(there are no notes)"


@dataclass(frozen=True, slots=True)
class Note:
    """`ids` are ids of the labelled messages, as evidence names them."""

    text: str
    ids: frozenset[str]


def note_of(message: Message) -> Note:
    """Return a message as a note."""
    who = message.name or message.role
    return Note(dated(message.occurred_at, who, message.text), frozenset({message.id}))


def dated(at: datetime | None, who: str | None, text: str) -> str:
    """Return a text behind the date of its saying and who said it."""
    day = f"{at.day} {at:%B %Y}" if at else ""
    head = ", ".join(part for part in (day, who) if part)
    return f"[{head}] {' '.join(text.split())}"


def notes_text(notes: Sequence[Note]) -> str:
    """Return notes as a prompt shows them, one a line."""
    return "\n".join(note.text for note in notes) or NO_NOTES
