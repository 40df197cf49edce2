"""Measure retrieval over the API on labelled conversations: each system's recall, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from shared.domain.jobs import LIVE_STATES, JobState
from shared.domain.locomo import LocomoQuestion, locomo_questions
from shared.errors import Unavailable
from workers.evaluation.client import (
    LoadedConversation,
    ask_blocks,
    ask_messages,
    jobs_of_kind,
    load_conversation,
    pending_blocks,
)
from workers.evaluation.fitting import Answered, Candidate, fitted_outcomes, outcome_of, without
from workers.evaluation.measures import Outcome, Summary, summarise

_LONGEST_WAIT_S: Final = 1_800.0
_POLL_S: Final = 2.0
_UNANSWERABLE: Final = 5


@dataclass(frozen=True, slots=True)
class Report:
    """The table: each system by name with its summary, in the order to show them.

    `milliseconds` holds the time of each raw search, ascending; `degraded` counts the searches
    that a lane was missing from.
    """

    systems: Mapping[str, Summary]
    milliseconds: Sequence[float]
    degraded: int = 0


def evaluate(
    client: httpx.Client,
    samples: Sequence[Mapping[str, Any]],
    *,
    prefix: str,
    events: bool,
    vectors: bool = False,
    on_question: Callable[[], None],
) -> Report:
    """Load conversations, ask every question twice (messages, blocks) and summarise.

    Raises Refused or Unavailable, the latter also when events or vectors are not there within
    half an hour.
    """
    answered: list[Answered] = []
    blocks: list[Outcome] = []
    took: list[float] = []
    loaded = [
        load_conversation(client, s, prefix=prefix, events=events, vectors=vectors) for s in samples
    ]
    if events:
        _await_events(client, loaded)
    if vectors:
        _await_vectors(client, loaded)
    degraded = 0
    for sample, conversation in zip(samples, loaded, strict=True):
        for question in locomo_questions(sample):
            begun = time.perf_counter()
            reply = ask_messages(client, conversation.namespace, question.text)
            took.append((time.perf_counter() - begun) * 1000)
            degraded += bool(reply["degraded_lanes"])
            answered.append(_messages(conversation, question, reply["items"]))
            blocks.append(_blocks(client, conversation, question))
            on_question()
    return Report(_systems(answered, blocks), sorted(took), degraded)


def _systems(answered: Sequence[Answered], blocks: Sequence[Outcome]) -> dict[str, Summary]:
    systems = {
        "messages": summarise([outcome_of(one) for one in answered]),
        "blocks of 6 turns": summarise(blocks),
    }
    if len({one.conversation for one in answered}) > 1:
        systems["messages, fitted on the others"] = summarise(fitted_outcomes(answered))
    signals = sorted({s for one in answered for c in one.candidates for s in c.shares})
    for signal in signals:
        systems[f"messages without {signal}"] = summarise(without(answered, signal))
    return systems


def _messages(
    conversation: LoadedConversation, question: LocomoQuestion, items: Sequence[Mapping[str, Any]]
) -> Answered:
    return Answered(
        conversation=conversation.namespace,
        category=str(question.category),
        gold=question.evidence,
        answerable=question.category != _UNANSWERABLE,
        candidates=tuple(Candidate(i["metadata"]["dia_id"], i["signals"]) for i in items),
    )


def _blocks(
    client: httpx.Client, conversation: LoadedConversation, question: LocomoQuestion
) -> Outcome:
    gold = frozenset(conversation.block_of[dia_id] for dia_id in question.evidence)
    ranked = ask_blocks(client, conversation.namespace, question.text)
    return Outcome(str(question.category), ranked, gold, question.category != _UNANSWERABLE)


def _await_events(client: httpx.Client, loaded: Sequence[LoadedConversation]) -> None:
    until = time.monotonic() + _LONGEST_WAIT_S
    for conversation in loaded:
        while (waiting := pending_blocks(client, conversation.namespace)) > 0:
            if time.monotonic() > until:
                raise Unavailable(f"{waiting} blocks of {conversation.namespace} are pending")
            time.sleep(_POLL_S)


def _await_vectors(client: httpx.Client, loaded: Sequence[LoadedConversation]) -> None:
    until = time.monotonic() + _LONGEST_WAIT_S
    for conversation in loaded:
        while True:
            jobs = jobs_of_kind(client, conversation.namespace, "embed")
            if jobs.get(JobState.DEAD):
                raise Unavailable(f"an embed job of {conversation.namespace} is dead")
            if jobs and not any(jobs.get(state) for state in LIVE_STATES):
                break
            if not jobs or time.monotonic() > until:
                raise Unavailable(f"{conversation.namespace} gets no vectors: is a worker running?")
            time.sleep(_POLL_S)
