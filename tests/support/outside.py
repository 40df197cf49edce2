"""A StrataGate that runs elsewhere, such as in containers: known by its addresses and a key.

Variables name it: STRATAGATE_TEST_API_URL (ingest), STRATAGATE_TEST_RETRIEVAL_URL (absent: the
same) and STRATAGATE_TEST_API_KEY (an admin key).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from tests.support.waiting import POLL_S, wait_until

API_VARIABLE = "STRATAGATE_TEST_API_URL"
RETRIEVAL_VARIABLE = "STRATAGATE_TEST_RETRIEVAL_URL"
KEY_VARIABLE = "STRATAGATE_TEST_API_KEY"
OF_RETRIEVAL = ("/v1/retrieval/", "/v1/batches/", "/v1/tools", "/mcp")
"""What a proxy in front of both services hands to retrieval; all else is ingest's."""

T = TypeVar("T")


class OutsideSystem:
    """What the acceptance tests need of a running system; a context manager."""

    def __init__(self, api_url: str, retrieval_url: str) -> None:
        self.url = api_url
        self._transport = _ByPath(api_url, retrieval_url)
        self._ended = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.close()

    def client(self, key: str, **more: Any) -> httpx.Client:
        """Return a client of both services with this key; it is closed with the system."""
        headers = {"Authorization": f"Bearer {key}"}
        client = httpx.Client(
            base_url=self.url, headers=headers, timeout=30, transport=self._transport, **more
        )
        return self._ended.enter_context(client)

    def wait_until(
        self, check: Callable[[], T], what: str, *, within_s: float = 30.0, poll_s: float = POLL_S
    ) -> T:
        """Wait as `wait_until` does; four times as long, as containers begin cold."""
        return wait_until(check, what, within_s=within_s * 4, poll_s=poll_s)


def outside_system() -> OutsideSystem | None:
    """Return the system that the environment names, or None."""
    api_url = os.environ.get(API_VARIABLE)
    if not api_url:
        return None
    return OutsideSystem(api_url, os.environ.get(RETRIEVAL_VARIABLE) or api_url)


class _ByPath(httpx.BaseTransport):
    """Sends each request to the service that has its path, as a proxy in front would."""

    def __init__(self, api_url: str, retrieval_url: str) -> None:
        self._to = (httpx.URL(api_url), httpx.URL(retrieval_url))
        self._transport = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        target = self._to[request.url.path.startswith(OF_RETRIEVAL)]
        request.url = request.url.copy_with(
            scheme=target.scheme, host=target.host, port=target.port
        )
        request.headers["Host"] = request.url.netloc.decode("ascii")
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()
