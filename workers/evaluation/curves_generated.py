"""A conversation of any length, made from a counter: each turn tells a fact and is asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from workers.evaluation.question_set import Conversation, Message, Question, Turn

THREAD: Final = "main"
_BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
_PEOPLE = (
    "Ada",
    "Bruno",
    "Chen",
    "Dora",
    "Emil",
    "Farah",
    "Goran",
    "Hana",
    "Ines",
    "Jonas",
    "Kaya",
)
_THINGS = ("contract", "bicycle", "telescope", "recipe", "passport", "violin", "greenhouse")
_PLACES = ("Lisbon", "Oslo", "Nairobi", "Quito", "Kyoto", "Tartu", "Perth", "Bergen", "Graz")
_WHY = (
    "because the old one broke during the move last winter",
    "since the neighbours asked for it at the meeting on the stairs",
    "after the long talk with the insurance about what they would pay",
    "so that the whole family can use it in the holidays",
    "although nobody was sure that it would arrive in time",
)
_REPLIES = (
    "Noted. I will bring it up again when you ask about the plans for that week.",
    "Understood, that makes sense; shall I remind you a few days before?",
    "Thanks for telling me. I will keep it apart from what you said about the flat.",
)


def generated(turns: int) -> Conversation:
    """Return a conversation of so many turns, each with a question on the fact told in it."""
    return Conversation(
        id=f"generated-{turns}",
        turns=[_turn(number) for number in range(1, turns + 1)],
        questions=[_question(number) for number in range(1, turns + 1)],
    )


def _turn(number: int) -> Turn:
    at = _BEGIN + timedelta(minutes=37 * number)
    told = [
        Message(f"{number}:{role}", "1", role, None, text, at)
        for role, text in (("user", _fact(number)), ("assistant", _REPLIES[number % 3]))
    ]
    body: Mapping[str, Any] = {
        "receipt_id": f"generated:{number}",
        "thread_id": THREAD,
        "occurred_at": at.isoformat(),
        "messages": [{"role": one.role, "content": one.text} for one in told],
    }
    return Turn(body, told, ends_session=False)


def _fact(number: int) -> str:
    person, thing = _PEOPLE[number % 11], _THINGS[number % 7]
    place, why = _PLACES[number % 9], _WHY[number % 5]
    return (
        f"{person} ordered {thing} number {1000 + number} from a workshop in {place} today, {why}. "
        f"It costs {20 + number % 83} euros and the parcel should be here within two weeks."
    )


def _question(number: int) -> Question:
    return Question(
        id=f"generated/q{number}",
        text=f"From where was {_THINGS[number % 7]} number {1000 + number} ordered?",
        answer=_PLACES[number % 9],
        category="none",
        evidence=frozenset({f"{number}:user"}),
        answerable=True,
    )
