"""The API as the console sees it: asynchronous, with the key of one signed-in browser.

`get`, `post`, `patch` and `put` return the decoded JSON; a refusal is an ApiProblem whose `message`
can be shown as it is. `calls` counts the queries of this client, one client a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from retrieval.console.signed_in import SignedIn

_TIMEOUT_S = 30.0
_OF_RETRIEVAL = ("/v1/retrieval/", "/v1/batches/", "/v1/tools")
_UNAUTHORIZED = 401
Json = Any


@dataclass(frozen=True, slots=True)
class ProblemField:
    """One field that the API refused."""

    pointer: str
    message: str


class ApiProblem(Exception):
    """What the API refused, or that it could not be reached (`status` 0)."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        title: str = "",
        request_id: str = "",
        fields: tuple[ProblemField, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.title = title or "The request failed"
        self.request_id = request_id
        self.fields = fields

    @property
    def is_signed_out(self) -> bool:
        """Tell whether the key is no longer good."""
        return self.status == _UNAUTHORIZED


class ApiPool:
    """The connections of this process, shared by all signed-in browsers; they hold no key."""

    def __init__(self, *, ingest_url: str, retrieval_url: str) -> None:
        self._ingest_url = ingest_url.rstrip("/")
        self._retrieval_url = retrieval_url.rstrip("/")
        # No environment: a proxy named there would carry what people said to another machine.
        self.http = httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False)

    def url_of(self, path: str) -> str:
        """Return the address of a path, at the service that serves it."""
        is_read = path.startswith(_OF_RETRIEVAL)
        return (self._retrieval_url if is_read else self._ingest_url) + path

    async def close(self) -> None:
        """Close all connections."""
        await self.http.aclose()


class ApiClient:
    """The API with one browser's key; the key is read anew each time, so signing out ends it."""

    def __init__(self, pool: ApiPool, signed_in: SignedIn) -> None:
        self._pool = pool
        self._signed_in = signed_in
        self.calls = 0

    async def get(self, path: str, **query: Any) -> Json:
        """GET a path; values of None are left out of the query, lists are repeated."""
        return await self._ask("GET", path, query=query)

    async def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, idempotency_key: str = ""
    ) -> Json:
        """POST a JSON body; writes take an idempotency key so that a repeated click is harmless."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return await self._ask("POST", path, body=body or {}, headers=headers)

    async def patch(self, path: str, body: Mapping[str, Any]) -> Json:
        """PATCH with a JSON body."""
        return await self._ask("PATCH", path, body=body)

    async def put(self, path: str, body: Mapping[str, Any]) -> Json:
        """PUT a JSON body."""
        return await self._ask("PUT", path, body=body)

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        if not self._signed_in.key:
            raise ApiProblem("You signed out.", status=_UNAUTHORIZED, code="signed_out")
        self.calls += 1
        try:
            answer = await self._pool.http.request(
                method,
                self._pool.url_of(path),
                params={k: v for k, v in (query or {}).items() if v is not None},
                json=body,
                headers={"Authorization": f"Bearer {self._signed_in.key}", **(headers or {})},
            )
        except httpx.TransportError as error:
            raise _unreachable(self._pool.url_of(""), error) from error
        if answer.is_success:
            return answer.json() if answer.content else None
        raise _problem(answer)


def _unreachable(url: str, error: httpx.TransportError) -> ApiProblem:
    how = "took too long" if isinstance(error, httpx.TimeoutException) else "gave no answer"
    return ApiProblem(
        f"The API at {url} {how}. Memory is safe; this page can be tried again.",
        status=0,
        code="unreachable",
        title="The API cannot be reached",
    )


def _problem(answer: httpx.Response) -> ApiProblem:
    try:
        said = answer.json()
    except ValueError:
        said = {}
    if not isinstance(said, dict):
        said = {}
    fields = tuple(
        ProblemField(str(one.get("pointer", "")), str(one.get("message", "")))
        for one in said.get("errors", [])
    )
    detail = str(said.get("detail") or f"The API answered {answer.status_code}.")
    return ApiProblem(
        _sentence(detail),
        status=answer.status_code,
        code=str(said.get("code", "http_error")),
        title=str(said.get("title", "")),
        request_id=str(said.get("request_id", "")),
        fields=fields,
    )


def _sentence(text: str) -> str:
    text = text.strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
