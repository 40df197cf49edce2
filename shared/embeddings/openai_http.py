"""Any endpoint that speaks OpenAI's embeddings, over httpx.

One request has one deadline; the reply is data from outside and checked. Nothing of a request or
reply is logged, and errors repeat neither the address nor the key.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

import httpx
import orjson
from pydantic import SecretStr

from shared.domain.jobs import FailureClass
from shared.embeddings.http_errors import INPUT_TOO_LONG, error_of
from shared.embeddings.port import LONGEST_TEXT, EmbeddingError, Vector, unusable
from shared.settings import Settings

_CONNECT_S: Final = 5.0
_MAX_REPLY_BYTES: Final = 67_108_864
_SHORTEST_TEXT: Final = 200
_REPLY: Final = FailureClass.MALFORMED


class OpenAIEmbedder:
    """A model behind `base_url`. `transport` replaces the network in tests."""

    def __init__(
        self,
        base_url: str,
        name: str,
        *,
        dimension: int,
        api_key: SecretStr | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._name = name
        self._dimension = dimension
        headers = {"content-type": "application/json", "accept": "application/json"}
        if api_key is not None:
            headers["authorization"] = f"Bearer {api_key.get_secret_value()}"
        self._client = httpx.Client(headers=headers, transport=transport, trust_env=False)

    @classmethod
    def from_settings(cls, settings: Settings) -> OpenAIEmbedder:
        """Return the endpoint that the settings name.

        Raises EmbeddingError (permanent, `not_configured`) when they name none or no usable one.
        """
        if not settings.embeddings_model or settings.embeddings_dimension is None:
            raise _not_configured("set STRATAGATE_EMBEDDINGS_MODEL and …_EMBEDDINGS_DIMENSION")
        return cls(
            _checked_url(settings.embeddings_base_url),
            settings.embeddings_model,
            dimension=settings.embeddings_dimension,
            api_key=_checked_key(settings.embeddings_api_key),
        )

    @property
    def model(self) -> str:
        """The name that is stored with each vector."""
        return f"openai:{self._name}"

    @property
    def dimension(self) -> int:
        """The length of each vector, as the settings say; replies of another one are refused."""
        return self._dimension

    def load(self) -> None:
        """Do nothing: the first request tells."""

    def passages(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Return the vectors of texts; where the model's window is short, texts are halved."""
        until = time.monotonic() + timeout_s
        longest = LONGEST_TEXT
        while True:
            cut = [_clean(text)[:longest] for text in texts]
            try:
                return self._asked(cut, until)
            except EmbeddingError as error:
                if error.code != INPUT_TOO_LONG or longest // 2 < _SHORTEST_TEXT:
                    raise
                longest //= 2

    def query(self, text: str, *, timeout_s: float) -> Vector:
        """Return the vector of what is looked for."""
        return self.passages([text], timeout_s=timeout_s)[0]

    def _asked(self, texts: Sequence[str], until: float) -> list[Vector]:
        request = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        left_s = until - time.monotonic()
        if left_s <= 0:
            raise _over()
        timeout = httpx.Timeout(left_s, connect=min(_CONNECT_S, left_s))
        try:
            with self._client.stream(
                "POST", self._url, content=orjson.dumps(request), timeout=timeout
            ) as response:
                raw = _bounded(response, until)
        except httpx.TimeoutException:
            raise _over() from None
        except (httpx.HTTPError, OSError) as error:
            # The error's own words may hold the address or a header, so only its kind is told.
            raise EmbeddingError(
                FailureClass.TRANSIENT, "connection", type(error).__name__
            ) from None
        body = _object(raw)
        if response.status_code != httpx.codes.OK or "error" in body:
            raise error_of(response.status_code, response.headers, body)
        return _vectors(body, count=len(texts), dimension=self._dimension)


def _clean(text: str) -> str:
    # An empty input is refused by most endpoints; a lone surrogate is no UTF-8.
    return text.encode("utf-8", "replace").decode().replace("\0", " ").strip() or "-"


def _bounded(response: httpx.Response, until: float) -> bytes:
    """Read a reply; a drip that keeps the connection alive ends at the deadline too."""
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_bytes():
        size += len(chunk)
        if size > _MAX_REPLY_BYTES:
            raise EmbeddingError(FailureClass.PERMANENT, "reply_too_large", f"over {size} bytes")
        if time.monotonic() > until:
            raise _over()
        chunks.append(chunk)
    return b"".join(chunks)


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _vectors(body: Mapping[str, Any], *, count: int, dimension: int) -> list[Vector]:
    data = body.get("data")
    if not isinstance(data, list) or len(data) != count:
        raise EmbeddingError(_REPLY, "not_embeddings", "the reply does not hold one vector a text")
    placed: dict[int, Vector] = {}
    for place, item in enumerate(data):
        entry = item if isinstance(item, dict) else {}
        index, vector = entry.get("index", place), entry.get("embedding")
        if not isinstance(index, int) or not _is_vector(vector):
            raise EmbeddingError(_REPLY, "not_embeddings", "a vector of the reply is none")
        if len(vector) != dimension:
            raise EmbeddingError(
                FailureClass.PERMANENT,
                "dimension_mismatch",
                f"the endpoint gives {len(vector)} numbers, the settings say {dimension}",
            )
        placed[index] = vector
    if set(placed) != set(range(count)):
        raise EmbeddingError(_REPLY, "not_embeddings", "the reply's places are not the texts'")
    return [placed[index] for index in range(count)]


def _is_vector(value: Any) -> TypeGuard[list[float]]:
    return isinstance(value, list) and all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in value
    )


def _over() -> EmbeddingError:
    return EmbeddingError(FailureClass.TRANSIENT, "deadline", "no whole reply before the deadline")


def _checked_url(value: str | None) -> str:
    if not value:
        raise _not_configured("set STRATAGATE_EMBEDDINGS_BASE_URL to an OpenAI-compatible endpoint")
    try:
        url = httpx.URL(value.strip())
    except httpx.InvalidURL:
        raise _not_configured("STRATAGATE_EMBEDDINGS_BASE_URL is no address") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise _not_configured("STRATAGATE_EMBEDDINGS_BASE_URL must begin with http:// or https://")
    if url.userinfo or url.query:
        raise _not_configured("put the secret of the address into STRATAGATE_EMBEDDINGS_API_KEY")
    return str(url)


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    text = key.get_secret_value().strip() if key else ""
    if not text:
        return None
    if not (text.isascii() and text.isprintable()):
        raise _not_configured("STRATAGATE_EMBEDDINGS_API_KEY holds what no header may hold")
    return SecretStr(text)


def _not_configured(detail: str) -> EmbeddingError:
    return unusable("not_configured", detail)
