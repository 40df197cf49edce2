from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from retrieval.console.api_client import ApiClient, ApiPool, ApiProblem
from retrieval.console.signed_in import SignedIn

Answer = Callable[[httpx.Request], httpx.Response]


def _ask(answer: Answer, method: str, path: str, *, key: str = "sg_key", **more: Any) -> Any:
    async def run() -> Any:
        pool = ApiPool(ingest_url="http://in/", retrieval_url="http://out")
        await pool.http.aclose()
        pool.http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        client = ApiClient(pool, SignedIn(key, 0.0))
        try:
            return await getattr(client, method)(path, **more)
        finally:
            await pool.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/v1/retrieval/ns/events", "out"),
        ("/v1/batches/bat_1/use", "out"),
        ("/v1/tools/memory_assess", "out"),
        ("/v1/namespaces/ns", "in"),
        ("/health/ready", "in"),
    ],
)
def test_each_service_is_asked_for_what_it_serves(path: str, host: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=[request.url.host, request.headers["authorization"]])

    assert _ask(answer, "get", path) == [host, "Bearer sg_key"]


def test_empty_values_are_no_part_of_a_query_and_lists_are_repeated() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=request.url.query.decode())

    assert _ask(answer, "get", "/v1/jobs", state=["dead", "cancelled"], cursor=None, limit=2) == (
        "state=dead&state=cancelled&limit=2"
    )


def test_a_problem_is_told_in_sentences_with_its_fields() -> None:
    problem = {
        "title": "Unprocessable Content",
        "detail": "one field is wrong",
        "code": "invalid_input",
        "request_id": "req_1",
        "errors": [{"pointer": "/level", "code": "x", "message": "must be a level"}],
    }
    with pytest.raises(ApiProblem) as raised:
        _ask(lambda _: httpx.Response(422, json=problem), "post", "/v1/x")
    told = raised.value
    assert (told.message, told.code, told.request_id) == (
        "One field is wrong.",
        "invalid_input",
        "req_1",
    )
    assert [(one.pointer, one.message) for one in told.fields] == [("/level", "must be a level")]
    assert not told.is_signed_out


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b"null"])
def test_an_answer_that_is_no_problem_document_is_told_by_its_status(body: bytes) -> None:
    with pytest.raises(ApiProblem) as raised:
        _ask(lambda _: httpx.Response(502, content=body), "get", "/v1/x")
    assert raised.value.message == "The API answered 502."


def test_an_api_that_is_away_is_told_without_a_status() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(ApiProblem, match="gave no answer") as raised:
        _ask(answer, "get", "/v1/x")
    assert (raised.value.status, raised.value.code) == (0, "unreachable")


def test_who_signed_out_asks_nothing_more() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        pytest.fail("it was asked")

    with pytest.raises(ApiProblem) as raised:
        _ask(answer, "get", "/v1/x", key="")
    assert raised.value.is_signed_out


def test_a_key_is_in_no_representation() -> None:
    assert "sg_secret" not in repr(SignedIn("sg_secret_0123", 0.0))
    assert SignedIn("sg_secret_0123", 0.0).masked_key == "sg_…0123"
