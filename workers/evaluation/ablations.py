"""Take one part of memory out at a time: what is switched, how, and what that changes.

Each ablation is asked of the same questions as the whole system, so that its effect is a
difference question by question. What a retrieval track cannot show by construction is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from shared.domain.ranking.weights import RANKING_VERSION
from workers.evaluation.ablation_effects import effects_of, flat_doubt
from workers.evaluation.ablation_orders import (
    by_words_alone,
    events_reordered,
    without_meaning,
    worth_of_words,
    worth_without_meaning,
    worth_without_weight,
)
from workers.evaluation.asking import Answers, Held, Wanted, ask_all, hold, own_context
from workers.evaluation.cells import (
    Ablation,
    AblationResult,
    Effect,
    Skipped,
    System,
    cells_of,
)
from workers.evaluation.client import Asking, Loading, set_decay
from workers.evaluation.context_evidence import covered, in_context
from workers.evaluation.fitting import outcome_of
from workers.evaluation.measures import Outcome, scores
from workers.evaluation.question_set import QuestionSet

SAME: Final = "context, same conversation"
OTHER: Final = "context, another conversation"
NO_NODES: Final = "context, another conversation, no nodes"
_RANKED: Final = ("messages", "events", OTHER, SAME)

ABLATIONS: Final[Mapping[str, Ablation]] = {
    one.name: one
    for one in (
        Ablation(
            "no-decay",
            "the decay of detail: every block of the conversation stays whole",
            "policy `block_decay_lambda: 0`, and back",
            (SAME,),
            "Search never reads levels, so only the context of the same conversation can move.",
        ),
        Ablation(
            "no-graph",
            "the knowledge graph in the context",
            "POST context with `max_nodes: 0`",
            (OTHER,),
            "No search of messages, blocks or events reads the graph.",
        ),
        Ablation(
            "no-gate",
            "assessments and all that they tell: whatever is found is answered from",
            "the client never assesses",
            ("abstention",),
            "Nothing warns, so the area is 0.5; the gate never changes what a search finds.",
        ),
        Ablation(
            "gate-without-advisories",
            "what code notices beside an assessment",
            "the client assesses and drops `advisories`",
            ("abstention",),
            "An assessment without a model's own judgement warns of nothing: as without a gate.",
        ),
        Ablation(
            "no-vectors",
            "search by meaning",
            "the client takes `signals.meaning` off the first 100 hits and drops what nothing else "
            "found",
            ("messages", "events"),
            "Nothing to take out where the installation has no provider of vectors.",
        ),
        Ablation(
            "no-ranking-weights",
            "every signal of a rank but the words, for a message with its neighbours'",
            "the client orders the first 100 hits by `signals.words` alone",
            ("messages", "events"),
        ),
        Ablation(
            "no-event-weights",
            "an event's weight (age in turns, importance, use) in the rank of events",
            "the client takes `signals.weight` off `rank_score` of the first 100 events",
            ("events",),
            "Nothing is adopted in a retrieval track, so weights say age and importance alone; "
            "without recorded use they cannot show what they are for.",
        ),
        Ablation(
            "events-only",
            "source messages: only what events rest on is found",
            "the client asks events/search and drops raw/search",
            ("messages",),
        ),
        Ablation(
            "raw-only",
            "events and graph: messages alone are searched",
            "policy `stages.extract: false` in a namespace of its own",
            ("messages", OTHER),
            "Without events another conversation is told nothing, so its context falls to zero.",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole system: how it stands, what it answered, and its systems by name."""

    held: Sequence[Held]
    answers: Answers
    systems: Mapping[str, System]


def ablate(
    client: httpx.Client,
    questions: QuestionSet,
    names: Sequence[str],
    *,
    prefix: str,
    vectors: str | None,
    on_question: Callable[[], None],
    parallel: int = 1,
) -> AblationResult:
    """Measure the whole system, then each named ablation; raises Refused or Unavailable.

    `vectors` names the installation's provider, None where it has none.
    """
    run = _Run(Asking(client), questions, prefix, vectors, on_question, parallel)
    whole = run.whole(names)
    effects: list[Effect] = []
    skipped: list[Skipped] = []
    for name in names:
        if name == "no-vectors" and vectors is None:
            skipped.append(Skipped(name, "the installation has no provider of vectors"))
        elif name in ("no-gate", "gate-without-advisories"):
            effects += flat_doubt(name, whole.answers.judged)
        else:
            without = {system.name: system for system in run.without(name, whole)}
            effects += effects_of(name, whole.systems, without)
    return AblationResult(
        weights=RANKING_VERSION,
        conversations=len(questions.conversations),
        questions=len(whole.answers.asked),
        answerable=sum(question.answerable for _, question in whole.answers.asked),
        vectors=vectors,
        cells=cells_of(whole.systems.values()),
        ablations=[ABLATIONS[name] for name in names],
        effects=effects,
        skipped=skipped,
    )


