"""Carry a run out: every mode's answers first, then each judge over all of them.

So prompts with the same beginning follow each other, which a server that caches reads once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from workers.evaluation.answering.answered import AnswerKey, Mode
from workers.evaluation.answering.answering_modes import Answerer
from workers.evaluation.answering.artefacts import Artefacts
from workers.evaluation.answering.chat import ChatModel
from workers.evaluation.answering.in_parallel import in_parallel
from workers.evaluation.answering.judging import VerdictKey, judged
from workers.evaluation.question_set import Conversation, Question

Asked = Sequence[tuple[Conversation, Question]]


class Progress(Protocol):
    """Where a run tells how far it is."""

    def begin(self, what: str, total: int, done: int) -> Callable[[], None]:
        """Announce a part of the run; what is returned is called as each of its tasks ends."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked: questions, modes, system seeds, judges and the runs of each."""

    asked: Asked
    modes: Sequence[Mode]
    seeds: Sequence[int]
    judges: Sequence[str]
    judge_runs: int

    def answers(self, mode: Mode) -> list[AnswerKey]:
        """Return the answers of a mode, in the order in which they are asked for."""
        return [AnswerKey(mode, seed, q.id) for seed in self.seeds for _, q in self.asked]

    def verdicts(self, judge: str) -> list[VerdictKey]:
        """Return a judge's verdicts; the runs of one answer follow each other."""
        return [
            VerdictKey(key, judge, run)
            for mode in self.modes
            for key in self.answers(mode)
            for run in range(1, self.judge_runs + 1)
        ]


def run_answers(
    plan: Plan, answerer: Answerer, artefacts: Artefacts, *, parallel: int, progress: Progress
) -> None:
    """Ask for what the artefacts do not hold yet. Raises Refused or Unavailable of the API."""
    by_id = {question.id: (conversation, question) for conversation, question in plan.asked}

    def answer(key: AnswerKey) -> None:
        artefacts.add_answer(answerer.answer(key, *by_id[key.question_id]))

    for mode in plan.modes:
        wanted = plan.answers(mode)
        missing = [key for key in wanted if key not in artefacts.answers]
        done = progress.begin(f"answers: {mode.value}", len(wanted), len(wanted) - len(missing))
        in_parallel(missing, answer, threads=parallel, on_done=done)


def run_judges(
    plan: Plan, model: ChatModel, artefacts: Artefacts, *, parallel: int, progress: Progress
) -> None:
    """Judge what was answered and is not judged yet."""
    questions = {question.id: question for _, question in plan.asked}
    for judge in plan.judges:
        wanted = plan.verdicts(judge)
        missing = [key for key in wanted if key not in artefacts.verdicts]
        done = progress.begin(f"judge: {judge}", len(wanted), len(wanted) - len(missing))
        work = partial(_judge, model, artefacts, questions)
        in_parallel(missing, work, threads=parallel, on_done=done)


def _judge(
    model: ChatModel, artefacts: Artefacts, questions: dict[str, Question], key: VerdictKey
) -> None:
    answered = artefacts.answers[key.answer]
    question = questions[key.answer.question_id]
    artefacts.add_verdict(judged(model, key, answered, question=question))
