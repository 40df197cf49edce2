from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from shared.domain.jobs import FailureClass
from workers.models.endpoints import ENDPOINTS
from workers.models.openai_http import OpenAIModel
from workers.models.port import ModelError, ModelTask, Prompt, TaskKind, Usage
from workers.prompts.summarize import SummarizeReply

Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(autouse=True)
def _fresh_endpoints() -> None:
    ENDPOINTS.forget()


def _task(deadline_s: float = 5.0) -> ModelTask[object]:
    return ModelTask(
        kind=TaskKind.SUMMARIZE,
        input=None,
        prompt=Prompt("v1", "Reply with JSON.", "the words"),
        reply_type=SummarizeReply,
        max_output_tokens=321,
        deadline_s=deadline_s,
    )


def _ok(content: str = "{}", **extra: Any) -> httpx.Response:
    body = {
        "model": "served-model",
        "choices": [{"message": {"content": content}, "finish_reason": "stop", **extra}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }
    return httpx.Response(200, json=body)


def _model(handler: Handler, **extra: Any) -> OpenAIModel:
    transport = httpx.MockTransport(handler)
    return OpenAIModel("http://models.test/v1", "asked-model", transport=transport, **extra)


def _body(request: httpx.Request) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(request.content)
    return value


def test_a_task_is_asked_for_by_schema_and_its_usage_is_told() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return _ok('{"title": "x"}')

    reply = _model(handler, api_key=SecretStr("sk-secret")).complete(_task())
    assert (reply.content, reply.model, reply.usage) == (
        '{"title": "x"}',
        "served-model",
        Usage(11, 7),
    )
    body = _body(seen[0])
    assert (body["model"], body["max_tokens"]) == ("asked-model", 321)
    assert body["response_format"]["json_schema"]["schema"]["required"]
    assert seen[0].headers["authorization"] == "Bearer sk-secret"
    assert str(seen[0].url) == "http://models.test/v1/chat/completions"


def test_simpler_forms_are_tried_and_the_one_that_worked_is_remembered() -> None:
    forms: list[Any] = []

    def handler(request: httpx.Request) -> httpx.Response:
        body = _body(request)
        form = (body.get("response_format") or {}).get("type")
        forms.append(form)
        if form is not None:
            error = {"error": {"message": "response_format is not supported here"}}
            return httpx.Response(400, json=error)
        assert "JSON schema" in body["messages"][0]["content"]
        return _ok()

    model = _model(handler)
    model.complete(_task())
    model.complete(_task())
    assert forms == ["json_schema", "json_object", None, None]


def test_a_provider_that_refuses_lengths_gets_the_schema_without_them_from_then_on() -> None:
    bounded: list[bool] = []

    def handler(request: httpx.Request) -> httpx.Response:
        schema = _body(request)["response_format"]["json_schema"]["schema"]
        bounded.append("maxLength" in str(schema))
        if bounded[-1]:
            words = "Invalid schema for response_format: 'maxLength' is not permitted."
            return httpx.Response(400, json={"error": {"message": words}})
        return _ok()

    model = _model(handler)
    model.complete(_task())
    model.complete(_task())
    assert bounded == [True, False, False]


def test_parameters_that_an_endpoint_complains_about_are_left_out_or_renamed() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        body = _body(request)
        if "reasoning_effort" in body:
            return httpx.Response(400, json={"error": {"message": "reasoning_effort: unknown"}})
        if "max_tokens" in body:
            words = "Unsupported parameter: use 'max_completion_tokens' instead."
            return httpx.Response(400, json={"error": {"message": words}})
        assert body["max_completion_tokens"] == 321
        return _ok()

    assert _model(handler).complete(_task()).usage == Usage(11, 7)


@pytest.mark.parametrize(
    ("status", "body", "failure_class", "code"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, FailureClass.PERMANENT, "http_401"),
        (404, {"error": "no such model"}, FailureClass.PERMANENT, "http_404"),
        (500, {}, FailureClass.TRANSIENT, "http_500"),
        (503, {}, FailureClass.TRANSIENT, "http_503"),
        (
            400,
            {"error": {"code": "context_length_exceeded", "message": "too long"}},
            FailureClass.TRUNCATED,
            "input_too_long",
        ),
    ],
)
def test_statuses_have_their_failure_class(
    status: int, body: Any, failure_class: FailureClass, code: str
) -> None:
    model = _model(lambda _request: httpx.Response(status, json=body))
    with pytest.raises(ModelError) as raised:
        model.complete(_task())
    assert (raised.value.failure_class, raised.value.code) == (failure_class, code)


