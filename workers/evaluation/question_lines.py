"""Read labelled conversations and questions from lines of JSON (docs/reference/question-sets.md).

A turn opens with each session and again where a user speaks after somebody else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn

from shared.errors import InvalidInput
from workers.evaluation.question_set import (
    EVIDENCE_KEY,
    UNCATEGORISED,
    Conversation,
    Message,
    Question,
    Turn,
)

THREAD: Final = "main"
_GAP: Final = timedelta(hours=6)
_ID: Final = re.compile(r"[A-Za-z0-9._:@-]{1,150}")
_ROLES: Final = ("user", "assistant", "system", "tool")
_CONVERSATION: Final = {"type", "id", "messages", "metadata"}
_MESSAGE: Final = {"id", "role", "name", "content", "occurred_at", "session", "metadata"}
_QUESTION: Final = {
    "type",
    "id",
    "conversation",
    "question",
    "answer",
    "category",
    "evidence",
    "answerable",
    "wrong_answer",
    "metadata",
}


def read_lines(name: str, text: str) -> list[Conversation]:
    """Return the conversations of a file's lines, each with its questions.

    Raises InvalidInput (`bad_question_set`) that names the line and the field.
    """
    turns: dict[str, list[Turn]] = {}
    asked: dict[str, list[Question]] = {}
    later: list[tuple[_Line, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        record = _Line(name, number, line)
        if "messages" in record.fields:
            ident = record.conversation_id()
            if ident in turns:
                record.refuse("id", f"the conversation {ident!r} stands in an earlier line")
            turns[ident], asked[ident] = _turns(record, ident), []
        elif "question" in record.fields:
            # A question may stand above its conversation, so it is read when all are known.
            later.append((record, next(reversed(turns), "")))
        else:
            record.refuse("messages", "a line has `messages` (a conversation) or a `question`")
    for record, before in later:
        ident = record.text("conversation") or before
        if ident not in turns:
            record.refuse("conversation", f"no line holds a conversation {ident!r}")
        known = {m.id for turn in turns[ident] for m in turn.messages}
        asked[ident].append(_question(record, ident, known, number=len(asked[ident])))
    if not turns:
        raise InvalidInput(f"{name}: no line holds a conversation", code="bad_question_set")
    _refuse_repeated(name, asked)
    return [Conversation(ident, turns[ident], asked[ident]) for ident in turns]


class _Line:
    """One line's object, and how to refuse it."""

    def __init__(self, name: str, number: int, line: str) -> None:
        self._where = f"{name}, line {number}"
        try:
            self.fields: dict[str, Any] = json.loads(line)
        except ValueError as error:
            self.refuse("", f"not JSON: {error}")
        if not isinstance(self.fields, dict):
            self.refuse("", "not a JSON object")

    def refuse(self, field: str, what: str) -> NoReturn:
        told = f" `{field}`:" if field else ""
        raise InvalidInput(f"{self._where}:{told} {what}", code="bad_question_set")

    def only(self, allowed: set[str], fields: Mapping[str, Any], at: str = "") -> None:
        unknown = sorted(fields.keys() - allowed)
        if unknown:
            self.refuse(at + unknown[0], f"no such field; known are {', '.join(sorted(allowed))}")

    def text(self, field: str) -> str | None:
        value = self.fields.get(field)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self.refuse(field, "not a text")

    def conversation_id(self) -> str:
        self.only(_CONVERSATION, self.fields)
        ident = self.text("id")
        if ident is None or not _ID.fullmatch(ident):
            self.refuse("id", "needed: up to 150 of letters, digits and . _ : @ -")
        return ident


def _turns(line: _Line, ident: str) -> list[Turn]:
    messages = _messages(line)
    groups: list[list[Message]] = []
    for message in messages:
        before = groups[-1][-1] if groups else None
        if (
            before is None
            or before.session != message.session
            or (message.role == "user" != before.role)
        ):
            groups.append([])
        groups[-1].append(message)
    for group in groups:
        if all(message.role != "user" for message in group):
            line.refuse("messages", f"a user message is missing in session {group[0].session}")
    followers = [group[0].session for group in groups[1:]] + [None]
    return [
        Turn(_body(ident, number, group), group, group[0].session != following)
        for number, (group, following) in enumerate(zip(groups, followers, strict=True), start=1)
    ]


