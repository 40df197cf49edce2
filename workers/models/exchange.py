"""One HTTP exchange with a model's endpoint, bounded in time and size; nothing of it is logged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
import orjson
from pydantic import SecretStr

from shared.domain.jobs import FailureClass
from workers.models.port import ModelError
from workers.models.total_deadline import Watchdog

_MAX_REPLY_BYTES: Final = 8_388_608
_CONNECT_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status, headers by lower-case name, and a JSON object, empty if none."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def post_json(
    url: str,
    request: Mapping[str, Any],
    watchdog: Watchdog,
    *,
    api_key: SecretStr | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Answer:
    """Post a JSON object and return the answer, of whatever status.

    Raises ModelError: `deadline` once the watchdog is over, `connection` for a cut or refused
    one, `reply_too_large` over 8 MiB, `not_json` for a 200 whose body is no JSON.
    """
    headers = {"content-type": "application/json", "accept": "application/json"}
    if api_key is not None:
        headers["authorization"] = f"Bearer {api_key.get_secret_value()}"
    timeout = httpx.Timeout(watchdog.seconds, connect=min(_CONNECT_S, watchdog.seconds))
    try:
        # A connection a call: cutting a shared one would hurt another call.
        with (
            httpx.Client(transport=transport, timeout=timeout, trust_env=False) as client,
            client.stream(
                "POST",
                url,
                content=orjson.dumps(request),
                headers=headers,
                extensions={"trace": watchdog.trace},
            ) as response,
        ):
            raw = _bounded(response, watchdog)
    except (httpx.HTTPError, OSError) as error:
        if watchdog.is_over or isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
            raise _over() from None
        # The error's own words may hold the address or a header, so only its kind is told.
        raise ModelError(FailureClass.TRANSIENT, "connection", type(error).__name__) from None
    return Answer(response.status_code, response.headers, _object(raw, response.status_code))


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
    except orjson.JSONDecodeError:
        if status != httpx.codes.OK:
            return {}
        raise ModelError(
            FailureClass.TRANSIENT, "not_json", "the endpoint's envelope is no JSON"
        ) from None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]  # some gateways wrap their errors so
    return value if isinstance(value, dict) else {}
