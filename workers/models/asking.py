"""Ask a model one task: read tolerantly, check by the given rule, repair once, count every call.

Usage is noted before a reply is read, so that an unreadable one is counted as well. A reply
that was cut off ends the attempt: the same request must not be sent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from shared.domain.jobs import MAX_CALLS_A_PART, FailureClass
from shared.domain.json_text import compact_json
from shared.domain.model_json import MalformedReply, TruncatedReply, UnreadableReply, read_object
from workers.models.per_step import model_for
from workers.models.port import Model, ModelError, ModelReply, ModelTask, Prompt, Usage

OUTPUT_TRUNCATED: Final = "output_truncated"
CALLS_AN_ATTEMPT: Final = 2
_SHOWN_REPLY: Final = 8_000
_SHOWN_PROBLEMS: Final = 12

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """A reply that holds, and what of it did not.

    `problems` are sentences for a repair; of two replies the one with the higher `score`, then
    the fewer problems, is taken.
    """

    value: T
    problems: tuple[str, ...] = ()
    score: int = 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What one call cost and how it went.

    `outcome` is `replied` until the reply is read, then accepted, partial, malformed or
    truncated; a call without a reply has the code of its error.
    """

    call: int
    kind: str
    model: str
    prompt_version: str
    outcome: str
    usage: Usage
    duration_ms: int
    reply: str | None = None


@dataclass(slots=True)
class Asker:
    """Asks on behalf of one attempt of one job, within its deadlines and its number of calls.

    `note` is called with each call as soon as its cost is known, before the reply is read; it
    must not raise. `permit` is asked before each call and raises ModelError to forbid it.
    `calls` says afterwards how each noted call ended.
    """

    model: Model
    attempt: int
    model_deadline_s: float
    step_deadline_s: float
    note: Callable[[ModelCall], None]
    permit: Callable[[], None] = lambda: None
    calls: list[ModelCall] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    def ask(
        self,
        task: ModelTask[object],
        check: Callable[[Mapping[str, object]], Checked[T]],
        *,
        required_keys: Collection[str] = (),
    ) -> T:
        """Return the checked value of the reply to `task`.

        Raises ModelError (class truncated, `output_truncated`, for a reply that was cut off), or
        MalformedReply when the repair failed as well.
        """
        self.model = model_for(self.model, task.kind)
        if self.attempt * CALLS_AN_ATTEMPT > MAX_CALLS_A_PART:
            raise ModelError(
                FailureClass.PERMANENT,
                "call_limit",
                f"a job and part may make at most {MAX_CALLS_A_PART} calls",
            )
        reply = self._call(task)
        try:
            first = self._check(reply, check, required_keys)
        except MalformedReply as error:
            again = self._call(_repair(task, reply, error.problems))
            return self._check(again, check, required_keys).value
        if not first.problems:
            return first.value
        return self._better(task, reply, first, check, required_keys)

    def _better(
        self,
        task: ModelTask[object],
        reply: ModelReply,
        first: Checked[T],
        check: Callable[[Mapping[str, object]], Checked[T]],
        required_keys: Collection[str],
    ) -> T:
        """Repair a reply that holds in part; what holds already is never lost by trying."""
        try:
            again = self._call(_repair(task, reply, first.problems))
            second = self._check(again, check, required_keys)
        except (ModelError, UnreadableReply):
            return first.value
        ranks = [(one.score, -len(one.problems)) for one in (first, second)]
        return second.value if ranks[1] >= ranks[0] else first.value

    def _check(
        self,
        reply: ModelReply,
        check: Callable[[Mapping[str, object]], Checked[T]],
        required_keys: Collection[str],
    ) -> Checked[T]:
        try:
            checked = check(_read(reply, required_keys))
        except TruncatedReply as error:
            self._settle("truncated")
            raise ModelError(
                FailureClass.TRUNCATED, OUTPUT_TRUNCATED, error.detail, usage=reply.usage
            ) from error
        except MalformedReply:
            self._settle("malformed")
            raise
        self._settle("partial" if checked.problems else "accepted")
        return checked

    def _call(self, task: ModelTask[object]) -> ModelReply:
        left = self.step_deadline_s - (time.monotonic() - self._started)
        if left <= 0:
            raise ModelError(
                FailureClass.TRANSIENT, "step_deadline", "the attempt's time is used up"
            )
        self.permit()
        bounded = replace(task, deadline_s=min(task.deadline_s, self.model_deadline_s, left))
        began = time.monotonic()
        try:
            reply = self.model.complete(bounded)
        except ModelError as error:
            if error.is_sent:
                self._note(task, began, outcome=error.code, usage=error.usage)
            raise
        self._note(task, began, outcome="replied", usage=reply.usage, reply=reply)
        return reply

    def _note(
        self,
        task: ModelTask[object],
        began: float,
        *,
        outcome: str,
        usage: Usage,
        reply: ModelReply | None = None,
    ) -> None:
        call = ModelCall(
            call=len(self.calls) + 1,
            kind=task.kind.value,
            model=reply.model if reply else self.model.name,
            prompt_version=task.prompt.version,
            outcome=outcome,
            usage=usage,
            duration_ms=round((time.monotonic() - began) * 1000),
            reply=_as_text(reply.content) if reply else None,
        )
        self.calls.append(call)
        self.note(call)

    def _settle(self, outcome: str) -> None:
        self.calls[-1] = replace(self.calls[-1], outcome=outcome)


def _read(reply: ModelReply, required_keys: Collection[str]) -> Mapping[str, object]:
    if isinstance(reply.content, str):
        return read_object(
            reply.content, required_keys=required_keys, finish_reason=reply.finish_reason
        )
    return reply.content


def _repair(
    task: ModelTask[object], reply: ModelReply, problems: tuple[str, ...]
) -> ModelTask[object]:
    """Return the same task with what was wrong beside it: never the same request again."""
    shown = _as_text(reply.content)[:_SHOWN_REPLY].replace("</", "<\\/")
    listed = "\n".join(f"- {problem}" for problem in problems[:_SHOWN_PROBLEMS])
    user = (
        f"{task.prompt.user}\n\nYour previous reply cannot be used as it is:\n{listed}\n"
        f"<previous_reply>\n{shown}\n</previous_reply>\n"
        "Answer again with one complete JSON object of the required shape. Keep what was right, "
        "correct what was not, and leave out what the material does not support."
    )
    prompt = Prompt(task.prompt.version, task.prompt.system, user)
    return replace(task, prompt=prompt)


def _as_text(content: str | Mapping[str, object]) -> str:
    return content if isinstance(content, str) else compact_json(dict(content))