def _messages(line: _Line) -> list[Message]:
    written = line.fields["messages"]
    if not isinstance(written, list) or not written:
        line.refuse("messages", "needed: a list with at least one message")
    found: list[Message] = []
    first = next((m.get("name") for m in written if isinstance(m, dict)), None)
    for place, message in enumerate(written):
        at = f"messages[{place}]"
        if not isinstance(message, dict):
            line.refuse(at, "not an object")
        line.only(_MESSAGE, message, at + ".")
        before = found[-1] if found else None
        found.append(_message(line, at, message, before, first=first))
    if len({message.id for message in found}) < len(found):
        line.refuse("messages", "two messages have the same `id`")
    return found


def _message(
    line: _Line, at: str, fields: Mapping[str, Any], before: Message | None, *, first: Any
) -> Message:
    for field in ("id", "content"):
        if not isinstance(fields.get(field), str) or not fields[field].strip():
            line.refuse(f"{at}.{field}", "needed: a text")
    name = fields.get("name")
    if name is not None and not isinstance(name, str):
        line.refuse(f"{at}.name", "not a text")
    # Two people without roles: who speaks first is the human side, as in LoCoMo.
    role = fields.get("role", "user" if name == first else "assistant")
    if role not in _ROLES:
        line.refuse(f"{at}.role", f"one of {', '.join(_ROLES)}")
    said = _time(line, f"{at}.occurred_at", fields.get("occurred_at"), before)
    session = fields.get("session")
    if session is None:
        session = _session(said, before)
    return Message(fields["id"], str(session), role, name, fields["content"], said)


def _time(line: _Line, at: str, value: Any, before: Message | None) -> datetime:
    if value is None and before is not None:
        return before.occurred_at
    try:
        said = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        line.refuse(at, "needed: a time like 2026-03-01T09:30:00+08:00")
    if said.tzinfo is None:
        line.refuse(at, "the time needs its offset, like +08:00 or Z")
    return said


def _session(said: datetime, before: Message | None) -> str:
    if before is None:
        return "1"
    if said - before.occurred_at <= _GAP:
        return before.session
    return str(int(before.session) + 1) if before.session.isdecimal() else said.isoformat()


def _body(ident: str, number: int, group: Sequence[Message]) -> dict[str, Any]:
    return {
        "receipt_id": f"labelled:{ident}:{number}",
        "thread_id": THREAD,
        "occurred_at": group[0].occurred_at.isoformat(),
        "messages": [
            {
                "role": message.role,
                **({} if message.name is None else {"name": message.name}),
                "content": message.text,
                "occurred_at": message.occurred_at.isoformat(),
                "metadata": {EVIDENCE_KEY: message.id},
            }
            for message in group
        ],
        "metadata": {"session": group[0].session},
    }


def _question(line: _Line, ident: str, known: set[str], *, number: int) -> Question:
    line.only(_QUESTION, line.fields)
    text = line.text("question")
    if not text or not text.strip():
        line.refuse("question", "needed: a text")
    evidence = _list(line, "evidence")
    unknown = [name for name in evidence if name not in known]
    if unknown:
        line.refuse("evidence", f"{unknown[0]!r} is no message of the conversation {ident!r}")
    answerable = line.fields.get("answerable", True)
    if not isinstance(answerable, bool):
        line.refuse("answerable", "true or false")
    return Question(
        id=line.text("id") or f"{ident}/q{number}",
        text=text,
        answer=line.text("answer"),
        category=line.text("category") or UNCATEGORISED,
        evidence=frozenset(evidence),
        answerable=answerable,
        wrong_answer=line.text("wrong_answer"),
    )


def _list(line: _Line, field: str) -> list[str]:
    value = line.fields.get(field)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        line.refuse(field, "a list of message ids")
    return value


def _refuse_repeated(name: str, asked: Mapping[str, Sequence[Question]]) -> None:
    seen: set[str] = set()
    for question in (q for questions in asked.values() for q in questions):
        if question.id in seen:
            raise InvalidInput(
                f"{name}: the question id {question.id!r} stands there twice",
                code="bad_question_set",
            )
        seen.add(question.id)
