"""Ask every question of one standing of the memory, and keep what each way of asking gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from workers.evaluation.abstention import LIKELY_UNANSWERABLE, Judged, doubt_of_reply
from workers.evaluation.cells import Scored
from workers.evaluation.client import (
    ELSEWHERE,
    Asking,
    LoadedConversation,
    Loading,
    ask_blocks,
    ask_context,
    ask_events,
    ask_gate,
    ask_messages,
    await_derived,
    load_conversation,
    sources_of_events,
)
from workers.evaluation.context_evidence import (
    Given,
    given_by_context,
    given_by_messages,
    in_context,
)
from workers.evaluation.fitting import Answered, Candidate
from workers.evaluation.measures import Outcome
from workers.evaluation.question_set import EVIDENCE_KEY, Conversation, Question, QuestionSet

SHOWN: Final = 10
"""How many messages an agent reads of one search, where they count as a context."""

_CITED: Final = 3
"""How many of the best messages are cited when a batch is judged."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked beside messages. `elsewhere` holds the contexts of another conversation by
    name, each with its limits as the API takes them. So many conversations are asked at a time as
    `parallel` says; more than one makes requests wait for each other."""

    blocks: bool = True
    events: bool = False
    gate: bool = True
    own_context: bool = True
    elsewhere: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    parallel: int = 1


@dataclass(frozen=True, slots=True)
class Held:
    """A conversation as it stands in memory, with the messages that each event rests on."""

    conversation: Conversation
    loaded: LoadedConversation
    sources: Mapping[str, frozenset[str]]


@dataclass(slots=True)
class Answers:
    """What every question got, in one order. `contexts` are by name, `events` with their cards.

    `judged` holds all questions, the others those with known evidence.
    """

    asked: list[tuple[Conversation, Question]] = field(default_factory=list)
    messages: list[Answered] = field(default_factory=list)
    blocks: list[Outcome] = field(default_factory=list)
    events: list[Outcome] = field(default_factory=list)
    event_cards: list[list[dict[str, Any]]] = field(default_factory=list)
    contexts: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)
    own_tokens: dict[str, int] = field(default_factory=dict)
    degraded: int = 0

    def add(self, other: Answers) -> None:
        """Take what another conversation's questions got behind what is here."""
        self.asked += other.asked
        self.messages += other.messages
        self.blocks += other.blocks
        self.events += other.events
        self.event_cards += other.event_cards
        self.judged += other.judged
        self.own_tokens |= other.own_tokens
        self.degraded += other.degraded
        for name, values in other.contexts.items():
            self.contexts.setdefault(name, []).extend(values)

    def scored(self, values: Sequence[Mapping[str, float]]) -> list[Scored]:
        """Return one row a question with known evidence, in order."""
        return [
            Scored(question.id, conversation.id, question.category, question.answerable, row)
            for (conversation, question), row in zip(self.asked, values, strict=True)
        ]


def hold(asking: Asking, questions: QuestionSet, loading: Loading) -> list[Held]:
    """Store every conversation and wait until all that was asked for is derived.

    Raises Refused or Unavailable.
    """
    loaded = [load_conversation(asking.client, c, loading) for c in questions.conversations]
    held: list[Held] = []
    for conversation, one in zip(questions.conversations, loaded, strict=True):
        await_derived(asking.client, one.namespace)
        sources = sources_of_events(asking.client, one.namespace) if loading.events else {}
        held.append(Held(conversation, one, sources))
    return held


def ask_all(
    asking: Asking,
    held: Sequence[Held],
    wanted: Wanted,
    on_question: Callable[[], None],
    *,
    own_name: str = "context, same conversation",
) -> Answers:
    """Ask every question of the conversations; raises Refused or Unavailable."""

    def ask(one: Held) -> Answers:
        return _ask_one(asking, one, wanted, on_question, own_name=own_name)

    answers = Answers()
    with ThreadPoolExecutor(max_workers=wanted.parallel) as threads:
        for part in threads.map(ask, held):
            answers.add(part)
    return answers


