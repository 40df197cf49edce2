"""The model port: one task in, one reply out, and one kind of error (§6 of the design).

Adapters implement `Model`; a reply is data from outside and means nothing until it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from shared.domain.jobs import FailureClass

InputT_co = TypeVar("InputT_co", covariant=True)


class TaskKind(StrEnum):
    """What a model is asked to do."""

    SUMMARIZE = "summarize"
    EXTRACT = "extract"
    PROJECT = "project"
    IMPORT_DECIDE = "import_decide"
    IMPORT_RECOVER = "import_recover"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The rendered words for a language model; `version` changes whenever they do."""

    version: str
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class ReplyRoom:
    """What one reply may name and how much it may hold, by the kinds that its type marks.

    `names` are the legal values of a kind of reference; `most` the greatest length of a list,
    `least` the smallest.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    least: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelTask(Generic[InputT_co]):
    """One call of a model.

    `input` is the typed material (workers.models.inputs) for adapters that need no words;
    `prompt` is the same as words. `reply_type` and `room` give the JSON schema of the reply.
    `deadline_s` bounds the whole call, from the request to the last byte.
    """

    kind: TaskKind
    input: InputT_co
    prompt: Prompt
    reply_type: type[BaseModel]
    max_output_tokens: int
    deadline_s: float
    room: ReplyRoom = field(default_factory=ReplyRoom)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call cost, as the provider counts them; estimated where it does not."""

    input_tokens: int = 0
    output_tokens: int = 0
    is_estimated: bool = False


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back: text to be read tolerantly, or an object that was read already.

    `finish_reason` is the provider's word for why the model stopped (`length` when cut off).
    """

    content: str | Mapping[str, object]
    model: str
    usage: Usage = Usage()
    finish_reason: str | None = None


class ModelError(Exception):
    """A call that gave no reply.

    `failure_class` decides what the next attempt does; `code` is stable; `detail` holds no
    secret and no user text. With `retry_after_s` the job waits that long and keeps its attempt.
    Where `is_sent` is false no request was made, so there is no call to count.
    """

    def __init__(
        self,
        failure_class: FailureClass,
        code: str,
        detail: str,
        *,
        retry_after_s: float | None = None,
        usage: Usage | None = None,
        is_sent: bool = True,
    ) -> None:
        super().__init__(detail)
        self.failure_class = failure_class
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.usage = usage or Usage()
        self.is_sent = is_sent


class Model(Protocol):
    """A model behind the port."""

    @property
    def provider(self) -> str:
        """Name of the adapter, as the policy spells it: rules, openai, scripted."""
        ...

    @property
    def name(self) -> str:
        """Name of the model that is asked for."""
        ...

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task. Raises ModelError."""
        ...
