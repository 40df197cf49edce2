"""Any endpoint that speaks OpenAI's chat completions, over httpx.

Asks for a JSON schema where the endpoint offers it, else for JSON, else plainly, and remembers
what worked. The whole call has one deadline, however slowly bytes drip. Nothing of a request or
reply is logged.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, cast

import httpx
import orjson
from pydantic import SecretStr

from shared.domain.jobs import FailureClass
from shared.settings import Settings
from workers.models.breaker import Breaker
from workers.models.http_errors import complaint_of, error_of
from workers.models.port import ModelError, ModelReply, ModelTask, Usage
from workers.models.total_deadline import Watchdog, total_deadline

_MAX_REPLY_BYTES: Final = 8_388_608
_MAX_TRIES: Final = 6

Format = Literal["json_schema", "json_object", "plain"]
_SIMPLER: Final[Mapping[Format, Format]] = {"json_schema": "json_object", "json_object": "plain"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an endpoint understands; begins with everything and loses what it complains about."""

    reply_format: Format = "json_schema"
    cap_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    is_quiet: bool = True
    """Whether it can be told not to reason at length before it answers."""

    def without(self, complaint: str) -> Dialect | None:
        """Return the next simpler dialect after a 400 with these words; None at the end."""
        if self.is_quiet and "reasoning" in complaint:
            return replace(self, is_quiet=False)
        if self.cap_field == "max_tokens" and "max_completion_tokens" in complaint:
            return replace(self, cap_field="max_completion_tokens")
        if self.is_quiet and "response_format" not in complaint and "schema" not in complaint:
            return replace(self, is_quiet=False)
        simpler = _SIMPLER.get(self.reply_format)
        return replace(self, reply_format=simpler) if simpler else None


@dataclass(slots=True)
class _Endpoint:
    """What this process has learnt about one base URL and model."""

    dialect: Dialect = field(default_factory=Dialect)
    breaker: Breaker = field(default_factory=Breaker)


_ENDPOINTS: dict[tuple[str, str], _Endpoint] = {}
_ENDPOINTS_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class OpenAIModel:
    """A model behind `base_url` (which ends in /v1, by convention).

    `transport` replaces the network in tests.
    """

    base_url: str
    name: str
    api_key: SecretStr | None = None
    transport: httpx.BaseTransport | None = None
    provider: str = "openai"

    @classmethod
    def from_settings(cls, settings: Settings, *, name: str) -> OpenAIModel:
        """Return the endpoint that the settings name. Raises ModelError when they name none."""
        if not settings.model_base_url:
            raise ModelError(
                FailureClass.PERMANENT,
                "model_not_configured",
                "set STRATAGATE_MODEL_BASE_URL to an OpenAI-compatible endpoint",
            )
        return cls(settings.model_base_url.rstrip("/"), name, settings.model_api_key)

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task within its deadline. Raises ModelError."""
        endpoint = self._endpoint()
        endpoint.breaker.check()
        try:
            reply = self._converse(task, endpoint)
        except ModelError as error:
            # A limit is the provider's answer, not its absence.
            if error.failure_class is FailureClass.TRANSIENT and error.retry_after_s is None:
                endpoint.breaker.failed()
            raise
        endpoint.breaker.succeeded()
        return reply

    def _converse(self, task: ModelTask[object], endpoint: _Endpoint) -> ModelReply:
        """Send the task, in simpler dialects while the endpoint refuses the request's form."""
        dialect = endpoint.dialect
        with total_deadline(task.deadline_s) as watchdog:
            for _ in range(_MAX_TRIES):
                status, headers, body = self._post(_request(task, self.name, dialect), watchdog)
                if status == httpx.codes.OK:
                    endpoint.dialect = dialect
                    return _reply(body, self.name)
                error = error_of(status, headers, body)
                simpler = dialect.without(complaint_of(body)) if status in (400, 422) else None
                if error.failure_class is not FailureClass.PERMANENT or simpler is None:
                    raise error
                dialect = simpler
        raise ModelError(FailureClass.PERMANENT, "no_dialect", "no form of request is understood")

    def _post(
        self, request: Mapping[str, Any], watchdog: Watchdog
    ) -> tuple[int, Mapping[str, str], Mapping[str, Any]]:
        headers = {"content-type": "application/json"}
        if self.api_key is not None:
            headers["authorization"] = f"Bearer {self.api_key.get_secret_value()}"
        timeout = httpx.Timeout(watchdog.seconds, connect=min(10.0, watchdog.seconds))
        try:
            # A connection a call: cutting a shared one would hurt another call.
            with (
                httpx.Client(transport=self.transport, timeout=timeout, trust_env=False) as client,
                client.stream(
                    "POST",
                    f"{self.base_url}/chat/completions",
                    content=orjson.dumps(request),
                    headers=headers,
                    extensions={"trace": watchdog.trace},
                ) as response,
            ):
                raw = _bounded(response, watchdog)
        except (httpx.HTTPError, OSError) as error:
            if watchdog.is_over:
                raise _over() from error
            raise ModelError(FailureClass.TRANSIENT, "connection", type(error).__name__) from error
        return response.status_code, response.headers, _object(raw, response.status_code)

    def _endpoint(self) -> _Endpoint:
        with _ENDPOINTS_LOCK:
            return _ENDPOINTS.setdefault((self.base_url, self.name), _Endpoint())