def own_context(asking: Asking, held: Sequence[Held]) -> dict[str, Given]:
    """Return what each conversation's own context holds now, by its id."""
    return {one.conversation.id: _own_context(asking, one) for one in held}


def _ask_one(
    asking: Asking,
    one: Held,
    wanted: Wanted,
    on_question: Callable[[], None],
    *,
    own_name: str,
) -> Answers:
    answers = Answers()
    own = _own_context(asking, one) if wanted.own_context else None
    if own is not None:
        answers.own_tokens[one.conversation.id] = own.tokens
    for question in one.conversation.questions:
        reply = ask_messages(asking, one.loaded.namespace, question.text)
        answers.degraded += bool(reply["degraded_lanes"])
        if wanted.gate:
            answers.judged.append(_judged(asking, one, question, reply))
        if question.evidence:
            _add(answers, one, question, reply["items"])
            _add_derived(asking, answers, one, question, wanted)
            _add_elsewhere(asking, answers, one, question, wanted, reply["items"])
            if own is not None:
                _put(answers, own_name, own, question)
        on_question()
    return answers


def _own_context(asking: Asking, one: Held) -> Given:
    # A conversation's own context does not depend on what is asked: nothing else is in its
    # namespace that a query could activate.
    reply = ask_context(asking, one.loaded.namespace)
    return given_by_context(reply, one.conversation, one.sources)


def _judged(asking: Asking, one: Held, question: Question, reply: Mapping[str, Any]) -> Judged:
    refs = [item["evidence_ref"] for item in reply["items"][:_CITED]]
    codes = ask_gate(asking, reply["batch_id"], question.text, refs)
    return Judged(
        question=question.id,
        conversation=one.conversation.id,
        answerable=question.answerable,
        doubt=doubt_of_reply(question.text, reply["items"]),
        warned=LIKELY_UNANSWERABLE in codes,
    )


def _add(
    answers: Answers, one: Held, question: Question, items: Sequence[Mapping[str, Any]]
) -> None:
    answers.asked.append((one.conversation, question))
    answers.messages.append(
        Answered(
            conversation=one.conversation.id,
            category=question.category,
            gold=question.evidence,
            candidates=tuple(Candidate(i["metadata"][EVIDENCE_KEY], i["signals"]) for i in items),
            answerable=question.answerable,
        )
    )
    _put(answers, f"{SHOWN} messages", given_by_messages(items[:SHOWN]), question)


def _add_derived(
    asking: Asking, answers: Answers, one: Held, question: Question, wanted: Wanted
) -> None:
    category, answerable = question.category, question.answerable
    if wanted.blocks:
        gold = frozenset(one.loaded.block_of[name] for name in question.evidence)
        ranked = ask_blocks(asking, one.loaded.namespace, question.text)
        answers.blocks.append(Outcome(category, ranked, gold, answerable))
    if wanted.events:
        cards = ask_events(asking, one.loaded.namespace, question.text)
        ranked = [card["event_id"] for card in cards]
        answers.event_cards.append(cards)
        answers.events.append(
            Outcome(category, ranked, question.evidence, answerable, holds=one.sources)
        )


def _add_elsewhere(
    asking: Asking,
    answers: Answers,
    one: Held,
    question: Question,
    wanted: Wanted,
    items: Sequence[Mapping[str, Any]],
) -> None:
    shown = given_by_messages(items[:SHOWN])
    for name, limits in wanted.elsewhere.items():
        reply = ask_context(
            asking, one.loaded.namespace, thread=ELSEWHERE, query=question.text, **limits
        )
        given = given_by_context(reply, one.conversation, one.sources)
        _put(answers, name, given, question)
        _put(answers, f"{name}, and {SHOWN} messages", given | shown, question)


def _put(answers: Answers, name: str, given: Given, question: Question) -> None:
    values = in_context(given, question.evidence)
    answers.contexts.setdefault(name, []).append(values)
