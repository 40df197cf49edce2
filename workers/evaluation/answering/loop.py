"""The tool loop of the mode `memory`: search, assess, search again, until sufficient or spent.

The gate's rule holds: once something was retrieved, the answer comes after a sufficient
assessment or when the budget of retrievals is spent. The prompt only ever grows at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from workers.evaluation.answering.chat import ChatModel, ChatReply, ChatRequest
from workers.evaluation.answering.loop_steps import (
    ANSWER,
    Step,
    assessment_step,
    open_steps,
    read_step,
)
from workers.evaluation.answering.memory_tools import EXPAND, Found, Item, MemoryTools
from workers.evaluation.answering.note import Note
from workers.evaluation.answering.prompt_files import LOOP, prompt
from workers.evaluation.client import Refused

_STEP_TOKENS: Final = 80
_ANOTHER_SEED: Final = 1_000
_LONGEST_ADVICE: Final = 200
_ABOUT_LOOKING: Final = frozenset({"no_new_refs", "evidence_pending"})
"""Advisories on how to look on, which say nothing of the answer."""


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """How the loop runs; `tools_text` describes the tools, `budget` counts retrievals."""

    tools_text: str
    budget: int = 3
    temperature: float = 0.3
    with_advisories: bool = True


@dataclass(slots=True)
class Looked:
    """What the loop did and found.

    `sufficient` is the batch whose assessment counted as sufficient. `steps` holds each step
    with its texts, `tools` the calls by tool, `seen` what was shown, by its number.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    tools: dict[str, int] = field(default_factory=dict)
    replies: list[ChatReply] = field(default_factory=list)
    seen: dict[int, Item] = field(default_factory=dict)
    retrievals: int = 0
    sufficient: str | None = None
    accepted: tuple[str, ...] = ()
    advisories: tuple[str, ...] = ()
    is_unreadable: bool = False

    @property
    def notes(self) -> list[Note]:
        """What the answer may rest on: what was accepted, else all that was shown."""
        chosen = [i for i in self.seen.values() if not self.accepted or i.ref in self.accepted]
        unique = {item.text: Note(item.text, item.ids) for item in chosen}
        warned = [Note(f"[memory's warning] {one}", frozenset()) for one in self.advisories]
        return [*unique.values(), *warned]

    @property
    def found_ids(self) -> frozenset[str]:
        """The labelled messages beneath anything that was shown."""
        return frozenset().union(*(item.ids for item in self.seen.values()))


def look(
    model: ChatModel,
    tools: MemoryTools,
    question: str,
    *,
    options: LoopOptions,
    seed: int,
    thread: str,
) -> Looked:
    """Let a model look for what answers a question. Raises Unavailable."""
    run = _Run(model, tools, question, options, seed, thread)
    waiting: Found | None = None
    while run.looked.sufficient is None and (waiting or run.looked.retrievals < options.budget):
        step = run.next_step(waiting)
        if step is None or step.action == ANSWER:
            break
        if waiting is None:
            waiting = run.retrieve(step)
        else:
            run.assess(step, waiting)
            waiting = None
    return run.looked


@dataclass(slots=True)
class _Run:
    model: ChatModel
    tools: MemoryTools
    question: str
    options: LoopOptions
    seed: int
    thread: str
    looked: Looked = field(default_factory=Looked)
    transcript: str = ""
    spent: set[str] = field(default_factory=set)

    def next_step(self, waiting: Found | None) -> Step | None:
        """Ask for the next step, twice at most; None where neither reply can be read."""
        schema = self._schema(waiting)
        request = ChatRequest(
            system=f"{prompt(LOOP)}\n{self.options.tools_text}",
            user=f"QUESTION: {self.question}\n{self.transcript}NEXT STEP:",
            max_tokens=_STEP_TOKENS,
            temperature=self.options.temperature,
            seed=self.seed,
            schema=schema,
            name="step",
        )
        for seed in (self.seed, self.seed + _ANOTHER_SEED):
            reply = self.model.ask(replace(request, seed=seed))
            self.looked.replies.append(reply)
            step = None if reply.error else read_step(reply, schema)
            if step is not None:
                return step
            self.looked.steps.append({"unreadable": reply.text, "error": reply.error})
        self.looked.is_unreadable = True
        return None

    def retrieve(self, step: Step) -> Found | None:
        """Call a search or an expansion; a refusal costs one of the budget as well."""
        self._count(step.action)
        self.looked.retrievals += 1
        try:
            if step.action == EXPAND:
                event_id = self.looked.seen[step.items[0]].event_id or ""
                found = self.tools.expand(event_id, thread=self.thread)
            else:
                found = self.tools.search(step.action, step.query, thread=self.thread)
        except Refused as error:
            self._tell(step, f"refused: {error.detail[:100]}", {"refused": error.detail})
            return None
        lines, again = self._show(found)
        self.spent = set() if lines else {*self.spent, step.action}
        if again:
            lines.append(f"seen before: {', '.join(map(str, again))}")
        self._tell(step, "\n".join(lines) or f"nothing ({found.empty_reason})", {"shown": lines})
        return found

    def assess(self, step: Step, found: Found) -> None:
        """Submit the model's assessment of a reply; what counts is what the gate makes of it."""
        self._count(step.action)
        refs = [self.looked.seen[n].ref for n in step.items if n in self.looked.seen]
        counted = self.tools.assess(
            found, step.verdict, refs, question=self.question, thread=self.thread
        )
        told: list[str] = []
        if self.options.with_advisories:
            advisories = counted["advisories"]
            told = [str(one["message"])[:_LONGEST_ADVICE] for one in advisories]
            self.looked.advisories = tuple(
                words
                for one, words in zip(advisories, told, strict=True)
                if one["code"] not in _ABOUT_LOOKING
            )
        if counted["verdict"] == "sufficient":
            self.looked.sufficient = found.batch_id
            self.looked.accepted = tuple(counted["evidence_refs"])
        words = " ".join([f"counted as {counted['verdict']}.", *told])
        self._tell(step, words, {"counted": counted["verdict"], "told": told})

    def _schema(self, waiting: Found | None) -> dict[str, Any]:
        seen = self.looked.seen
        if waiting is not None:
            own = {item.ref for item in waiting.items}
            return assessment_step([n for n, item in seen.items() if item.ref in own])
        expandable = [n for n, item in seen.items() if item.event_id]
        is_first = not self.looked.retrievals
        return open_steps(may_answer=is_first, expandable=expandable, spent=self.spent)

    def _show(self, found: Found) -> tuple[list[str], list[int]]:
        """Number what is new; return its lines, and the numbers of what was shown before."""
        lines: list[str] = []
        again: list[int] = []
        known = {(item.ref, item.text): n for n, item in self.looked.seen.items()}
        for item in found.items:
            number = known.get((item.ref, item.text))
            if number is not None:
                again.append(number)
                continue
            number = len(self.looked.seen) + 1
            self.looked.seen[number] = item
            lines.append(f"{number}. {item.text}")
        return lines, again

    def _count(self, tool: str) -> None:
        self.looked.tools[tool] = self.looked.tools.get(tool, 0) + 1

    def _tell(self, step: Step, result: str, kept: Mapping[str, Any]) -> None:
        told: dict[str, Any] = {"action": step.action}
        if step.query:
            told["query"] = step.query
        if step.verdict:
            told |= {"items": list(step.items), "verdict": step.verdict}
        elif step.items:
            told["item"] = step.items[0]
        self.looked.steps.append({**told, **kept})
        self.transcript += f"NEXT STEP: {orjson.dumps({'step': told}).decode()}\n"
        self.transcript += f"RESULT:\n{result}\n"
