"""Any endpoint that speaks OpenAI's chat completions, over httpx.

Asks for a JSON schema where the endpoint offers it, else for JSON, else plainly, and remembers
what worked. The whole call has one deadline, however slowly bytes drip. Nothing of a request or
reply is logged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from pydantic import SecretStr

from shared.clock import Clock, SystemClock
from shared.domain.jobs import FailureClass
from shared.settings import Settings
from workers.models.dialect import Dialect, request_of
from workers.models.endpoints import ENDPOINTS, Endpoint
from workers.models.envelope import is_error, reply_of
from workers.models.exchange import Answer, post_json
from workers.models.http_errors import complaint_of, error_of, is_limit
from workers.models.port import ModelError, ModelReply, ModelTask
from workers.models.total_deadline import Watchdog, total_deadline

_MAX_TRIES: Final = 8


@dataclass(frozen=True, slots=True)
class OpenAIModel:
    """A model behind `base_url` (which ends in /v1, by convention).

    The circuit opens for `breaker_pause_s` after `breaker_failures` failures in a row of any
    model there. `transport` replaces the network in tests.
    """

    base_url: str = field(repr=False)
    name: str
    api_key: SecretStr | None = None
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=SystemClock, repr=False)
    breaker_failures: int = 5
    breaker_pause_s: float = 30.0
    provider: str = "openai"

    @classmethod
    def from_settings(cls, settings: Settings, *, name: str) -> OpenAIModel:
        """Return the endpoint that the settings name.

        Raises ModelError (permanent, `model_not_configured`) when they name none or no usable
        one, without repeating the address or the key.
        """
        return cls(
            _checked_url(settings.model_base_url),
            name,
            _checked_key(settings.model_api_key),
            breaker_failures=settings.model_breaker_failures,
            breaker_pause_s=settings.model_breaker_pause_s,
        )

    def complete(self, task: ModelTask[object]) -> ModelReply:
        """Answer one task within its deadline. Raises ModelError."""
        endpoint = ENDPOINTS.of(
            self.base_url, self.name, limit=self.breaker_failures, pause_s=self.breaker_pause_s
        )
        endpoint.check()
        try:
            reply = self._converse(task, endpoint)
        except ModelError as error:
            _learn(endpoint, error)
            raise
        except BaseException:
            endpoint.breaker.released()
            raise
        endpoint.breaker.succeeded()
        return reply

    def _converse(self, task: ModelTask[object], endpoint: Endpoint) -> ModelReply:
        """Send the task, in simpler dialects while the endpoint refuses the request's form."""
        dialect = endpoint.dialect
        with total_deadline(task.deadline_s) as watchdog:
            for _ in range(_MAX_TRIES):
                request = request_of(task, self.name, dialect)
                answer = self._post(request, watchdog)
                if answer.status == httpx.codes.OK and not is_error(answer.body):
                    endpoint.dialect = dialect
                    sent = [message["content"] for message in request["messages"]]
                    return reply_of(answer.body, asked=self.name, sent=sent)
                error = error_of(answer.status, answer.headers, answer.body, now=self.clock.now())
                simpler = _simpler(dialect, answer, error)
                if simpler is None:
                    raise error
                dialect, is_certain = simpler
                if is_certain:
                    endpoint.dialect = dialect
        raise ModelError(FailureClass.PERMANENT, "no_dialect", "no form of request is understood")

    def _post(self, request: Mapping[str, Any], watchdog: Watchdog) -> Answer:
        return post_json(
            f"{self.base_url}/chat/completions",
            request,
            watchdog,
            api_key=self.api_key,
            transport=self.transport,
        )


def _simpler(dialect: Dialect, answer: Answer, error: ModelError) -> tuple[Dialect, bool] | None:
    if answer.status not in (400, 422) or error.failure_class is not FailureClass.PERMANENT:
        return None
    return dialect.without(complaint_of(answer.body))


def _learn(endpoint: Endpoint, error: ModelError) -> None:
    """Tell the provider's absence from its answers: a limit or a refusal is one."""
    is_away = error.failure_class is FailureClass.TRANSIENT and error.retry_after_s is None
    if is_away:
        endpoint.breaker.failed()
        return
    endpoint.breaker.succeeded()
    if is_limit(error) and error.retry_after_s is not None:
        endpoint.pause(error.code, error.retry_after_s)


def _checked_url(value: str | None) -> str:
    if not value:
        raise _not_configured("set STRATAGATE_MODEL_BASE_URL to an OpenAI-compatible endpoint")
    try:
        url = httpx.URL(value.strip())
    except httpx.InvalidURL:
        raise _not_configured("STRATAGATE_MODEL_BASE_URL is no address") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise _not_configured("STRATAGATE_MODEL_BASE_URL must begin with http:// or https://")
    if url.userinfo or url.query:
        raise _not_configured("put the secret of STRATAGATE_MODEL_BASE_URL into _MODEL_API_KEY")
    return str(url).rstrip("/")


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    text = key.get_secret_value().strip() if key else ""
    if not text:
        return None
    if not (text.isascii() and text.isprintable()):
        raise _not_configured("STRATAGATE_MODEL_API_KEY holds characters that no header may hold")
    return SecretStr(text)


def _not_configured(detail: str) -> ModelError:
    return ModelError(FailureClass.PERMANENT, "model_not_configured", detail)
