"""Answer one question in one mode: gather notes, then ask with the same words as all others."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from workers.evaluation.answering.answered import Answered, AnswerKey, Mode
from workers.evaluation.answering.baselines import (
    full_notes,
    gold_notes,
    grep_notes,
    plain_notes,
    shown_ids,
)
from workers.evaluation.answering.chat import ChatModel, ChatReply, ChatRequest
from workers.evaluation.answering.loop import Looked, LoopOptions, look
from workers.evaluation.answering.memory_tools import RECORD, MemoryTools
from workers.evaluation.answering.note import Note, notes_text
from workers.evaluation.answering.prompt_files import ANSWER, prompt
from workers.evaluation.question_set import Conversation, Question

_ANSWER_TOKENS: Final = 60
_THREAD_WORDS: Final = re.compile(r"[^A-Za-z0-9._:@-]")


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """What shapes the answers of all modes; `full_tokens` is estimated."""

    loop: LoopOptions
    top_k: int = 10
    full_tokens: int = 6_000
    temperature: float = 0.3


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions by one model. `tools` holds the namespace of a seed and conversation.

    `run` names the threads of one process, so that no batch of an earlier one is their latest.
    """

    model: ChatModel
    options: AnswerOptions
    tools: Mapping[tuple[int, str], MemoryTools]
    run: str = field(default_factory=lambda: secrets.token_hex(4))

    def answer(self, key: AnswerKey, conversation: Conversation, question: Question) -> Answered:
        """Return the answer with its trace. Raises Refused or Unavailable for the API alone."""
        began = time.perf_counter()
        looked = None
        if key.mode is Mode.MEMORY:
            looked = self._look(key, conversation, question)
        notes = looked.notes if looked else self._notes(key.mode, conversation, question)
        reply = self._ask(question, notes, seed=key.seed)
        if looked and looked.sufficient:
            self._record(key, conversation, looked, is_used=not _says_unknown(reply))
        replies = [*(looked.replies if looked else ()), reply]
        # Kept replies answer at once: what they took is what they took when they were asked.
        waited = sum(one.seconds for one in replies)
        seconds = max(waited, time.perf_counter() - began)
        return Answered(
            key=key,
            category=question.category,
            answerable=question.answerable,
            answer=_line(reply.text),
            error=reply.error,
            gold=sorted(question.evidence),
            found=sorted(looked.found_ids if looked else shown_ids(notes)),
            notes=[note.text for note in notes],
            steps=looked.steps if looked else (),
            tools=looked.tools if looked else {},
            retrievals=looked.retrievals if looked else 0,
            is_sufficient=bool(looked and looked.sufficient),
            is_unreadable=bool(looked and looked.is_unreadable),
            input_tokens=sum(one.input_tokens for one in replies),
            output_tokens=sum(one.output_tokens for one in replies),
            calls=len(replies),
            seconds=seconds,
        )

    def _notes(self, mode: Mode, conversation: Conversation, question: Question) -> Sequence[Note]:
        if mode is Mode.PLAIN:
            return plain_notes(conversation, question, k=self.options.top_k)
        if mode is Mode.GREP:
            return grep_notes(conversation, question, k=self.options.top_k)
        if mode is Mode.GOLD:
            return gold_notes(conversation, question)
        if mode is Mode.FULL:
            return full_notes(conversation, token_budget=self.options.full_tokens)
        return []

    def _ask(self, question: Question, notes: Sequence[Note], *, seed: int) -> ChatReply:
        # Notes stand first: what many questions share is then read once by a server that caches.
        user = f"NOTES\n{notes_text(notes)}\n\nQUESTION: {question.text}\nANSWER:"
        return self.model.ask(
            ChatRequest(prompt(ANSWER), user, _ANSWER_TOKENS, self.options.temperature, seed)
        )

    def _look(self, key: AnswerKey, conversation: Conversation, question: Question) -> Looked:
        return look(
            self.model,
            self.tools[key.seed, conversation.id],
            question.text,
            options=self.options.loop,
            seed=key.seed,
            thread=self._thread(key),
        )

    def _record(
        self, key: AnswerKey, conversation: Conversation, looked: Looked, *, is_used: bool
    ) -> None:
        """Record what the answer rests on: what was accepted, or nothing where it knows nothing."""
        tools = self.tools[key.seed, conversation.id]
        refs = looked.accepted if is_used else ()
        looked.tools[RECORD] = looked.tools.get(RECORD, 0) + 1
        tools.record(looked.sufficient or "", refs, thread=self._thread(key))

    def _thread(self, key: AnswerKey) -> str:
        """Return a thread of its own for each question."""
        name = _THREAD_WORDS.sub(":", key.question_id)[:100]
        digest = hashlib.sha256(key.question_id.encode()).hexdigest()[:8]
        return f"ask:{self.run}:{name}:{digest}"


def _says_unknown(reply: ChatReply) -> bool:
    return not reply.text.strip() or reply.text.strip().casefold().startswith("unknown")


def _line(text: str) -> str:
    """Return the first line that says something, without the word that the prompt ends with."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0].removeprefix("ANSWER:").strip() if lines else ""