@dataclass(frozen=True, slots=True)
class _Run:
    asking: Asking
    questions: QuestionSet
    prefix: str
    vectors: str | None
    on_question: Callable[[], None]
    parallel: int

    def whole(self, names: Sequence[str]) -> Whole:
        """Ask the whole system what the named ablations compare with."""
        loading = Loading.named(self.prefix, events=True, provider=self.vectors)
        held = hold(self.asking, self.questions, loading)
        moved = {unit for name in names for unit in ABLATIONS[name].can_move}
        elsewhere: dict[str, dict[str, int]] = {OTHER: {}} if OTHER in moved else {}
        if "no-graph" in names:
            elsewhere[NO_NODES] = {"max_nodes": 0}
        wanted = Wanted(
            blocks=False,
            events=True,
            gate="abstention" in moved,
            own_context=SAME in moved,
            elsewhere=elsewhere,
            parallel=self.parallel,
        )
        answers = ask_all(self.asking, held, wanted, self.on_question, own_name=SAME)
        return Whole(held, answers, {s.name: s for s in _systems(answers)})

    def without(self, name: str, whole: Whole) -> Iterator[System]:
        """Yield the systems of an ablation, under the names that they have in the whole."""
        answers = whole.answers
        if name == "no-decay":
            yield self._undecayed(whole)
        elif name == "no-graph":
            yield System(OTHER, "context", answers.scored(answers.contexts[NO_NODES]))
        elif name == "no-ranking-weights":
            yield _ranked("messages", answers, [by_words_alone(one) for one in answers.messages])
            yield _ranked("events", answers, list(events_reordered(answers, worth_of_words)))
        elif name == "no-event-weights":
            yield _ranked("events", answers, list(events_reordered(answers, worth_without_weight)))
        elif name == "events-only":
            yield _ranked("messages", answers, list(_from_events(whole)))
        elif name == "no-vectors":
            yield _ranked("messages", answers, [without_meaning(one) for one in answers.messages])
            yield _ranked("events", answers, list(events_reordered(answers, worth_without_meaning)))
        elif name == "raw-only":
            yield from self._raw()

    def _raw(self) -> Iterator[System]:
        """Ask namespaces from which no events were taken."""
        loading = Loading.named(self.prefix, events=False, provider=self.vectors)
        held = hold(self.asking, self.questions, loading)
        wanted = Wanted(
            blocks=False,
            gate=False,
            own_context=False,
            elsewhere={OTHER: {}},
            parallel=self.parallel,
        )
        yield from _systems(ask_all(self.asking, held, wanted, self.on_question))

    def _undecayed(self, whole: Whole) -> System:
        client = self.asking.client
        before: dict[str, float] = {}
        for one in whole.held:
            before[one.loaded.namespace] = set_decay(client, one.loaded.namespace, 0.0)
        try:
            given = own_context(self.asking, whole.held)
        finally:
            for namespace, decay in before.items():
                set_decay(client, namespace, decay)
        values = [in_context(given[c.id], question.evidence) for c, question in whole.answers.asked]
        return System(SAME, "context", whole.answers.scored(values))


def _systems(answers: Answers) -> Iterator[System]:
    yield _ranked("messages", answers, [outcome_of(one) for one in answers.messages])
    if answers.events:
        yield _ranked("events", answers, answers.events)
    for name, values in answers.contexts.items():
        if name in _RANKED:
            yield System(name, "context", answers.scored(values))


def _ranked(name: str, answers: Answers, outcomes: Sequence[Outcome]) -> System:
    return System(name, name, answers.scored([scores(one) for one in outcomes]))


def _from_events(whole: Whole) -> Iterator[Outcome]:
    """Yield the messages that found events rest on, in the events' order."""
    sources = {one.conversation.id: one.sources for one in whole.held}
    answers = whole.answers
    for (conversation, _), one in zip(answers.asked, answers.events, strict=True):
        ranked = covered(one.ranked, sources[conversation.id])
        yield Outcome(one.category, ranked, one.gold, one.answerable)
