"""Judge answers: each judge several times, with seeds of its own and a temperature above 0.

An answer in the words for "unknown" needs no judge: it is right where nothing can be known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.domain.model_json import UnreadableReply, read_object
from workers.evaluation.answering.answered import Answered, AnswerKey
from workers.evaluation.answering.chat import ChatModel, ChatReply, ChatRequest
from workers.evaluation.answering.prompt_files import JUDGES, prompt
from workers.evaluation.question_set import Question

NOT_ANSWERABLE: Final = "not answerable"
JUDGE_TEMPERATURE: Final = 0.7
_JUDGE_TOKENS: Final = 16
_FIRST_SEED: Final = 7_000
_VERDICTS: Final = ("correct", "wrong")
_SCHEMA: Final = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": list(_VERDICTS)}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class VerdictKey:
    """Which verdict: one run of one judge on one answer."""

    answer: AnswerKey
    judge: str
    run: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One run's verdict; None where the judge failed or could not be read.

    `by_rule` tells that no judge was asked.
    """

    key: VerdictKey
    is_correct: bool | None
    by_rule: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


def judged(model: ChatModel, key: VerdictKey, answered: Answered, *, question: Question) -> Verdict:
    """Return one verdict on an answer."""
    if answered.error is not None or not answered.answer:
        return Verdict(key, is_correct=False, by_rule=True)
    if answered.is_abstention:
        return Verdict(key, is_correct=not question.answerable, by_rule=True)
    reply = model.ask(_request(key, answered, question))
    return Verdict(
        key,
        _read(reply),
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        seconds=reply.seconds,
    )


def _request(key: VerdictKey, answered: Answered, question: Question) -> ChatRequest:
    reference = question.answer if question.answerable else None
    user = (
        f"QUESTION: {question.text}\nREFERENCE: {reference or NOT_ANSWERABLE}\n"
        f"ANSWER: {answered.answer}"
    )
    return ChatRequest(
        prompt(JUDGES[key.judge]),
        user,
        _JUDGE_TOKENS,
        JUDGE_TEMPERATURE,
        _FIRST_SEED + key.run,
        schema=_SCHEMA,
        name="verdict",
    )


def _read(reply: ChatReply) -> bool | None:
    if reply.error is not None:
        return None
    try:
        verdict = read_object(reply.text).get("verdict")
    except UnreadableReply:
        return None
    return verdict == "correct" if verdict in _VERDICTS else None
