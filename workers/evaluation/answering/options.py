"""The options of a run: which questions and modes they mean, and how they stand in its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shared.errors import InvalidInput
from workers.evaluation.answering.answered import Mode
from workers.evaluation.answering.chosen import chosen_questions
from workers.evaluation.answering.judging import JUDGE_TEMPERATURE
from workers.evaluation.answering.prompt_files import JUDGES, prompt_versions
from workers.evaluation.answering.running import Plan
from workers.evaluation.question_set import Conversation, QuestionSet

ALL_MODES: Final = ",".join(Mode)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `stratagate eval answers`, under its own names."""

    file: Path
    out: Path
    conversations: str | None
    questions: int | None
    choice_seed: int
    modes: str
    seeds: int
    judges: int
    budget: int
    shown: int
    characters: int
    sentences: int
    top_k: int
    full_tokens: int
    temperature: float
    with_advisories: bool
    parallel: int
    prefix: str
    api_url: str | None
    api_key: str | None


def plan_of(options: RunOptions, questions: QuestionSet) -> Plan:
    """Return what is asked. Raises InvalidInput for an unknown name, or without a question."""
    conversations = _named_conversations(options.conversations, questions.conversations)
    asked = chosen_questions(conversations, count=options.questions, seed=options.choice_seed)
    if not asked:
        raise InvalidInput("there is no question that can be judged", code="bad_question_set")
    seeds = range(1, options.seeds + 1)
    return Plan(asked, _named_modes(options.modes), seeds, list(JUDGES), options.judges)


def configuration_of(
    options: RunOptions, plan: Plan, questions: QuestionSet, *, model: str
) -> dict[str, Any]:
    """Return all that it takes to judge and repeat the run; no address and no key."""
    return {
        "model": model,
        "prompts": prompt_versions(),
        "data_sha256": questions.sha256,
        "questions": [question.id for _, question in plan.asked],
        "chosen": {
            "rule": "by sha256 of 'seed:id' in turn from each category",
            "conversations": options.conversations,
            "count": options.questions,
            "seed": options.choice_seed,
        },
        "modes": [mode.value for mode in plan.modes],
        "system_seeds": len(plan.seeds),
        "judge_runs": plan.judge_runs,
        "judge_temperature": JUDGE_TEMPERATURE,
        "answer_temperature": options.temperature,
        "loop": {
            "budget": options.budget,
            "shown": options.shown,
            "characters": options.characters,
            "description_sentences": options.sentences,
            "advisories": options.with_advisories,
        },
        "top_k": options.top_k,
        "full_tokens": options.full_tokens,
        "parallel": options.parallel,
    }


def identity_of(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must stay the same when a run is continued: more may be asked, not otherwise."""
    free = {"questions", "chosen", "modes", "system_seeds", "judge_runs", "parallel"}
    return {name: value for name, value in configuration.items() if name not in free}


def _named_conversations(
    names: str | None, conversations: Sequence[Conversation]
) -> Sequence[Conversation]:
    if names is None:
        return conversations
    wanted = names.split(",")
    held = {conversation.id: conversation for conversation in conversations}
    unknown = [name for name in wanted if name not in held]
    if unknown:
        raise InvalidInput(f"no conversation {unknown[0]}; there are {', '.join(held)}")
    return [held[name] for name in wanted]


def _named_modes(names: str) -> list[Mode]:
    wanted = names.split(",")
    unknown = [name for name in wanted if name not in list(Mode)]
    if unknown:
        raise InvalidInput(f"no mode {unknown[0]}; there are {ALL_MODES}")
    return [Mode(name) for name in dict.fromkeys(wanted)]