def _bounded(response: httpx.Response, watchdog: Watchdog) -> bytes:
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_bytes():
        if watchdog.is_over:
            raise _over()
        size += len(chunk)
        if size > _MAX_REPLY_BYTES:
            raise ModelError(FailureClass.TRANSIENT, "reply_too_large", f"over {size} bytes")
        chunks.append(chunk)
    if watchdog.is_over:
        raise _over()
    return b"".join(chunks)


def _over() -> ModelError:
    return ModelError(FailureClass.TRANSIENT, "deadline", "no whole reply before the deadline")


def _object(raw: bytes, status: int) -> Mapping[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if status != httpx.codes.OK:
            return {}
        raise ModelError(
            FailureClass.TRANSIENT, "not_json", "the endpoint's envelope is no JSON"
        ) from error
    return value if isinstance(value, dict) else {}


def _request(task: ModelTask[object], model: str, dialect: Dialect) -> dict[str, Any]:
    schema = task.reply_type.model_json_schema(by_alias=True)
    system = task.prompt.system
    if dialect.reply_format != "json_schema":
        system += (
            "\nThe JSON object must follow this JSON schema:\n" + orjson.dumps(schema).decode()
        )
    request: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": task.prompt.user},
        ],
        dialect.cap_field: task.max_output_tokens,
    }
    if dialect.is_quiet:
        request["reasoning_effort"] = "none"
    if dialect.reply_format == "json_schema":
        named = {"name": task.kind.value, "strict": True, "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": named}
    elif dialect.reply_format == "json_object":
        request["response_format"] = {"type": "json_object"}
    return request


def _reply(body: Mapping[str, Any], asked: str) -> ModelReply:
    usage = _usage(body.get("usage"))
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else {}
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ModelError(
            FailureClass.TRANSIENT, "no_choice", "the reply has no choice", usage=usage
        )
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish == "content_filter":
        raise ModelError(
            FailureClass.REFUSED, "refused", "the model refused the material", usage=usage
        )
    text = message.get("content") or message.get("reasoning_content") or ""
    return ModelReply(
        content=text if isinstance(text, str) else _joined(text),
        model=str(body.get("model") or asked),
        usage=usage,
        finish_reason=finish if isinstance(finish, str) else None,
    )


def _joined(parts: object) -> str:
    """Join content that came as a list of typed parts."""
    texts = [part.get("text", "") for part in cast("list[Any]", parts) if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(value: object) -> Usage:
    counts = value if isinstance(value, dict) else {}
    spent = [counts.get(key) for key in ("prompt_tokens", "completion_tokens")]
    told = [int(count) if isinstance(count, int | float) and count > 0 else 0 for count in spent]
    return Usage(*told)