def test_an_error_that_comes_wrapped_in_a_list_is_read_all_the_same() -> None:
    body = [{"error": {"code": "context_length_exceeded", "message": "too long"}}]
    model = _model(lambda _request: httpx.Response(400, json=body))
    with pytest.raises(ModelError) as raised:
        model.complete(_task())
    assert raised.value.code == "input_too_long"


def test_a_rate_limit_waits_as_its_header_asks_and_a_quota_longer() -> None:
    limited = _model(lambda _r: httpx.Response(429, headers={"retry-after": "7"}, json={}))
    with pytest.raises(ModelError) as raised:
        limited.complete(_task())
    assert (raised.value.code, raised.value.retry_after_s) == ("http_429", 7.0)
    ENDPOINTS.forget()
    spent = _model(lambda _r: httpx.Response(429, json={"error": {"code": "insufficient_quota"}}))
    with pytest.raises(ModelError) as raised:
        spent.complete(_task())
    assert raised.value.code == "quota"
    assert raised.value.retry_after_s == 900.0


def test_a_refusal_is_told_apart_and_still_costs() -> None:
    body = {
        "choices": [{"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    }
    with pytest.raises(ModelError) as raised:
        _model(lambda _r: httpx.Response(200, json=body)).complete(_task())
    assert (raised.value.failure_class, raised.value.usage) == (FailureClass.REFUSED, Usage(5, 1))


def test_no_error_tells_the_key_or_what_the_provider_echoed() -> None:
    words = "Incorrect API key provided: sk-secret; you said: the words"
    model = _model(
        lambda _r: httpx.Response(401, json={"error": {"message": words, "type": "auth"}}),
        api_key=SecretStr("sk-secret"),
    )
    with pytest.raises(ModelError) as raised:
        model.complete(_task())
    assert raised.value.detail == "HTTP 401 auth"
    assert "sk-secret" not in repr(model)


def test_an_outage_opens_the_circuit_after_five_failures() -> None:
    calls: list[int] = []

    def away(_request: httpx.Request) -> httpx.Response:
        calls.append(1)
        raise httpx.ConnectError("refused")

    model = _model(away)
    codes = []
    for _ in range(7):
        with pytest.raises(ModelError) as raised:
            model.complete(_task())
        codes.append(raised.value.code)
    assert codes == ["connection"] * 5 + ["breaker_open"] * 2
    assert len(calls) == 5


@contextmanager
def _dripping(first: bytes) -> Iterator[tuple[str, threading.Event]]:
    """Serve one connection that answers with a byte now and then, until it is cut."""
    server = socket.create_server(("127.0.0.1", 0))
    is_cut = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            try:
                connection.sendall(first)
                for _ in range(200):
                    connection.sendall(b" ")
                    time.sleep(0.03)
            except OSError:
                is_cut.set()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", is_cut
    finally:
        server.close()
        thread.join(10)


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nx-slow:",
    ],
    ids=["body", "headers"],
)
def test_a_slow_drip_is_cut_at_the_deadline(first: bytes) -> None:
    with _dripping(first) as (url, is_cut):
        began = time.monotonic()
        with pytest.raises(ModelError) as raised:
            OpenAIModel(url, "m").complete(_task(deadline_s=0.4))
        assert time.monotonic() - began < 2.0
        assert raised.value.code == "deadline"
        assert is_cut.wait(5)
