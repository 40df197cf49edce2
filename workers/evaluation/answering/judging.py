"""Judge answers: each judge several times, with seeds of its own and a temperature above 0.

An answer in the words for "unknown" needs no judge: it is right where nothing can be known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workers.evaluation.answering.answered import Answered, AnswerKey
from workers.evaluation.answering.chat import ChatModel, ChatReply, ChatRequest
from workers.evaluation.answering.prompt_files import JUDGES, prompt
from workers.evaluation.question_set import Question

NOT_ANSWERABLE: Final = "not answerable"
JUDGE_TEMPERATURE: Final = 0.7
_JUDGE_TOKENS: Final = 8
_FIRST_SEED: Final = 7_000
_VERDICT: Final = re.compile(r"\W*(correct|wrong|incorrect)\b", re.IGNORECASE)


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
        f"ANSWER: {answered.answer}\nVERDICT:"
    )
    return ChatRequest(
        prompt(JUDGES[key.judge]),
        user,
        _JUDGE_TOKENS,
        JUDGE_TEMPERATURE,
        _FIRST_SEED + key.run,
    )


def _read(reply: ChatReply) -> bool | None:
    found = _VERDICT.match(reply.text)
    if reply.error is not None or found is None:
        return None
    return found[1].casefold() == "correct"
