"""One call of a chat model: what is asked for, what comes back, and the key under which it is kept.

Everything that can change the answer is part of a request, so equal requests may share a reply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import orjson


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request of one system and one user message.

    `schema` is the JSON schema of the reply, None for plain words. `temperature` is 0 or above;
    with a `seed` an endpoint that honours it answers the same again.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float
    seed: int
    schema: Mapping[str, Any] | None = None
    name: str = "reply"

    def key(self, model: str) -> str:
        """Return the hash of this request to a model, as hexadecimal digits."""
        whole = orjson.dumps([model, asdict(self)], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(whole).hexdigest()


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model said: its text, tokens as the provider counts them, and seconds it took.

    `is_cut` tells that the output cap ended it. `error` is the stable code of a call that gave
    no reply; then the text is empty.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    is_cut: bool = False
    error: str | None = None


class ChatModel(Protocol):
    """A chat model. An implementation may keep replies and give them again."""

    @property
    def name(self) -> str:
        """Name of the model that is asked for."""
        ...

    def ask(self, request: ChatRequest) -> ChatReply:
        """Answer one request; a call that failed for good comes back with its `error`."""
        ...
