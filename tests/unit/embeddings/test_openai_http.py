from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from shared.domain.jobs import FailureClass
from shared.embeddings.openai_http import OpenAIEmbedder
from shared.embeddings.port import EmbeddingError
from shared.settings import Settings
from tests.support.concept_embedder import concept_vector
from tests.support.embedding_server import DIMENSION, EmbeddingServer, Played, vectors_of

KEY = "sk-embedding-secret"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def embedder(server: EmbeddingServer, **options: Any) -> OpenAIEmbedder:
    given = {"dimension": DIMENSION, "api_key": SecretStr(KEY)} | options
    return OpenAIEmbedder(server.url, "tiny", **given)


def failing(server: EmbeddingServer, played: Played, *, timeout_s: float = 5) -> EmbeddingError:
    server.play = lambda _: played
    with pytest.raises(EmbeddingError) as raised:
        embedder(server).passages(["one"], timeout_s=timeout_s)
    return raised.value


def test_vectors_come_in_the_order_of_the_texts_whatever_the_reply_s_order(
    server: EmbeddingServer,
) -> None:
    texts = ["a dog", "a car", "the doctor"]
    found = embedder(server).passages(texts, timeout_s=5)
    assert found == [concept_vector(text, DIMENSION) for text in texts]
    assert server.requests == [{"model": "tiny", "input": texts, "encoding_format": "float"}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "headers", "body", "failure_class", "code", "wait_s"),
    [
        (401, {}, {"error": {"message": "bad key"}}, FailureClass.PERMANENT, "http_401", None),
        (404, {}, {}, FailureClass.PERMANENT, "http_404", None),
        (400, {}, {"error": {"message": "no"}}, FailureClass.REFUSED, "refused", None),
        (429, {"Retry-After": "7"}, {}, FailureClass.TRANSIENT, "http_429", 7.0),
        (429, {}, {"error": {"code": "insufficient_quota"}}, FailureClass.TRANSIENT, "quota", 900),
        (503, {}, {}, FailureClass.TRANSIENT, "http_503", None),
        (200, {}, {"error": {"message": "busy"}}, FailureClass.TRANSIENT, "http_502", None),
    ],
)
def test_a_refusal_says_whether_to_wait_to_try_again_or_to_give_up(
    server: EmbeddingServer,
    status: int,
    headers: dict[str, str],
    body: Any,
    failure_class: FailureClass,
    code: str,
    wait_s: float | None,
) -> None:
    error = failing(server, Played(body, status, headers))
    assert (error.failure_class, error.code) == (failure_class, code)
    assert error.retry_after_s == wait_s


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        {},
        {"data": []},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
        {"data": [{"index": 0, "embedding": [True] * DIMENSION}]},
        {"data": [{"index": 5, "embedding": [0.1] * DIMENSION}]},
    ],
)
def test_a_reply_that_holds_no_vector_a_text_is_malformed(
    server: EmbeddingServer, body: Any
) -> None:
    error = failing(server, Played(body))
    assert (error.failure_class, error.code) == (FailureClass.MALFORMED, "not_embeddings")


def test_vectors_of_another_length_are_refused_for_good(server: EmbeddingServer) -> None:
    error = failing(server, Played({"data": [{"index": 0, "embedding": [0.5] * 8}]}))
    assert (error.failure_class, error.code) == (FailureClass.PERMANENT, "dimension_mismatch")


@pytest.mark.parametrize("drips", [False, True])
def test_a_late_or_dripping_reply_ends_at_the_deadline(
    server: EmbeddingServer, drips: bool
) -> None:
    slow = Played({"data": []}, drips=True) if drips else Played({}, after_s=1.0)
    error = failing(server, slow, timeout_s=0.2)
    assert (error.failure_class, error.code) == (FailureClass.TRANSIENT, "deadline")


def test_an_endpoint_that_is_away_is_worth_another_attempt() -> None:
    gone = OpenAIEmbedder("http://127.0.0.1:9/v1", "tiny", dimension=DIMENSION)
    with pytest.raises(EmbeddingError) as raised:
        gone.query("a dog", timeout_s=2)
    assert (raised.value.failure_class, raised.value.code) == (
        FailureClass.TRANSIENT,
        "connection",
    )


def test_a_text_beyond_the_model_s_window_is_halved_until_it_fits(server: EmbeddingServer) -> None:
    def window(request: dict[str, Any]) -> Played:
        if len(request["input"][0]) > 600:
            return Played({"error": {"message": "maximum context length is 600"}}, 400)
        return vectors_of(request)

    server.play = window
    assert len(embedder(server).passages(["word " * 1_000], timeout_s=5)) == 1
    assert [len(one["input"][0]) for one in server.requests] == [2_000, 1_000, 500]


def test_odd_text_is_sent_as_text(server: EmbeddingServer) -> None:
    embedder(server).passages(["", " \n", "a\0b", "\ud800"], timeout_s=5)
    assert server.requests[0]["input"] == ["-", "-", "a b", "?"]


def test_neither_key_nor_address_nor_text_is_logged_or_told(
    server: EmbeddingServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="stratagate"):
        error = failing(server, Played({"error": {"message": f"wrong key {KEY}"}}, 401))
    told = f"{error} {error.detail} {embedder(server)!r} {caplog.text}"
    assert KEY not in told
    assert server.url not in told


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"embeddings_base_url": "http://h/v1", "embeddings_model": "m"},
        {"embeddings_base_url": "ftp://h", "embeddings_model": "m", "embeddings_dimension": 8},
        {
            "embeddings_base_url": "http://u:p@h/v1",
            "embeddings_model": "m",
            "embeddings_dimension": 8,
        },
        {
            "embeddings_base_url": "http://h/v1",
            "embeddings_model": "m",
            "embeddings_dimension": 8,
            "embeddings_api_key": SecretStr("schlüssel"),
        },
    ],
)
def test_settings_that_name_no_usable_endpoint_say_so(values: dict[str, Any]) -> None:
    settings = Settings(embeddings_provider="openai").model_copy(update=values)
    with pytest.raises(EmbeddingError) as raised:
        OpenAIEmbedder.from_settings(settings)
    assert raised.value.code == "not_configured"
    assert "schlüssel" not in raised.value.detail
