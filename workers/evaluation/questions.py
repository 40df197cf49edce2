"""Load labelled conversations from a path: LoCoMo's own JSON, or one JSON object a line.

docs/reference/question-sets.md documents both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from shared.domain.locomo import is_locomo, locomo_questions, locomo_turns
from shared.errors import InvalidInput
from workers.evaluation.question_lines import read_lines
from workers.evaluation.question_set import (
    EVIDENCE_KEY,
    UNCATEGORISED,
    Conversation,
    Message,
    Question,
    QuestionSet,
    Turn,
)

__all__ = [
    "EVIDENCE_KEY",
    "LOCOMO_CATEGORIES",
    "UNCATEGORISED",
    "Conversation",
    "Message",
    "Question",
    "QuestionSet",
    "Turn",
    "load_questions",
]

LOCOMO_CATEGORIES: Final[Mapping[str, str]] = {
    "1": "several hops",
    "2": "time",
    "3": "open domain",
    "4": "one hop",
    "5": "unanswerable",
}
_UNANSWERABLE: Final = "5"
_BAD: Final = "bad_question_set"


def load_questions(path: Path) -> QuestionSet:
    """Read a file, or every LoCoMo and JSONL file of a folder.

    Raises InvalidInput (`bad_question_set`) that names the line, or the place in LoCoMo's JSON,
    and the field.
    """
    files = _files(path)
    digest = hashlib.sha256()
    found: list[Conversation] = []
    for file in files:
        content = file.read_bytes()
        digest.update(content)
        found += _conversations(file, content)
    repeated = {c.id for c in found if sum(c.id == other.id for other in found) > 1}
    if repeated:
        raise _refused(path.name, f"the conversation id {min(repeated)!r} stands there twice")
    return QuestionSet(path.name, digest.hexdigest(), found)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.is_file():
            raise _refused(str(path), "no such file or folder")
        return [path]
    files = sorted([*path.glob("*.jsonl"), *(f for f in path.glob("*.json") if _holds_locomo(f))])
    if not files:
        raise _refused(str(path), "the folder holds neither a LoCoMo file nor one ending in .jsonl")
    return files


def _holds_locomo(file: Path) -> bool:
    try:
        return bool(_samples(json.loads(file.read_bytes())))
    except ValueError:
        return False


def _conversations(file: Path, content: bytes) -> list[Conversation]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(file.name, f"not UTF-8 at byte {error.start}") from error
    try:
        value = json.loads(text)
    except ValueError as error:
        if file.suffix == ".json":
            lines = "lines of JSON belong in a file ending in .jsonl"
            raise _refused(file.name, f"not JSON: {error}; {lines}") from error
        return read_lines(file.name, text)
    samples = _samples(value)
    if samples:
        return [_conversation(file.name, sample) for sample in samples]
    if file.suffix == ".json":
        raise _refused(file.name, "no LoCoMo conversations (`sample_id`, `conversation`, `qa`)")
    return read_lines(file.name, text)


def _samples(value: Any) -> list[Mapping[str, Any]]:
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        value = value["conversations"]
    samples = value if isinstance(value, list) else [value]
    return samples if all(is_locomo(s) and isinstance(s.get("qa"), list) for s in samples) else []


def _conversation(file: str, sample: Mapping[str, Any]) -> Conversation:
    where = f"{file}, {sample['sample_id']}"
    try:
        turns = [
            Turn(turn.body, list(_messages(turn.body)), turn.ends_session)
            for turn in locomo_turns(sample)
        ]
    except InvalidInput as error:
        raise _refused(where, error.detail) from error
    except (KeyError, TypeError) as error:
        raise _refused(where, f"a message is no object or lacks {error}") from error
    questions = [
        _question(f"{where}, qa[{place}]", sample, asked, place)
        for place, asked in enumerate(sample["qa"])
    ]
    return Conversation(str(sample["sample_id"]), turns, questions)


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    for message in body["messages"]:
        yield Message(
            id=message["metadata"][EVIDENCE_KEY],
            session=str(body["metadata"]["session"]),
            role=message["role"],
            name=message["name"],
            text=message["content"],
            occurred_at=datetime.fromisoformat(body["occurred_at"]),
        )


def _question(where: str, sample: Mapping[str, Any], asked: Any, place: int) -> Question:
    if not isinstance(asked, dict):
        raise _refused(where, "not an object")
    if not isinstance(asked.get("question"), str):
        raise _refused(where, "`question` is missing or no text")
    if not str(asked.get("category")).isdecimal():
        raise _refused(where, "`category` is missing or no number")
    evidence = asked.get("evidence", [])
    if not isinstance(evidence, list) or not all(isinstance(item, str) for item in evidence):
        raise _refused(where, "`evidence` is no list of message ids")
    category = str(int(asked["category"]))
    read = locomo_questions({**sample, "qa": [asked]})
    return Question(
        id=f"{sample['sample_id']}/q{place}",
        text=asked["question"],
        answer=_text(asked.get("answer")),
        category=category,
        evidence=read[0].evidence if read else frozenset(),
        answerable=category != _UNANSWERABLE,
        wrong_answer=_text(asked.get("adversarial_answer")),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _refused(where: str, what: str) -> InvalidInput:
    return InvalidInput(f"{where}: {what}", code=_BAD)
