"""A chat model behind an OpenAI-compatible endpoint, asked again where waiting helps.

The exchange, the dialects and the reading of errors are those of the product's own model port.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import orjson
from pydantic import SecretStr

from shared.clock import Clock, SystemClock
from shared.domain.jobs import FailureClass
from shared.errors import InvalidInput
from workers.evaluation.answering.chat import ChatReply, ChatRequest
from workers.models.dialect import Dialect
from workers.models.envelope import is_error, reply_of
from workers.models.exchange import post_json
from workers.models.http_errors import complaint_of, error_of
from workers.models.port import ModelError, ModelReply
from workers.models.total_deadline import total_deadline

_MAX_FORMS: Final = 7
_MAX_TRIES: Final = 5
_FIRST_PAUSE_S: Final = 1.0
_CUT_WORDS: Final = frozenset({"length", "max_tokens", "max_output_tokens"})


@dataclass(slots=True)
class EndpointModel:
    """A model at a base URL that ends in /v1.

    A call has `deadline_s` in total; a limit or a passing failure is waited for, `max_wait_s` at
    most each time, and tried `_MAX_TRIES` times. `pause` waits, replaced in tests.
    """

    base_url: str
    name: str
    api_key: SecretStr | None = None
    deadline_s: float = 600.0
    max_wait_s: float = 120.0
    pause: Callable[[float], None] = time.sleep
    clock: Clock = field(default_factory=SystemClock)
    # Made once: a context costs more than a call to a server on this machine.
    _tls: ssl.SSLContext = field(default_factory=httpx.create_ssl_context, repr=False)
    _dialect: Dialect = field(default_factory=Dialect)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def named(cls, endpoint: str, api_key: SecretStr | None, **extra: Any) -> EndpointModel:
        """Return the model that `model-name@https://host/v1` names; else InvalidInput."""
        name, _, address = endpoint.strip().partition("@")
        url = httpx.URL(address) if address.isascii() else httpx.URL("")
        if not name or url.scheme not in ("http", "https") or not url.host or url.userinfo:
            raise InvalidInput(
                "the endpoint of an evaluation is written model-name@https://host/v1: set "
                "STRATAGATE_EVAL_ENDPOINT, and the key in STRATAGATE_EVAL_KEY",
                code="bad_endpoint",
            )
        return cls(str(url).rstrip("/"), name, api_key, **extra)

    def ask(self, request: ChatRequest) -> ChatReply:
        """Answer one request; seconds are those of the call that answered, without waits."""
        wait = _FIRST_PAUSE_S
        for attempt in range(1, _MAX_TRIES + 1):
            began = time.perf_counter()
            try:
                reply = self._converse(request)
            except ModelError as error:
                if attempt == _MAX_TRIES or error.failure_class is not FailureClass.TRANSIENT:
                    return _failed(error, time.perf_counter() - began)
                self.pause(min(self.max_wait_s, error.retry_after_s or wait))
                wait *= 2
                continue
            return _answered(reply, time.perf_counter() - began)
        raise AssertionError("the last try returns")

    def _converse(self, request: ChatRequest) -> ModelReply:
        """Send a request, in simpler forms while the endpoint refuses this one's."""
        with self._lock:
            dialect = self._dialect
        with total_deadline(self.deadline_s) as watchdog:
            for _ in range(_MAX_FORMS):
                answer = post_json(
                    f"{self.base_url}/chat/completions",
                    _body(request, self.name, dialect),
                    watchdog,
                    api_key=self.api_key,
                    transport=httpx.HTTPTransport(verify=self._tls),
                )
                if answer.status == httpx.codes.OK and not is_error(answer.body):
                    with self._lock:
                        self._dialect = dialect
                    return reply_of(answer.body, asked=self.name)
                error = error_of(answer.status, answer.headers, answer.body, now=self.clock.now())
                if answer.status not in (400, 422) or (
                    error.failure_class is not FailureClass.PERMANENT
                ):
                    raise error
                simpler = dialect.without(complaint_of(answer.body))
                if simpler is None:
                    raise error
                dialect = simpler[0]
        raise ModelError(FailureClass.PERMANENT, "no_dialect", "no form of request is understood")


def _body(request: ChatRequest, model: str, dialect: Dialect) -> dict[str, Any]:
    system = request.system
    if request.schema is not None and dialect.reply_format != "json_schema":
        words = orjson.dumps(request.schema).decode()
        system += f"\nReply with one JSON object that follows this JSON schema:\n{words}"
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": request.user},
        ],
        dialect.cap_field: request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
    }
    if dialect.effort is not None:
        body["reasoning_effort"] = dialect.effort
    if dialect.has_template_switch:
        body["chat_template_kwargs"] = {"enable_thinking": False}
    if request.schema is not None and dialect.reply_format == "json_schema":
        named = {"name": request.name, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.schema is not None and dialect.reply_format == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def _answered(reply: ModelReply, seconds: float) -> ChatReply:
    text = reply.content if isinstance(reply.content, str) else orjson.dumps(reply.content).decode()
    return ChatReply(
        text,
        reply.usage.input_tokens,
        reply.usage.output_tokens,
        seconds,
        is_cut=reply.finish_reason in _CUT_WORDS,
    )


def _failed(error: ModelError, seconds: float) -> ChatReply:
    usage = error.usage
    return ChatReply("", usage.input_tokens, usage.output_tokens, seconds, error=error.code)
