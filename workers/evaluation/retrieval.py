"""The retrieval track: every way to find evidence beside every baseline, on the same questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from shared.domain.ranking.weights import RANKING_VERSION
from workers.evaluation.abstention import abstention
from workers.evaluation.asking import Answers, Wanted, ask_all, hold
from workers.evaluation.baselines import bm25_of_terms, bm25_of_words, grep, newest
from workers.evaluation.baselines_postgres import NoPostgres, postgres_ranking
from workers.evaluation.cells import (
    Latency,
    RetrievalResult,
    Skipped,
    System,
    cells_of,
    differences_of,
)
from workers.evaluation.client import Asking, Loading
from workers.evaluation.context_evidence import in_context
from workers.evaluation.fitting import Answered, fitted_outcomes, outcome_of, without
from workers.evaluation.measures import Outcome, scores
from workers.evaluation.question_set import QuestionSet

MESSAGES: Final = "messages"
SAME: Final = "context, same conversation"
OTHER: Final = "context, another conversation"
WIDE: Final = "context, another conversation, 4,000 tokens"
_ELSEWHERE: Final = {OTHER: {}, WIDE: {"max_tokens": 4_000, "max_events": 30, "max_nodes": 10}}
_BUDGETS: Final = (1_000, 4_000, 16_000, 32_000)
_POSTGRES: Final = "Postgres full text"


@dataclass(frozen=True, slots=True)
class Track:
    """What a run measures; `database_url` is where Postgres is asked for its own ranking, and so
    many conversations as `parallel` says are asked at a time."""

    loading: Loading
    database_url: str
    parallel: int = 1


@dataclass(frozen=True, slots=True)
class Measured:
    """The result, and the version of the Postgres that was a baseline, None where none was."""

    result: RetrievalResult
    postgres: str | None


def evaluate(
    client: httpx.Client,
    questions: QuestionSet,
    track: Track,
    *,
    on_question: Callable[[], None],
) -> Measured:
    """Load conversations, ask every question in every way, and compare with the baselines.

    Raises Refused or Unavailable, the latter also when nothing is derived for three minutes.
    """
    asking = Asking(client)
    held = hold(asking, questions, track.loading)
    events = track.loading.events
    wanted = Wanted(events=events, elsewhere=_ELSEWHERE if events else {}, parallel=track.parallel)
    answers = ask_all(asking, held, wanted, on_question)
    own = list(_own_systems(answers))
    baselines = list(_baselines(questions, answers))
    postgres, skipped = None, []
    try:
        found = postgres_ranking(track.database_url, questions)
        postgres = found.version
        baselines.append(
            _ranked(_POSTGRES, answers, [found.ranked[q.id] for _, q in answers.asked])
        )
    except NoPostgres as reason:
        skipped.append(Skipped(_POSTGRES, str(reason)))
    systems = [*own, *baselines, *_budgets(questions, answers)]
    result = RetrievalResult(
        weights=RANKING_VERSION,
        conversations=len(questions.conversations),
        messages=sum(len(one.messages) for one in questions.conversations),
        questions=len(answers.asked),
        answerable=sum(question.answerable for _, question in answers.asked),
        left_out=sum(not question.evidence for _, question in questions.asked()),
        degraded=answers.degraded,
        cells=cells_of(systems),
        differences=differences_of(_pairs(systems)),
        abstention=abstention(answers.judged),
        latencies=latencies_of(asking.took),
        skipped=skipped,
    )
    return Measured(result, postgres)


def of_outcomes(
    name: str, unit: str, answers: Answers, outcomes: Sequence[Outcome], *, detail: bool = True
) -> System:
    """Return a system that ranked something for every question."""
    return System(name, unit, answers.scored([scores(one) for one in outcomes]), detail)


def latencies_of(took: Mapping[str, Sequence[float]]) -> list[Latency]:
    """Return the middle and the 95th percentile of each kind of request."""
    found: list[Latency] = []
    for kind, times in took.items():
        ordered = sorted(times)
        last = len(ordered) - 1
        middle, late = ordered[last // 2], ordered[int(0.95 * last)]
        found.append(Latency(kind, len(ordered), round(middle, 2), round(late, 2)))
    return found


def _own_systems(answers: Answers) -> Iterator[System]:
    found = answers.messages
    yield of_outcomes(MESSAGES, "messages", answers, [outcome_of(one) for one in found])
    yield of_outcomes("blocks of 6 turns", "blocks", answers, answers.blocks)
    if answers.events:
        yield of_outcomes("events", "events", answers, answers.events)
    for name, values in answers.contexts.items():
        yield System(name, "context", answers.scored(values))
    if len({one.conversation for one in found}) > 1:
        yield _fitted(answers, found)
    for signal in sorted({s for one in found for c in one.candidates for s in c.shares}):
        name = f"messages without {signal}"
        yield of_outcomes(name, "messages", answers, without(found, signal), detail=False)


def _fitted(answers: Answers, found: Sequence[Answered]) -> System:
    outcomes = fitted_outcomes(found)
    # Fitting leaves one conversation out at a time and returns them by name, not as asked.
    order = sorted(range(len(found)), key=lambda place: found[place].conversation)
    in_order = dict(zip(order, outcomes, strict=True))
    again = [in_order[place] for place in range(len(found))]
    return of_outcomes("messages, fitted on the others", "messages", answers, again)


def _baselines(questions: QuestionSet, answers: Answers) -> Iterator[System]:
    for name, ranker in (
        ("BM25 over the product's terms", bm25_of_terms),
        ("BM25 over lower-case words", bm25_of_words),
        ("grep", grep),
    ):
        rankers = {one.id: ranker(one.messages) for one in questions.conversations}
        yield _ranked(name, answers, [rankers[c.id](q.text) for c, q in answers.asked])


def _ranked(name: str, answers: Answers, ranked: Sequence[Sequence[str]]) -> System:
    outcomes = [
        Outcome(question.category, names, question.evidence, question.answerable)
        for (_, question), names in zip(answers.asked, ranked, strict=True)
    ]
    return of_outcomes(name, "messages", answers, outcomes)


def _budgets(questions: QuestionSet, answers: Answers) -> Iterator[System]:
    """Yield what the newest messages hold, for some budgets and for the own context's tokens."""
    for budget in _BUDGETS:
        budgets = {one.id: budget for one in questions.conversations}
        yield _newest(f"newest {budget:,} tokens", questions, answers, budgets)
    yield _newest("newest, as many tokens as " + SAME, questions, answers, answers.own_tokens)


def _newest(
    name: str, questions: QuestionSet, answers: Answers, budgets: Mapping[str, int]
) -> System:
    taken = {one.id: newest(one.messages, budgets[one.id]) for one in questions.conversations}
    values = [
        in_context(taken[conversation.id], question.evidence)
        for conversation, question in answers.asked
    ]
    return System(name, "context", answers.scored(values))


def _pairs(systems: Sequence[System]) -> Iterator[tuple[System, System]]:
    """Yield what is compared: the product with every baseline, and each variant with it."""
    by_name = {system.name: system for system in systems}
    whole = by_name[MESSAGES]
    for system in systems:
        if system.unit == "messages" and system is not whole:
            is_variant = system.name.startswith(MESSAGES)
            yield (system, whole) if is_variant else (whole, system)
    yield by_name[SAME], by_name["newest, as many tokens as " + SAME]
